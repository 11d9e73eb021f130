"""`ktui web`: the same screen in a browser.

textual-serve starts `ktui` in a process of its own for each browser that comes, and carries its terminal over a
WebSocket. Whoever reaches the port is an admin of the cluster: it listens on this machine alone unless told otherwise.
"""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name


def declare(app: typer.Typer) -> None:
    app.command("web")(web)


def web(
    name: Name = DEFAULT_NAME,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    screen: Annotated[str, typer.Option(help="The screen to begin with.")] = "",
) -> None:
    """Serve the screen to browsers."""
    try:
        from ktui.web_server import WebServer
    except ImportError:
        raise UsageError('ktui web needs textual-serve: pip install -e ".[web]" where ktui was cloned') from None
    words = [sys.executable, "-m", "ktui", "--name", name, *(["--screen", screen] if screen else [])]
    WebServer(shlex.join(words), host=host, port=port, title=f"ktui {name}").serve()
