"""What goes wrong in a worker or in a widget is told of, and never takes the app down.

Textual ends the message loop of a widget whose handler raises: it would stand there, deaf, and a screen with it. A
guarded one goes on with the next message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.segment import Segment
from textual.app import App
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from engine.api.errors import ApiError


class Guarded(MessagePump):
    """For screens and widgets of ours, and for whatever starts workers with `exit_on_error=False`."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app._handle_exception(error)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            self.app.notify(told(error), severity="error", title="ktui erred", markup=False)


def attempt(app: App[Any], do: Callable[[], object]) -> None:
    """What cannot be taken in or shown is told of; who follows something goes on with the next."""
    try:
        do()
    except Exception as error:
        app._handle_exception(error)


def told(error: BaseException) -> str:
    """What the engine or the machine said as it is; of our own errors also what they are, for who mends them."""
    is_said = isinstance(error, ApiError | OSError) or type(error).__module__.startswith("engine.")
    return str(error) if is_said and str(error) else f"{type(error).__name__}: {error}"


def drawn(widget: Widget, crop: Region, draw: Callable[[Region], list[Strip]]) -> list[Strip]:
    """What a widget draws of itself; one that cannot says so in its own place, and the others are drawn."""
    try:
        return draw(crop)
    except Exception as error:
        widget.app._handle_exception(error)
        lines = [f"✖ this cannot be drawn: {type(error).__name__}", *[""] * (crop.height - 1)]
        return [Strip([Segment(line)]).adjust_cell_length(crop.width, widget.rich_style) for line in lines]
