"""A worker that fails is told of, and never takes the app down."""

from __future__ import annotations

from textual.message_pump import MessagePump
from textual.worker import Worker, WorkerState


class Guarded(MessagePump):
    """For whatever starts workers with `exit_on_error=False`: says what went wrong in them."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            title = f"{event.worker.name or 'a task'} failed"
            self.app.notify(f"{type(error).__name__}: {error}", severity="error", title=title, markup=False)
