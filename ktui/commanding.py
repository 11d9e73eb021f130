"""kubectl's commands, done from the screen as the person whose client the screen has."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, TextIO

from textual import work
from textual.binding import Binding

from engine.api.errors import ApiError
from engine.api.types import Object
from ktui.assets import asset_folder
from ktui.followed_logs import FollowedLogs
from ktui.models.link import Link
from ktui.models.listing import NO_LISTING, Listing
from ktui.models.own_commands import in_namespace
from ktui.models.routes import ToAliases, ToNamespace, ToObject, ToResource, ToScreen, ToTree, talks
from ktui.models.samples import with_samples
from ktui.models.summary import ClusterSummary
from ktui.places import Places
from ktui.screens.output import Output
from ktui.settings import Settings
from ktui.stopped_time import PATIENCE_SECONDS
from ktui.widgets.dialogs import Choice

if TYPE_CHECKING:
    from engine.kubectl.discovery import Resource
    from ktui.kubectl_process import KubectlProcess

LINES_SAID = 8
BESIDE_COLUMNS = 4  # of a pane: its border, and the bar beside its lines


class Commanding(Places):
    """The part of the app that runs commands: in a pane, in a line, or without a word."""

    settings: Settings
    summary: ClusterSummary

    def go(self, to: ToScreen | ToNamespace | ToResource | ToObject | ToTree | ToAliases) -> None:
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
            case ToObject(kind, name, namespace):
                self.open_object(kind, name, namespace)
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
        chosen = await self.push_screen_wait(Choice("resources", await self.resource_lines(), width=116))
        if chosen:
            self.open_resource(chosen)

    # -- one object by its name

    async def _named(self, kind: str, name: str, namespace: str | None) -> tuple[Resource, Object] | None:
        """In the namespace that is shown if none is said; None, and said, where there is no such object."""
        resource = await self.resolve(kind)
        if resource is None:
            return None
        place = (self.command_namespace if namespace is None else namespace) if resource.namespaced else None
        try:
            return resource, await self.session.client.get(resource.gvr, name, namespace=place)
        except (ApiError, ConnectionError) as error:
            self.complain(error, name)
            return None

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open_object(self, kind: str, name: str, namespace: str | None = None) -> None:
        found = await self._named(kind, name, namespace)
        if found is not None:
            resource, obj = found
            place = obj["metadata"].get("namespace")
            is_hidden = place and self.namespace not in ("", place)
            listing = Listing(place) if is_hidden else NO_LISTING
            await self.show_objects(resource, Link(resource.gvr.group_resource, name, place), listing)

    @work(exclusive=True, group="edit", exit_on_error=False)
    async def open_editor(self, arguments: tuple[str, ...], namespace: str | None = None) -> None:
        """`edit deployment/web` or `edit deployment web`."""
        from ktui.screens.editor import Editor

        kind, _, name = " ".join(arguments).replace("/", " ").partition(" ")
        found = await self._named(kind, name, namespace)
        if found is not None:
            resource, obj = found
            await self.push_screen_wait(Editor(self.session.client, resource.gvr, obj))

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

    def run_own(self, argv: tuple[str, ...], title: str) -> None:
        """Do one of ktui's own commands and show what it prints."""
        if self.session.kubeconfig is None:
            self.notify(f"{argv[0]}: for a cluster of this machine, and this is another's", severity="warning")
            return
        self.push_screen(Output(title, partial(self._own, argv)))

    def follow_logs(self, pod: Object, containers: Sequence[str], title: str) -> None:
        """Of a Pod's containers, over their restarts."""
        logs = FollowedLogs(self._kubectl, self.session.client, self.session.world.clock, pod, containers)
        self.push_screen(Output(title, logs))

    async def _kubectl(self, argv: tuple[str, ...], stdout: TextIO, stderr: TextIO) -> int:
        """The terminal is the screen's: what would be read from it is empty.

        What may print without end is done elsewhere, unless the engine is in this process itself.
        """
        if self.session.address is None:
            return await self._here(argv, stdout, stderr)
        try:
            address, namespace = await self.session.address(), self.command_namespace
            return await self.kubectl_process.run(argv, address, namespace=namespace, stdout=stdout, stderr=stderr)
        except OSError as error:  # there is no engine, or no process to be had
            stderr.write(f"error: {error}\n")
            return 1

    async def _here(self, argv: tuple[str, ...], stdout: TextIO, stderr: TextIO) -> int:
        return await self._talk(argv, io.StringIO(), stdout, stderr)

    @cached_property
    def kubectl_process(self) -> KubectlProcess:
        from ktui.kubectl_process import KubectlProcess

        return KubectlProcess(self.session.world.clock)

    @work(group="warm", exit_on_error=False)
    async def warm_kubectl(self) -> None:
        """So that a command does not wait for its process to start."""
        if self.session.address is not None:
            with suppress(OSError):  # which is said where one is to be used
                await self.kubectl_process.warm()

    async def _own(self, argv: tuple[str, ...], stdout: TextIO, stderr: TextIO) -> int:
        from ktui import own_process

        words = in_namespace(with_samples(argv, asset_folder("samples")), self.command_namespace)
        columns = self.size.width - BESIDE_COLUMNS
        return await own_process.run(words, name=self.session.name, columns=columns, stdout=stdout, stderr=stderr)

    async def _talk(self, argv: tuple[str, ...], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
        from engine.kubectl.main import run

        address = None if self.session.address is None else await self.session.address()
        return await run(
            with_samples(argv, asset_folder("samples")),
            client=self.session.client,
            server="" if address is None else address.server,
            environment=None if address is None else address.environment(),
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
            failed = await self._here(argv, out, out)
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
