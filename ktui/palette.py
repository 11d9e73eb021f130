"""The command palette: every screen, every key of the screen that is shown, every theme, every kind of object, and the
objects themselves by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Input, OptionList

from ktui.feeds.object_names import ObjectNames
from ktui.models.link import Link
from ktui.models.sought import fit, marks
from ktui.models.trouble import ASKING
from ktui.screens.catalogue import CATALOGUE

if TYPE_CHECKING:
    from ktui.app import KtuiApp

Run = Callable[[], Any]
LAST = 0.1  # below all that fits


@dataclass(frozen=True, slots=True)
class Command:
    title: str
    about: str
    run: Run


class Commands(Provider):
    """What can be done from where one is."""

    def __init__(self, screen: Screen[Any], match_style: Style | None = None) -> None:
        super().__init__(screen, match_style)
        self._names: ObjectNames | None = None  # until something is typed
        self._resources: list[Command] = []  # as soon as they are known

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(command.title, command.run, help=command.about)

    async def search(self, query: str) -> Hits:
        """Nobody is waited for, and what takes a while comes first: Textual shows no hit until it has them all."""
        objects = await self._objects(query)
        for command in (*self._commands(), *self._resources):
            score = fit(query, command.title, command.about)
            if score > 0:
                yield Hit(score, self._marked(query, command.title), command.run, help=escape(command.about))
        for hit in objects:
            yield hit
        if self._names is not None and not self._names.is_complete:
            yield Hit(LAST, ASKING, self.app.action_command_palette)

    def _marked(self, query: str, title: str) -> Content:
        content = Content(title)
        for start, end in marks(query, title):
            content = content.stylize(self.match_style or "reverse", start, end)
        return content

    # -- what only the server knows

    async def _objects(self, query: str) -> list[Hit]:
        """Those whose names are known by now; when more are, the palette is asked to look again."""
        if self._names is None:
            session = self.ktui.session
            namespace = self.ktui.command_namespace
            self._names = ObjectNames(session.client, self.ktui.discovery, session.world.clock, namespace)
            palette = self.app.screen
            palette.run_worker(self._read(self._names, palette), group="names", exit_on_error=False)
        return [
            Hit(
                score,
                self._marked(query, one.title),
                partial(self.ktui.go_to, Link(one.resource, one.name, one.namespace or None)),
            )
            for score, one in await self._names.find(query)
        ]

    async def _read(self, names: ObjectNames, palette: Screen[Any]) -> None:
        """Ends with the palette."""
        self._resources = [
            Command(word, f"list every {kind}", partial(self.ktui.open_resource, word))
            for word, kind in await self.ktui.resource_words()
        ]
        _look_again(palette)
        async for _ in names.read():
            _look_again(palette)

    @property
    def ktui(self) -> KtuiApp:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        return self.app

    # -- what the screen knows

    def _commands(self) -> Iterator[Command]:
        for entry in CATALOGUE:
            yield Command(entry.title, entry.about, partial(self.app.run_action, f"show_mode('{entry.name}')"))
        yield from self._keys()
        for name in sorted(self.app.available_themes):
            if name.startswith("ktui-"):
                short = name.removeprefix("ktui-")
                yield Command(f"Theme {short}", "colours", partial(self.app.run_action, f"use_theme('{short}')"))

    def _keys(self) -> Iterator[Command]:
        """What the keys of the screen do."""
        seen = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not active.enabled or not binding.description or binding.action in seen:
                continue
            seen.add(binding.action)
            if binding.action.startswith(("show_mode", "app.command_palette", "command_palette")):
                continue
            key = self.app.get_key_display(binding)
            about = active.tooltip or binding.description
            run = partial(self.app.run_action, binding.action, active.node)
            yield Command(f"{binding.description}", f"{key}  {about}", run)


def _look_again(palette: Screen[Any]) -> None:
    """For what is typed, more may be found by now; who has begun to choose among what was is left alone."""
    line, found = palette.query_one(Input), palette.query_one(OptionList)
    if line.value.strip() and not found.highlighted:
        palette.post_message(Input.Changed(line, line.value))
