"""Whoever read what `ktui` prints went away, as `head` does: it ends like any program, without a word."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ktui.cli import main


@pytest.mark.parametrize("words", [("get", "--help"), ("config", "view")], ids=" ".join)
def test_a_reader_that_has_gone_ends_the_command(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}")
    reader, writer = os.pipe()
    os.close(reader)
    given = ("--kubeconfig", str(kubeconfig)) if words[0] == "config" else ()
    monkeypatch.setattr(sys, "argv", ["ktui", *words, *given])
    with os.fdopen(writer, "w", buffering=1) as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 141
    assert capfd.readouterr().err == ""
