"""The keys that steer the engine's clock from any screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.api.errors import ApiError
from ktui import steering
from ktui.models.flow import FlowModel
from ktui.places import Places

PASSED_OVER = {"reads": ("get", "list"), "events": ("event",), "heartbeats": ("lease",)}


class Steered(Places):
    """What `steering` asks of the engine, as actions of the app."""

    flow: FlowModel

    async def _steer(self, change: Callable[[], Awaitable[str]]) -> None:
        try:
            self.notify(await change(), timeout=1.5)
        except (ApiError, ConnectionError) as error:
            self.complain(error, "clock")

    async def action_toggle_pause(self) -> None:
        await self._steer(lambda: steering.toggle_pause(self.session.client))

    async def action_step(self) -> None:
        """To the next hop of those that Flow shows."""
        over = {word for noise, words in PASSED_OVER.items() if noise not in self.flow.show for word in words}
        await self._steer(lambda: steering.step(self.session.client, over))

    async def action_faster(self) -> None:
        await self._steer(lambda: steering.change_speed(self.session.client, 1))

    async def action_slower(self) -> None:
        await self._steer(lambda: steering.change_speed(self.session.client, -1))
