"""The keys that steer the engine's clock from any screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual import work

from engine.api.errors import ApiError
from ktui import steering
from ktui.models.flow import FlowModel
from ktui.models.routes import Steer
from ktui.places import Places

PASSED_OVER = {"reads": ("get", "list"), "events": ("event",), "heartbeats": ("lease",)}


class Steered(Places):
    """What `steering` asks of the engine, as actions of the app."""

    flow: FlowModel

    def __init__(self) -> None:
        super().__init__()
        self._steering = asyncio.Lock()  # a speed is read, then set

    @work(group="clock", exit_on_error=False)
    async def _steer(self, change: Callable[[], Awaitable[str]]) -> None:
        """An engine that does not answer keeps nobody from other keys."""
        try:
            async with self._steering:
                said = await change()
        except (ApiError, ConnectionError) as error:
            self.complain(error, "clock")
        else:
            self.notify(said, timeout=1.5, markup=False)

    def action_toggle_pause(self) -> None:
        self._steer(lambda: steering.toggle_pause(self.session.client))

    def action_step(self) -> None:
        """To the next hop of those that Flow shows."""
        over = {word for noise, words in PASSED_OVER.items() if noise not in self.flow.show for word in words}
        self._steer(lambda: steering.step(self.session.client, over))

    def steer(self, wanted: Steer) -> None:
        """What was typed after `:` about the clock."""
        client = self.session.client
        match wanted.action:
            case "pause":
                self._steer(lambda: steering.pause(client))
            case "resume":
                self._steer(lambda: steering.resume(client))
            case "step":
                self.action_step()
            case _:
                self._steer(lambda: steering.set_speed(client, wanted.speed))

    def action_faster(self) -> None:
        self._steer(lambda: steering.change_speed(self.session.client, 1))

    def action_slower(self) -> None:
        self._steer(lambda: steering.change_speed(self.session.client, -1))
