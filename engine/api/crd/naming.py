"""The names of a CustomResourceDefinition: which it may have beside those of its group, and its conditions.

Source of the behaviour: apiextensions-apiserver pkg/controller/status (naming_controller.go), pkg/controller/
establish and pkg/apihelpers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from engine.api.types import Object
from engine.api.validation.webhook_client import wrong_ca_bundle


def condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


_NO_CONDITION = condition("", "", "", "")


def find_condition(definition: Object, kind: str) -> Object | None:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), None)


def is_true(definition: Object, kind: str) -> bool:
    found = find_condition(definition, kind)
    return found is not None and found.get("status") == "True"


def with_condition(status: Object, wanted: Object, *, now: str) -> Object:
    """The status with a condition set; its transition time changes with its status alone."""
    conditions = list(status.get("conditions") or ())
    for index, before in enumerate(conditions):
        if before.get("type") == wanted["type"]:
            time = now if before.get("status") != wanted["status"] else before.get("lastTransitionTime", now)
            conditions[index] = {**_ordered(wanted, time)}
            return {**status, "conditions": conditions}
    return {**status, "conditions": [*conditions, _ordered(wanted, now)]}


def _ordered(wanted: Object, time: str) -> Object:
    return {
        "lastTransitionTime": time,
        "message": wanted["message"],
        "reason": wanted["reason"],
        "status": wanted["status"],
        "type": wanted["type"],
    }


class Taken:
    """The names that the definitions of a group have been given."""

    def __init__(self, definitions: Iterable[Object]) -> None:
        self.resources: dict[str, None] = {}
        self.kinds: dict[str, None] = {}
        for definition in definitions:
            names = (definition.get("status") or {}).get("acceptedNames") or {}
            for name in (names.get("plural"), names.get("singular"), *names.get("shortNames", ())):
                self.resources[name or ""] = None
            for kind in (names.get("kind"), names.get("listKind")):
                self.kinds[kind or ""] = None


_SINGLE = (
    ("plural", "PluralConflict", "resources"),
    ("singular", "SingularConflict", "resources"),
    ("kind", "KindConflict", "kinds"),
    ("listKind", "ListKindConflict", "kinds"),
)


def named(definition: Object, taken: Taken, *, now: str) -> Object | None:
    """The status with names accepted as far as they are free, and NamesAccepted; None where nothing changes.

    `taken` holds the names of all definitions of the group, this one's too.
    """
    status = definition.get("status") or {}
    wanted, accepted = definition["spec"]["names"], status.get("acceptedNames") or {}
    if _same_names(wanted, accepted):
        return None
    names, verdict = _decided(wanted, accepted, taken)
    before = find_condition(definition, "NamesAccepted")
    if _same_names(names, accepted) and before is not None and _equal(before, verdict):
        return None
    status = {**status, "acceptedNames": {**names}}
    status = with_condition(status, verdict, now=now)
    established = find_condition(definition, "Established") or condition(
        "Established", "False", "NotAccepted", "not all names are accepted"
    )
    if established.get("status") != "True" and verdict["status"] == "True":
        established = condition("Established", "False", "Installing", "the initial names have been accepted")
    return with_condition(status, {**_NO_CONDITION, **established}, now=now)


def unnamed(definition: Object) -> bool:
    """Whether nobody has looked at a definition's names yet. Names that it has are not looked at again, even where a
    write of its status took the condition away."""
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    if find_condition(definition, "NamesAccepted") is not None:
        return False
    return not _same_names(definition["spec"]["names"], accepted)


def renamed(definition: Object) -> bool:
    """Whether a definition that was given its names asks for others, and nobody has looked at them yet."""
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    return is_true(definition, "NamesAccepted") and not _same_names(definition["spec"]["names"], accepted)


def established(definition: Object, *, now: str) -> Object | None:
    """The status with Established, once the names are accepted; None where nothing changes.

    What is converted by a webhook with a CA bundle that is none is not served.
    """
    if not is_true(definition, "NamesAccepted") or is_true(definition, "Established"):
        return None
    verdict = condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    if wrong_bundle(definition["spec"]):
        verdict = condition("Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
    before = find_condition(definition, "Established")
    if before is not None and _equal(before, verdict):
        return None
    return with_condition(definition["status"], verdict, now=now)


def wrong_bundle(spec: Object) -> bool:
    """Whether no certificate can be read from the CA bundle of a conversion webhook."""
    webhook = (spec.get("conversion") or {}).get("webhook") or {}
    bundle = (webhook.get("clientConfig") or {}).get("caBundle")
    return bundle is not None and bool(bundle) and bool(wrong_ca_bundle(bundle))


def _decided(wanted: Object, accepted: Object, taken: Taken) -> tuple[Object, Object]:
    names: Object = {name: value for name, value in accepted.items() if name != "categories"}
    verdict = condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")

    def conflict(reason: str, message: str) -> None:
        verdict.update(status="False", reason=reason, message=message)

    for field, reason, kind in _SINGLE[:2]:
        _decide(field, reason, getattr(taken, kind), wanted=wanted, accepted=accepted, names=names, conflict=conflict)
    short, had = wanted.get("shortNames") or [], accepted.get("shortNames") or []
    own = (*had, accepted.get("plural"), accepted.get("singular"))
    clashes = [f'"{name}" is already in use' for name in short if name not in own and name in taken.resources]
    if clashes:
        text = clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]"
        conflict("ShortNamesConflict", text)
    else:
        names.pop("shortNames", None)
        if short:
            names["shortNames"] = short
    for field, reason, kind in _SINGLE[2:]:
        _decide(field, reason, getattr(taken, kind), wanted=wanted, accepted=accepted, names=names, conflict=conflict)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    return dict(sorted(names.items())), verdict


def _decide(
    field: str, reason: str, used: Any, *, wanted: Object, accepted: Object, names: Object, conflict: Any
) -> None:
    name = wanted.get(field, "")
    if name != accepted.get(field, "") and name in used:
        conflict(reason, f'"{name}" is already in use')
    else:
        names[field] = name


def _same_names(one: Object, other: Object) -> bool:
    return {name: value for name, value in one.items() if value} == {
        name: value for name, value in other.items() if value
    }


def _equal(one: Object, other: Object) -> bool:
    return all(one.get(field) == other.get(field) for field in ("type", "status", "reason", "message"))


class Change(Protocol):
    """What makes a changed definition of a private copy."""

    def __call__(self, definition: Object, *, now: str) -> Object: ...
