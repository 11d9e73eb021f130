"""The inside of what the cursor is on: text and tables, and below their title the objects that it names, as links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from ktui.guard import Guarded
from ktui.models.link import Link
from ktui.widgets.scrolled import Scrolled


class LinkLine(Static, can_focus=True):
    """One object that can be gone to."""

    DEFAULT_CSS = """
    LinkLine { height: 1; width: 1fr; color: $accent; text-style: underline; }
    LinkLine:focus, LinkLine:hover { background: $secondary; text-style: bold underline; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "follow", "Go there"),
        Binding("down,j", "app.focus_next", "Next", show=False),
        Binding("up,k", "app.focus_previous", "Previous", show=False),
    ]

    def __init__(self, link: Link) -> None:
        super().__init__(f"→ {link.role + ' ' if link.role else ''}{link.label}", markup=False)
        self.link = link

    def action_follow(self) -> None:
        self.post_message(DetailPane.Followed(self.link))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_follow()


class DetailPane(Guarded, Scrolled):
    """`show` replaces what is shown; what is copied of it is `copied`."""

    DEFAULT_CSS = """
    DetailPane { width: 50%; padding: 0 1; scrollbar-size: 1 1; border-left: vkey $panel; }
    DetailPane > .detail-text { width: auto; min-width: 100%; }
    .narrow DetailPane { width: 100%; height: 50%; border-left: none; border-top: hkey $panel; }
    """

    class Followed(Message):
        def __init__(self, link: Link) -> None:
            super().__init__()
            self.link = link

    class Reshaped(Message):
        """Its lines can be longer or shorter now: what is laid out for its width is laid out anew."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.copied = ""
        self._links: tuple[Link, ...] = ()
        self._line_width = 0  # that was told of last
        self._of = ""  # what it is the inside of

    def compose(self) -> ComposeResult:
        yield Static("", classes="detail-text")

    def on_resize(self) -> None:
        self._tell_width()

    def watch_show_vertical_scrollbar(self) -> None:
        """The bar takes a cell of every line."""
        self._tell_width()

    def _tell_width(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._line_width:
            self._line_width = width
            self.post_message(self.Reshaped())

    def show(
        self, parts: Sequence[RenderableType], *, links: Sequence[Link] = (), copied: str = "", of: str | None = None
    ) -> None:
        """`copied` is what the copy key takes, such as the whole YAML; where they are of something else than before,
        one begins at their top."""
        self.copied = copied
        if of is not None and of != self._of:
            self._of = of
            self.scroll_home(animate=False)
        self.query_one(".detail-text", Static).update(Group(*parts))
        if tuple(links) != self._links:
            self._links = tuple(links)
            self.query(LinkLine).remove()
            self.mount_all([LinkLine(link) for link in links], before=0)
