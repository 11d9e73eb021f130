"""`ktui` run in the test's own process: a new one for each question would cost more than all else."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

import pytest

from ktui.cli import main
from tests.engine_process import Home, Ran

Here = Callable[..., Ran]


def runner(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *command: str) -> Here:
    """Runs `ktui COMMAND WORDS...` on the clusters of a home, with `stdin` as what is typed."""

    def run(*words: str, stdin: str = "") -> Ran:
        monkeypatch.setenv("KTUI_HOME", str(home.path))
        monkeypatch.setattr(sys, "argv", ["ktui", *command, *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(os.fsencode(stdin))))
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        printed = capfd.readouterr()
        return Ran(printed.out, printed.err, ended.value.code)

    return run
