"""What is on the screen as a file: a picture, plain text, or the trace that is shown as a mermaid diagram."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ktui.trace_diagram import mermaid
from ktui.trace_tree import without_events

if TYPE_CHECKING:
    from ktui.app import KtuiApp

SUFFIXES = {"svg": "svg", "text": "txt", "mermaid": "mmd"}


def write(app: KtuiApp, format: str, file: str = "") -> Path:
    """Returns where it is: `file`, else a name in the working folder that nothing has. Raises OSError, ValueError."""
    content = {"svg": _svg, "text": _text, "mermaid": _mermaid}[format](app)
    path = Path(file).expanduser() if file else _free(app.shown.mode, SUFFIXES[format])
    path.write_text(content, encoding="utf-8")
    return path.absolute()


def _free(screen: str, suffix: str) -> Path:
    number = 1
    while (path := Path(f"ktui-{screen}-{number}.{suffix}")).exists():
        number += 1
    return path


def _svg(app: KtuiApp) -> str:
    return str(app.export_screenshot(title=f"ktui {app.session.name}"))


def _text(app: KtuiApp) -> str:
    """The characters as they stand on the terminal."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips[: app.size.height]) + "\n"


def _mermaid(app: KtuiApp) -> str:
    """The trace that is pinned, else that of the newest write."""
    from ktui.screens.flow import FlowScreen

    pinned = app.shown.pinned if isinstance(app.shown, FlowScreen) else ""
    spans = app.flow.traces.get(pinned or app.flow.story)
    if not spans:
        raise ValueError("no write was seen yet whose trace could be drawn")
    return mermaid(without_events(spans))
