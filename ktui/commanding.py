"""kubectl's commands, done from the screen as the person whose client the screen has."""

from __future__ import annotations

import io
import shlex
from functools import partial
from typing import TextIO

from textual import work

from ktui.models.routes import talks
from ktui.places import Places
from ktui.screens.output import Output


class Commanding(Places):
    """The part of the app that runs commands: in a pane, in a line, or without a word."""

    namespace: str

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
            argv,
            client=self.session.client,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            clock=self.session.world.clock,
            namespace=self.namespace,
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
        failed = await self._kubectl(argv, out, out)
        words = out.getvalue().strip()
        if failed:
            self.notify(words, severity="error", title=" ".join(argv[:2]), markup=False)
        elif say:
            self.notify(words, markup=False)
