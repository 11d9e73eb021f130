"""The engine's clock, steered from any screen."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.client import Client
from ktui.models.words import name_of
from ktui.trace_tree import LAMPS, verb_of

PATH = "/debug/ktui/clock"
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0)


def next_speed(speed: float, by: int) -> float:
    """The step of the ladder above or below a speed."""
    if by > 0:
        return next((step for step in SPEEDS if step > speed * 1.001), SPEEDS[-1])
    return next((step for step in reversed(SPEEDS) if step < speed * 0.999), SPEEDS[0])


async def toggle_pause(client: Client) -> str:
    """Raises ApiError, ConnectionError; returns what the clock does now, in words."""
    clock = await client.request("GET", PATH)
    return await _steer(client, {"action": "resume" if clock["mode"] == "paused" else "pause"})


async def step(client: Client, over: Collection[str] = ()) -> str:
    """Pause and go on to the next hop, but for those on kinds, or with verbs, that are passed `over`; says which."""
    clock = await client.request("PUT", PATH, body={"action": "step", "over": sorted(over)})
    hop = clock["hop"]
    if hop is None:
        return "nothing in the next seconds: the clock is paused"
    name = f" {name_of(hop['object'])}" if hop["object"] else ""
    kind = hop["object"].partition("/")[0]
    return f"{LAMPS[hop['hop'] - 1]} {hop['component']} {verb_of(hop)} {kind}{name}"


async def set_speed(client: Client, speed: float) -> str:
    return await _steer(client, {"speed": speed})


async def pause(client: Client) -> str:
    return await _steer(client, {"action": "pause"})


async def resume(client: Client) -> str:
    return await _steer(client, {"action": "resume"})


async def change_speed(client: Client, by: int) -> str:
    """A clock that is paused stays so, and goes on at that speed."""
    clock = await client.request("GET", PATH)
    speed = next_speed(clock["resumeSpeed"], by)
    if clock["mode"] != "paused":
        return await _steer(client, {"speed": speed})
    await client.request("PUT", PATH, body={"speed": speed, "action": "pause"})
    return f"the clock is paused, and will run at {speed:g}×"


async def _steer(client: Client, wanted: dict[str, Any]) -> str:
    clock = await client.request("PUT", PATH, body=wanted)
    if clock["mode"] == "paused":
        return "the clock is paused"
    return f"the clock runs at {clock['speed']:g}×"
