"""What is on the screen as a file: a picture, plain text, or the trace that is shown as a mermaid diagram."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    with _nothing_said(app):
        return str(app.export_screenshot(title=f"ktui {app.session.name}"))


def _text(app: KtuiApp) -> str:
    """The characters as they stand on the terminal."""
    with _nothing_said(app):
        strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips[: app.size.height]) + "\n"


@contextmanager
def _nothing_said(app: KtuiApp) -> Iterator[None]:
    """What is said in passing, such as where the last picture is, lies over what is shown, and is no part of it.

    It is laid out without and then with it again, and the terminal is sent neither.
    """
    screen, size = app.screen, app.size
    said = [rack for rack in screen.query_children("ToastRack") if rack.display]
    for rack in said:
        rack.display = False
    if said:
        screen._compositor.reflow(screen, size)
    try:
        yield
    finally:
        for rack in said:
            rack.display = True
        if said:
            screen._compositor.reflow(screen, size)


def _mermaid(app: KtuiApp) -> str:
    """The trace that is pinned, else that of the newest write."""
    from ktui.screens.flow import FlowScreen

    pinned = app.shown.pinned if isinstance(app.shown, FlowScreen) else ""
    spans = app.flow.traces.get(pinned or app.flow.story)
    if not spans:
        raise ValueError("no write was seen yet whose trace could be drawn")
    return mermaid(without_events(spans))
