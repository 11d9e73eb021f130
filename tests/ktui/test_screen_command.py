"""`ktui --screen`, `ktui --attach` and `ktui keys`: what the words of the command line become."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from ktui.application import app
from ktui.commands import UsageError
from ktui.commands.screen import attached, show

KUBECONFIG = {
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    "clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:6443"}}],
    "users": [{"name": "me", "user": {"token": "secret"}}],
}


def test_a_screen_that_there_is_not() -> None:
    with pytest.raises(UsageError, match='there is no screen "flwo"; there are flow, objects, store'):
        show(name="default", profile="instant", ephemeral=True, screen="flwo")


async def test_attach_takes_the_address_given_and_the_credentials_of_the_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(KUBECONFIG))
    monkeypatch.setenv("KUBECONFIG", str(file))
    session = attached("https://elsewhere:1234", "default")
    assert session.name == "elsewhere:1234"
    assert (session.begin, session.stop_engine) == (None, None)
    await session.client.close()


def test_attach_without_credentials_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KTUI_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no such file or directory"):
        attached("https://elsewhere:1234", "default")


def test_keys_prints_what_the_config_file_takes() -> None:
    printed = CliRunner().invoke(app, ["keys"]).stdout
    assert yaml.safe_load(printed)["keys"]["objects.edit"] == "e"


@pytest.mark.parametrize("url", ["nope", "127.0.0.1:6443", "https://", "ftp://elsewhere"])
def test_attach_to_what_is_no_url_says_so(url: str) -> None:
    with pytest.raises(UsageError, match=r"^--attach takes the URL of an API server"):
        attached(url, "default")


def test_a_terminal_that_cannot_be_drawn_on_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert show(name="default", profile="instant", ephemeral=True) == 1
    assert capsys.readouterr().err == (
        "error: the screen needs a terminal whose cursor it can move, and TERM=dumb has none\n"
    )
