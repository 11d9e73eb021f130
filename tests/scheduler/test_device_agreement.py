"""The search for devices finds what trying everything finds first, on clusters of chance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator, InUse
from engine.scheduler.devices.pools import DeviceId, Slices
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.devices.shortage import Need, enough
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, wants, way
from tests.scheduler.objects import node

NODE = node("n1")
TAINT = {"key": "sick", "effect": "NoSchedule"}
Choice = tuple[str, tuple[str, ...]]  # a request, and its devices


def some_device(chance: Random, name: str) -> Object:
    fields: dict[str, Any] = {"kind": chance.choice("ab"), "numa": chance.randint(0, 2)}
    if chance.random() < 0.2:
        del fields["numa"]
    if chance.random() < 0.5:
        amount = {"value": str(chance.randint(1, 3))}
        fields["consumesCounters"] = [{"counterSet": "board", "counters": {"units": amount}}]
    if chance.random() < 0.15:
        fields["taints"] = [TAINT]
    return device(name, **fields)


def some_request(chance: Random, name: str) -> Object:
    def one(make: Any, name: str) -> Object:
        kind = [f'device.attributes["{DRIVER}"].kind == "{chance.choice("ab")}"'] if chance.random() < 0.4 else []
        tolerations = {"tolerations": [{"operator": "Exists"}]} if chance.random() < 0.2 else {}
        made: Object = make(name, *kind, count=chance.randint(1, 3), **tolerations)
        return made

    if chance.random() < 0.3:
        return {"name": name, "firstAvailable": [one(way, "x"), one(way, "y")]}
    return one(wants, name)


def some_claim(chance: Random) -> Object:
    constraint = {chance.choice(["matchAttribute", "distinctAttribute"]): f"{DRIVER}/numa"}
    constraints = [{"requests": chance.choice([[], ["r0"]]), **constraint}] if chance.random() < 0.5 else []
    return claim("c", *(some_request(chance, f"r{i}") for i in range(chance.randint(1, 3))), constraints=constraints)


class Trial:
    """All that may be chosen, in the order of requests, alternatives and devices."""

    def __init__(self, wanted: Object, devices: list[Object], taken: set[str], units: int) -> None:
        self.spec, self.taken, self.units = wanted["spec"]["devices"], taken, units
        self.devices = {each["name"]: each for each in devices}

    def first(self) -> list[Choice] | None:
        return next((chosen for chosen in self._choices(0, []) if self._holds(chosen)), None)

    def _choices(self, i: int, chosen: list[Choice]) -> Iterator[list[Choice]]:
        if i == len(self.spec["requests"]):
            yield chosen
            return
        request = self.spec["requests"][i]
        gone = self.taken.union(*(names for _, names in chosen))
        for one in request.get("firstAvailable") or [request["exactly"]]:
            fitting = [name for name in self.devices if name not in gone and self._fits(one, self.devices[name])]
            for names in combinations(fitting, one["count"]):
                yield from self._choices(i + 1, [*chosen, (request["name"], names)])

    def _fits(self, one: Object, each: Object) -> bool:
        kind = f'"{each["attributes"]["kind"]["string"]}"'
        selected = all(s["cel"]["expression"].endswith(kind) for s in one.get("selectors") or ())
        return selected and bool("taints" not in each or one.get("tolerations"))

    def _holds(self, chosen: list[Choice]) -> bool:
        found = [name for _, names in chosen for name in names]
        drawn = sum(map(self._units, found))
        if drawn and drawn + sum(map(self._units, self.taken)) > self.units:
            return False
        return all(self._agree(constraint, chosen) for constraint in self.spec["constraints"])

    def _units(self, name: str) -> int:
        return sum(int(c["counters"]["units"]["value"]) for c in self.devices[name].get("consumesCounters") or ())

    def _agree(self, constraint: Object, chosen: list[Choice]) -> bool:
        meant = [n for request, names in chosen if request in (constraint["requests"] or [request]) for n in names]
        values = [self.devices[name]["attributes"].get("numa", {}).get("int") for name in meant]
        wanted = min(1, len(values)) if "matchAttribute" in constraint else len(values)
        return None not in values and len(set(values)) == wanted


@pytest.mark.parametrize("seed", range(8))
def test_the_first_solution_is_found_wherever_there_is_one(seed: int) -> None:
    chance = Random(seed)
    solved = 0
    for _ in range(80):
        devices = [some_device(chance, f"d{i}") for i in range(chance.randint(1, 6))]
        wanted, units = some_claim(chance), chance.randint(1, 6)
        taken = {each["name"] for each in devices if chance.random() < 0.15}
        board = {"name": "board", "counters": {"units": {"value": str(units)}}}
        slices = [published(*devices, name="a", count=2), published(name="b", count=2, sharedCounters=[board])]
        allocator = Allocator(
            [wanted], in_use=InUse({DeviceId(DRIVER, "n1", name) for name in taken}), slices=Slices(slices),
            class_of={"gpu": device_class()}.get, verdicts=Verdicts(), new_share=lambda: "share",
        )  # fmt: skip
        found, first = allocator.allocate(NODE), Trial(wanted, devices, taken, units).first()
        got = None if found is None else [result["device"] for result in found[0]["devices"]["results"]]
        assert got == (None if first is None else [name for _, names in first for name in names])
        solved += first is not None
    assert 10 <= solved <= 70


def can_share(needs: list[Need]) -> bool:
    """By trying every way to hand the devices out."""
    if not needs:
        return True
    for given in combinations(needs[0].among, needs[0].wanted):
        rest = [Need(wanted, [thing for thing in among if thing not in given]) for wanted, among in needs[1:]]
        if can_share(rest):
            return True
    return False


def test_whether_there_are_devices_enough_for_all() -> None:
    chance = Random(1)
    pool = [DeviceId(DRIVER, "n1", str(i)) for i in range(6)]
    found = []
    for _ in range(400):
        needs = [
            Need(chance.randint(0, 3), chance.sample(pool, chance.randint(0, 6))) for _ in range(chance.randint(1, 4))
        ]
        found.append(enough(needs))
        assert found[-1] == can_share(needs), needs
    assert 100 < sum(found) < 300
