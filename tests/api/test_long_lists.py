"""What it takes to change lists of many elements, in calls of functions."""

from __future__ import annotations

from cProfile import Profile
from pstats import Stats

import pytest

from engine.api.patch import strategic_merge_patch
from engine.api.types import Object
from engine.api.validation import pod_update, resources
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated
from engine.api.warnings.pod_ports import port_warnings
from tests.api.test_strategic_merge_patch import POD

COUNT = 1000
NAMES = [{"name": f"E{number}"} for number in range(COUNT)]
CHANGES: dict[str, Object] = {
    "all": {"env": [{**each, "value": "2"} for each in NAMES]},
    "new ones": {"env": [{"name": f"F{number}"} for number in range(COUNT)]},
    "half of them go": {
        "env": [{**each, "$patch": "delete"} for each in NAMES[::2]],
        "$setElementOrder/env": NAMES[1::2],
    },
    "another order": {"env": NAMES[::-1], "$setElementOrder/env": NAMES[::-1]},
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_effort_of_a_strategic_patch_grows_with_the_list_and_not_with_its_square(name: str) -> None:
    live: Object = {"spec": {"containers": [{"name": "c", "env": [{**each, "value": "1"} for each in NAMES]}]}}
    patch = {"spec": {"containers": [{"name": "c", **CHANGES[name]}]}}
    profile = Profile()
    profile.runcall(strategic_merge_patch, live, patch, POD)
    assert Stats(profile).total_calls < 100 * COUNT  # type: ignore[attr-defined]


PORTS: dict[str, list[Object]] = {
    "all alike": [{"containerPort": 80}] * COUNT,
    "none on the host alike": [{"containerPort": 80, "hostPort": number} for number in range(1, COUNT)],
    "none of an address alike": [
        {"containerPort": 80, "hostPort": 8080, "hostIP": f"10.0.{number // 256}.{number % 256}"}
        for number in range(COUNT)
    ],
}


@pytest.mark.parametrize("name", PORTS)
def test_the_effort_of_comparing_ports_grows_with_the_list_and_not_with_its_square(name: str) -> None:
    profile = Profile()
    found = profile.runcall(port_warnings, [("spec.containers[0]", PORTS[name])])
    assert Stats(profile).total_calls < 100 * COUNT  # type: ignore[attr-defined]
    assert len(found) == (200 if name == "all alike" else 0)


def test_the_effort_of_comparing_claims_grows_with_the_list_and_not_with_its_square() -> None:
    claims = [{"name": f"a{number // 2}", "request": f"r{number}"} for number in range(COUNT)] + [{"name": "a0"}]
    problems, profile = Problems(), Profile()
    known = frozenset(claim["name"] for claim in claims)
    profile.runcall(resources.requirements, {"claims": claims}, "resources", problems, claims=known)
    assert Stats(profile).total_calls < 100 * COUNT  # type: ignore[attr-defined]
    assert [problem.message for problem in problems] == ['Duplicate value: "a0"'] * 2


class _Counted(str):
    """A text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Counted.compared += 1
        return str.__eq__(self, other)


def test_the_effort_of_finding_the_tolerations_that_are_kept_grows_with_their_number_and_not_with_its_square() -> None:
    def pod() -> Object:
        tolerations = [{"key": _Counted(number), "operator": "Exists"} for number in range(COUNT)]
        return {"metadata": {}, "spec": {"containers": [], "tolerations": tolerations}}

    problems = Problems()
    pod_update.pod_update(pod(), pod(), problems)
    assert not problems
    assert _Counted.compared < 10 * COUNT


def test_elements_that_were_there_before() -> None:
    assert repeated(["a", "b", "a", "c", "a", "b"]) == {2, 4, 5}
    assert repeated(range(COUNT)) == set()
