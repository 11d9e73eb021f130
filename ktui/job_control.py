"""Ctrl-Z: the terminal goes to the shell, and all of the job stops.

Textual stops its own process. Where that was started by another one of the same job, `make run` or a script, the shell
would go on waiting for that one, and nobody would have the terminal.

The key goes before those of any dialog: who pressed it goes on as in the shell, and what they type there must not be
taken for an answer. A text that was changed takes it for its own, which takes back the change.
"""

from __future__ import annotations

import os
import signal

from textual.app import App
from textual.widgets import TextArea


class JobControl(App[str]):
    """The part of the app that makes way for the shell and comes back with `fg`."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "suspend_process" and isinstance(self.focused, TextArea) and self.focused.history._undo_stack:
            return False
        return super().check_action(action, parameters)

    def action_suspend_process(self) -> None:
        if self._driver is None or not self._driver.can_suspend:
            self.notify("ktui runs in no terminal of a shell: there is none to go to", severity="warning")
            return
        if os.getpgrp() == os.getsid(0):  # the terminal's first job: nobody could let it go on
            self.notify("no shell started ktui: there is none to go to", severity="warning")
            return
        self._suspend_signal()
        self._driver.suspend_application_mode()
        self._driver._must_signal_resume = True  # type: ignore[attr-defined]  # else it comes back with half a picture
        os.killpg(os.getpgrp(), signal.SIGSTOP)
