"""The step of a paused clock: on to the next traced hop (design, section 6).

`PUT /debug/ktui/clock` with `{"action": "step", "over": ["lease", "list"]}`: hops on objects of such a kind, or with
such a verb, are passed over, so that one who follows an apply is not stopped by every heartbeat. The answer is the
clock, and `hop`: the span that ended, or null where none did within `MOST_SECONDS` of the model.
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import bad_request
from engine.trace.span import Span
from engine.world import World

MOST_SECONDS = 10.0


async def step(world: World, over: Any) -> dict[str, Any] | None:
    """Raises ApiError 400."""
    if over is not None and not (isinstance(over, list) and all(isinstance(word, str) for word in over)):
        raise bad_request("over must be a list of kinds and verbs")
    passed = frozenset(over or ())
    found: list[Span] = []

    def take(span: Span) -> None:
        if not found and not _is_passed(span, passed):
            found.append(span)

    world.tracer.add_sink(take)
    try:
        await world.clock.step_until(lambda: bool(found), within=MOST_SECONDS)
    except ValueError as error:
        raise bad_request(str(error)) from None
    finally:
        world.tracer.remove_sink(take)
    return found[0].to_json() if found else None


def _is_passed(span: Span, passed: frozenset[str]) -> bool:
    """Requests for no object, such as those of whoever looks, are no hops of anything."""
    is_resource = not span.object.startswith("/")
    return not is_resource or span.verb in passed or span.object.partition("/")[0] in passed
