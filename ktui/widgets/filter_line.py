"""The line in which a filter is typed; what its keys do is told in the bottom line, as for all that has the focus."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterLine(Input):
    """Enter goes on with what was filtered; Escape is the screen's, which takes the filter away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "To the rows"),
        Binding("escape", "leave", "No filter"),
    ]

    class Left(Message):
        """Escape."""

    def action_leave(self) -> None:
        self.post_message(self.Left())
