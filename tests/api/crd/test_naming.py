"""Which names a definition gets, and the conditions that say so."""

from __future__ import annotations

from engine.api.crd.naming import Taken, established, find_condition, named
from engine.api.types import Object
from tests.api.crd.samples import definition

NOW = "2026-01-01T00:00:00Z"


def _after(made: Object, *others: Object) -> Object:
    status = named(made, Taken([made, *others]), now=NOW)
    assert status is not None
    return {**made, "status": status}


def _condition(made: Object, kind: str) -> tuple[str, str, str]:
    found = find_condition(made, kind)
    assert found is not None
    return found["status"], found["reason"], found["message"]


def test_free_names_are_accepted_and_then_established() -> None:
    made = _after(definition())
    assert made["status"]["acceptedNames"] == made["spec"]["names"]
    assert _condition(made, "NamesAccepted") == ("True", "NoConflicts", "no conflicts found")
    assert _condition(made, "Established") == ("False", "Installing", "the initial names have been accepted")
    made["status"] = established(made, now=NOW)
    assert _condition(made, "Established") == ("True", "InitialNamesAccepted", "the initial names have been accepted")
    assert named(made, Taken([made]), now=NOW) is None
    assert established(made, now=NOW) is None


def test_a_name_that_another_has_is_refused_and_the_others_are_kept() -> None:
    first = _after(definition())
    second = definition()
    second["metadata"]["name"] = "others.stable.example.com"
    second["spec"]["names"] = {"plural": "others", "singular": "other", "kind": "CronTab", "listKind": "OtherList"}
    second = _after(second, first)
    assert _condition(second, "NamesAccepted") == ("False", "KindConflict", '"CronTab" is already in use')
    assert _condition(second, "Established") == ("False", "NotAccepted", "not all names are accepted")
    assert second["status"]["acceptedNames"] == {"plural": "others", "singular": "other", "listKind": "OtherList"}


def test_short_names_are_taken_or_refused_together() -> None:
    first = definition()
    first["spec"]["names"]["shortNames"] = ["ct"]
    first = _after(first)
    second = definition()
    second["metadata"]["name"] = "others.stable.example.com"
    names = {
        "plural": "others",
        "singular": "other",
        "kind": "Other",
        "listKind": "OtherList",
        "shortNames": ["o", "ct"],
    }
    second["spec"]["names"] = names
    second = _after(second, first)
    assert _condition(second, "NamesAccepted") == ("False", "ShortNamesConflict", '"ct" is already in use')
    assert "shortNames" not in second["status"]["acceptedNames"]


def test_a_freed_name_can_be_had() -> None:
    first = _after(definition())
    second = definition()
    second["metadata"]["name"] = "others.stable.example.com"
    second["spec"]["names"] = {"plural": "others", "singular": "other", "kind": "CronTab", "listKind": "OtherList"}
    second = _after(second, first)
    second = _after(second)
    assert _condition(second, "NamesAccepted")[0] == "True"
    assert second["status"]["acceptedNames"]["kind"] == "CronTab"
