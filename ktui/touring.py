"""The guided tour through the screens: by itself for who has not had it, and whenever it is asked for."""

from __future__ import annotations

from textual import work

from ktui.commanding import Commanding
from ktui.screens.too_small import room


class Touring(Commanding):
    """The part of the app that shows people around."""

    @work(exclusive=True, group="tour", exit_on_error=False)
    async def start_tour(self) -> None:
        """From stop to stop, for as long as the person likes, and back to where the tour began."""
        from ktui.screens.tour import STOPS, TourGuide

        await room(self)
        self.settings.mark_toured()
        began = self.shown.mode
        at = farthest = 0
        while 0 <= at < len(STOPS):
            await self._show_behind(STOPS[at].screen or began)
            if STOPS[at].line and at > farthest:
                self.do_quietly(STOPS[at].line)
            farthest = max(at, farthest)
            await room(self)
            step = await self.push_screen_wait(TourGuide(at))
            if not step:
                break
            at = max(0, at + step)
        await self._show_behind(began)

    async def _show_behind(self, mode: str) -> None:
        if self.shown.mode != mode:
            await self.window.show(mode)
