"""Long pieces of work: others go on in between."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from engine.api.turns import Work, at_once
from engine.api.types import Object
from engine.apiserver.turns import in_turns
from engine.clock import Clock
from tests.api.crd.samples import compiled, cron_tab, texts

RULE: Object = {"rule": "self.all(x, x < 1000)", "message": "too large"}
SCHEMA: Object = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
}
SCHEMA["properties"]["rows"]["items"]["x-kubernetes-validations"] = [RULE]
WRONG = ["spec.rows[60]: Invalid value: too large"]


def _rows(length: int) -> Object:
    rows = [list(range(length)) for _ in range(80)]
    rows[60][0] = 2000
    return cron_tab({"rows": rows})


async def _counted(obj: Object, clock: Clock) -> tuple[list[str], int]:
    """What the rules say of the object, and how often others went on meanwhile."""
    turns, done = 0, asyncio.Event()

    async def other() -> None:
        nonlocal turns
        while not done.is_set():
            await clock.sleep(0)
            turns += 1

    async def ask() -> list[str]:
        found = await in_turns(compiled(SCHEMA).problems(obj, None, []), clock)
        done.set()
        return texts(found)

    found, _ = await asyncio.gather(ask(), other())
    return found, turns


async def test_others_go_on_between_the_rules_of_a_large_object(virtual_clock: Clock) -> None:
    small, large = await _counted(_rows(2), virtual_clock), await _counted(_rows(300), virtual_clock)
    assert small[0] == large[0] == WRONG
    assert small[1] < 5 < large[1]
    assert texts(at_once(compiled(SCHEMA).problems(_rows(300), None, []))) == WRONG


async def test_a_rule_that_takes_long_by_itself_comes_to_the_same_end(virtual_clock: Clock) -> None:
    obj = cron_tab({"rows": [list(range(3000))]})
    real, virtual = await _counted(obj, Clock()), await _counted(obj, virtual_clock)
    assert real[0] == virtual[0] == ["spec.rows[0]: Invalid value: too large"]


async def test_a_task_is_a_threads_but_under_a_virtual_clock(virtual_clock: Clock) -> None:
    def work() -> Work[Any]:
        first = yield threading.get_ident
        yield None
        return first

    here = threading.get_ident()
    assert await in_turns(work(), virtual_clock) == here
    assert await in_turns(work(), Clock()) != here
