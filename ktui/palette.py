"""The command palette: every screen, every key of the screen that is shown, every theme and every kind of object."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.screens.catalogue import CATALOGUE

Run = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Command:
    title: str
    about: str
    run: Run


class Commands(Provider):
    """What can be done from where one is."""

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(command.title, command.run, help=command.about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        async for command in self._all():
            score = max(matcher.match(command.title), matcher.match(f"{command.title} {command.about}") * 0.8)
            if score > 0:
                yield Hit(score, matcher.highlight(command.title), command.run, help=command.about)

    async def _all(self) -> AsyncIterator[Command]:
        for command in self._commands():
            yield command
        async for command in self._resources():
            yield command

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

    async def _resources(self) -> AsyncIterator[Command]:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        for word, kind in await self.app.resource_words():
            yield Command(word, f"list every {kind}", partial(self.app.open_resource, word))
