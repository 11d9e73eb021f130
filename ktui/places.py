"""Where one is in the app, how one gets elsewhere, and how one comes back."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from textual import work

from engine.api.errors import ApiError
from engine.api.types import NAMESPACES
from ktui.models.halves import refusal
from ktui.models.link import Link
from ktui.models.listing import ALSO_CALLED, NO_LISTING, Listing
from ktui.screens.frame import FrameScreen
from ktui.screens.window import Window
from ktui.session import Session
from ktui.typed_ahead import TypedAhead

if TYPE_CHECKING:
    from engine.kubectl.discovery import Discovery, Resource

SPLIT_WITH = {"flow": "objects"}  # what the key shows beside a screen; Flow beside all others


class Places(TypedAhead):
    """The part of the app that goes from screen to screen; Backspace walks back, in each half of the window."""

    session: Session
    namespace: str  # of what Objects shows; "" for all

    @property
    def window(self) -> Window:
        """What is below all dialogs."""
        window = self.screen_stack[0]
        assert isinstance(window, Window)
        return window

    @property
    def command_namespace(self) -> str:
        """Where a command works that names no namespace."""
        return self.namespace or "default"

    @property
    def shown(self) -> FrameScreen:
        """The main screen that has the keys."""
        return self.window.shown

    @cached_property
    def discovery(self) -> Discovery:
        from engine.kubectl.discovery import Discovery

        return Discovery()

    def complain(self, error: Exception, title: str = "") -> None:
        self.notify(str(error), severity="error", title=title, markup=False)

    async def resolve(self, word: str, *, say: bool = True) -> Resource | None:
        """The resource of a name, a short name or a kind; None, and said, if there is none."""
        from engine.kubectl.errors import CommandError

        try:
            return await self.discovery.resolve(self.session.client, word)
        except (CommandError, ApiError, ConnectionError) as error:
            if word in ALSO_CALLED:
                return await self.resolve(ALSO_CALLED[word], say=say)
            if say:
                self.complain(error, word)
            return None

    async def resource_words(self) -> list[tuple[str, str]]:
        """The plural, with its group where it has a namesake, and the kind of every resource that can be listed; none
        while the engine does not say."""
        try:
            found = await self.discovery.resources(self.session.client)
        except (ApiError, ConnectionError):
            return []
        kinds = {(each.gvr.resource, each.gvr.group): each.kind for each in found if "list" in each.verbs}
        namesakes = Counter(plural for plural, _ in kinds)
        return sorted(
            (f"{plural}.{group}" if group and namesakes[plural] > 1 else plural, kind)
            for (plural, group), kind in kinds.items()
        )

    async def resource_lines(self) -> dict[str, str]:
        """Every resource that can be listed: its whole name, and a line with its names and its kind."""
        try:
            found = await self.discovery.resources(self.session.client)
        except (ApiError, ConnectionError) as error:
            self.complain(error)
            return {}
        listed = {resource.gvr.group_resource: resource for resource in found if "list" in resource.verbs}
        return resource_lines(listed)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_show_mode(self, mode: str) -> None:
        if self.shown.mode != mode:
            self.window.half.remember_place()
            await self.window.show(mode)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_go_back(self) -> None:
        """Back to the place before."""
        if not await self.window.go_back():
            self.notify("this is where you began", timeout=1.5)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_go_forward(self) -> None:
        """To where one came back from."""
        if not await self.window.go_forward():
            self.notify("this is the last place that you were at", timeout=1.5)

    # -- two screens

    @work(exclusive=True, group="open", exit_on_error=False)
    async def split(self, mode: str) -> None:
        """Show a second screen; without a name, or with one that is shown already, the one that fits best."""
        problem = refusal(*self.size)
        if problem:
            self.notify(problem, severity="warning", markup=False)
            return
        await self.window.split(mode or SPLIT_WITH.get(self.shown.mode, "flow"))

    @work(exclusive=True, group="open", exit_on_error=False)
    async def unsplit(self) -> None:
        await self.window.unsplit()

    @work(exclusive=True, group="open", exit_on_error=False)
    async def close_second(self) -> None:
        await self.window.close_second()

    def action_split(self) -> None:
        """Two screens, or the one that was there before."""
        if self.window.is_split:
            self.close_second()
        else:
            self.split("")

    def action_other_half(self) -> None:
        if self.window.is_split:
            self.window.focus_other()
        else:
            self.notify("there is one screen; | or :split NAME shows another beside it", timeout=2, markup=False)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def go_to(self, link: Link) -> None:
        """Show the object that something named."""
        resource = await self.resolve(link.resource)
        if resource is not None:
            is_hidden = link.namespace and self.namespace not in ("", link.namespace)
            await self.show_objects(resource, link, Listing(link.namespace) if is_hidden else NO_LISTING)

    async def show_objects(self, resource: Resource, link: Link | None = None, listing: Listing = NO_LISTING) -> None:
        from ktui.screens.objects import ObjectsScreen

        self.window.half.remember_place()
        if listing.namespace is not None and resource.namespaced:
            self.use_namespace(listing.namespace)
        screen = await self.window.show("objects")
        assert isinstance(screen, ObjectsScreen)
        key = f"{link.namespace or ''}/{link.name}" if link is not None and link.name else ""
        screen.show_resource(resource.gvr, namespaced=resource.namespaced, key=key)
        if listing.filter:
            screen.objects.set_filter(listing.filter)

    # -- namespaces

    def use_namespace(self, name: str) -> None:
        """Of what is shown; "" for all."""
        if name == self.namespace:
            return
        self.namespace = name
        self.notify(f"namespace {name}" if name else "all namespaces", timeout=1.5, markup=False)
        for screen in self.window.screens:
            screen.namespace_changed()

    @work(exclusive=True, group="namespace", exit_on_error=False)
    async def go_to_namespace(self, name: str) -> None:
        """As `use_namespace`, where there is such a namespace."""
        if await self.has_namespace(name):
            self.use_namespace(name)

    async def has_namespace(self, name: str) -> bool:
        """Whether there is one, as far as this person may know; says so if not."""
        try:
            await self.session.client.get(NAMESPACES, name)
        except ApiError as error:
            if error.code == 404:
                self.complain(error, name)
                return False
        except ConnectionError:
            pass  # the screens say that themselves
        return True


def resource_lines(listed: dict[str, Resource]) -> dict[str, str]:
    """Name, kind, short names and version in columns."""
    names = sorted(listed)
    cells = [
        (each.plural, each.kind, ",".join(each.short_names), each.gvk.api_version)
        for each in map(listed.get, names)
        if each
    ]
    widths = [max(map(len, column), default=0) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return dict(zip(names, lines, strict=True))
