"""kubectl's commands, done from the screen as the person whose client the screen has."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from textual import work
from textual.binding import Binding

from ktui.assets import asset_folder
from ktui.models.listing import NO_LISTING, Listing
from ktui.models.routes import ToAliases, ToNamespace, ToResource, ToScreen, ToTree, talks
from ktui.models.samples import with_samples
from ktui.models.summary import ClusterSummary
from ktui.places import Places
from ktui.screens.output import Output
from ktui.settings import Settings
from ktui.stopped_time import PATIENCE_SECONDS
from ktui.widgets.dialogs import Choice

LINES_SAID = 8


class Commanding(Places):
    """The part of the app that runs commands: in a pane, in a line, or without a word."""

    settings: Settings
    summary: ClusterSummary

    def go(self, to: ToScreen | ToNamespace | ToResource | ToTree | ToAliases) -> None:
        """Where a line after `:` leads that is about what is shown."""
        match to:
            case ToScreen(mode):
                self.action_show_mode(mode)
            case ToNamespace(""):
                self.use_namespace("")
            case ToNamespace(name):
                self.go_to_namespace(name)
            case ToResource(word, listing, argv):
                self.open_resource(word, listing, argv)
            case ToTree(kind, listing):
                self.open_tree(kind, listing)
            case ToAliases():
                self.action_aliases()

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open_resource(self, word: str, listing: Listing = NO_LISTING, argv: tuple[str, ...] = ()) -> None:
        """Show a resource by any of its names; `argv` is what to do instead where there is none."""
        resource = await self.resolve(word, say=not argv)
        if resource is None:
            if argv:
                self.run_kubectl(argv, shlex.join(argv))
        elif not listing.namespace or await self.has_namespace(listing.namespace):
            await self.show_objects(resource, listing=listing)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open_tree(self, kind: str, listing: Listing) -> None:
        """The tree below the objects of one kind."""
        resource = await self.resolve(kind)
        if resource is None or (listing.namespace and not await self.has_namespace(listing.namespace)):
            return
        self.window.half.remember_place()
        if listing.namespace is not None:
            self.use_namespace(listing.namespace)
        from ktui.screens.tree import TreeScreen

        screen = await self.window.show("tree")
        assert isinstance(screen, TreeScreen)
        screen.show_only(resource.gvr.group_resource)
        if listing.filter and screen.pane is not None:
            screen.pane.set_filter(listing.filter)

    @work(exclusive=True, group="aliases", exit_on_error=False)
    async def action_aliases(self) -> None:
        """Choose one of all resources."""
        chosen = await self.push_screen_wait(Choice("resources", await self.resource_lines(), width=96))
        if chosen:
            self.open_resource(chosen)

    # -- what waits for the cluster's time

    @property
    def waits_for_time(self) -> str:
        """What to say where something takes long; "" unless the cluster's time is paused."""
        if self.summary.clock_mode != "paused":
            return ""
        key = self.settings.keys.get("clock.pause", "f9").partition(",")[0]
        return f"the cluster's time is paused: this waits · {self.get_key_display(Binding(key, ''))} lets it go on"

    @contextmanager
    def told_of_time(self) -> Iterator[None]:
        """For what asks the engine to write: where it waits for the clock, that is said, once."""

        def look() -> None:
            if self.waits_for_time:
                self.notify(self.waits_for_time, severity="warning", timeout=6, markup=False)
                timer.stop()

        timer = self.set_interval(PATIENCE_SECONDS, look)
        try:
            yield
        finally:
            timer.stop()

    def run_kubectl(self, argv: tuple[str, ...], title: str) -> None:
        """Do one of kubectl's commands and show what it prints; talk to what runs in a container."""
        if talks(argv):
            from ktui.screens.shell import Shell

            self.push_screen(Shell(title, partial(self._talk, argv)))
        else:
            self.push_screen(Output(title, partial(self._kubectl, argv)))

    async def _kubectl(self, argv: tuple[str, ...], stdout: TextIO, stderr: TextIO) -> int:
        """The terminal is the screen's: what would be read from it is empty."""
        return await self._talk(argv, io.StringIO(), stdout, stderr)

    async def _talk(self, argv: tuple[str, ...], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
        from engine.kubectl.main import run

        return await run(
            with_samples(argv, asset_folder("samples")),
            client=self.session.client,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            clock=self.session.world.clock,
            namespace=self.command_namespace,
            discovery=self.discovery,
            program="kubectl",
        )

    @work(group="quietly", exit_on_error=False)
    async def do_quietly(self, line: str) -> None:
        """One of kubectl's commands whose effect is to be seen, not its words; what goes wrong is said."""
        await self._do(tuple(shlex.split(line)), say=False)

    @work(group="quietly", exit_on_error=False)
    async def do_and_say(self, argv: tuple[str, ...]) -> None:
        """One of kubectl's commands; what it prints is said."""
        await self._do(argv, say=True)

    async def _do(self, argv: tuple[str, ...], *, say: bool) -> None:
        out = io.StringIO()
        with self.told_of_time():
            failed = await self._kubectl(argv, out, out)
        words = out.getvalue().strip()
        if failed:
            self.notify(shortened(words), severity="error", title=" ".join(argv[:2]), markup=False)
        elif say:
            self.notify(shortened(words), markup=False)


def shortened(words: str) -> str:
    """What is said in passing is no longer than one can read in passing."""
    lines = words.splitlines()
    more = len(lines) - LINES_SAID
    return words if more <= 0 else "\n".join([*lines[:LINES_SAID], f"and {more} lines more"])
