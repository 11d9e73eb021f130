"""Where one is in the app, how one gets elsewhere, and how one comes back."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual import work
from textual.app import App

from engine.api.errors import ApiError
from ktui.models.link import Link
from ktui.screens.frame import FrameScreen
from ktui.session import Session

if TYPE_CHECKING:
    from engine.kubectl.discovery import Discovery, Resource

PLACES_KEPT = 100


class Places(App[str]):
    """The part of the app that goes from screen to screen; Backspace walks back through `_places`."""

    session: Session

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[str, object]] = []  # the last one is where Backspace leads

    @cached_property
    def discovery(self) -> Discovery:
        from engine.kubectl.discovery import Discovery

        return Discovery()

    def complain(self, error: Exception, title: str = "") -> None:
        self.notify(str(error), severity="error", title=title, markup=False)

    async def resolve(self, word: str) -> Resource | None:
        """The resource of a name, a short name or a kind; None, and said, if there is none."""
        from engine.kubectl.discovery import NoMatchError

        try:
            return await self.discovery.resolve(self.session.client, word)
        except (NoMatchError, ApiError, ConnectionError) as error:
            self.complain(error, word)
            return None

    async def resource_words(self) -> list[tuple[str, str]]:
        """The plural and the kind of every resource that can be listed; none while the engine does not say."""
        try:
            found = await self.discovery.resources(self.session.client)
        except (ApiError, ConnectionError):
            return []
        return sorted({(resource.gvr.resource, resource.kind) for resource in found if "list" in resource.verbs})

    def _remember_place(self) -> None:
        """Where one is now is where Backspace leads."""
        if isinstance(self.screen, FrameScreen):
            self._places.append((self.screen.mode, self.screen.place()))
            del self._places[:-PLACES_KEPT]

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_show_mode(self, mode: str) -> None:
        if self.current_mode != mode:
            self._remember_place()
            await self.switch_mode(mode)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_go_back(self) -> None:
        """Back to the place before."""
        if not self._places:
            self.notify("this is where you began", timeout=1.5)
            return
        mode, place = self._places.pop()
        await self.switch_mode(mode)
        assert isinstance(self.screen, FrameScreen)
        self.screen.return_to(place)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def go_to(self, link: Link) -> None:
        """Show the object that something named."""
        await self._show_objects(link.resource, link)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open_resource(self, word: str) -> None:
        """Show a resource by any of its names."""
        await self._show_objects(word, None)

    async def _show_objects(self, word: str, link: Link | None) -> None:
        from ktui.screens.objects import ObjectsScreen

        resource = await self.resolve(word)
        if resource is None:
            return
        self._remember_place()
        await self.switch_mode("objects")
        assert isinstance(self.screen, ObjectsScreen)
        key = f"{link.namespace or ''}/{link.name}" if link is not None else ""
        self.screen.show_resource(resource.gvr, namespaced=resource.namespaced, key=key)
