"""`?`: every key of the screen that it was asked on, and how to read what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from ktui.screens.catalogue import CATALOGUE
from ktui.screens.frame import FrameScreen
from ktui.widgets.scrolled import Scrolled

_KEYS = {
    "question_mark": "?", "colon": ":", "slash": "/", "plus": "+", "minus": "-", "escape": "Esc", "enter": "Enter",
    "space": "Space", "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "home": "Home", "end": "End",
    "full_stop": ".", "left": "←", "right": "→", "delete": "Del", "backspace": "⌫",
    "left_square_bracket": "[", "right_square_bracket": "]",
}  # fmt: skip
LEGEND = (
    ("──►", "a request, or what it wrote"),
    ("┄┄►", "a watch event, to those that it wakes"),
    ("①…⑫", "the twelve hops from keystroke to Ready"),
    ("✓ ◐ ✖ ·", "done, waiting, failed, past or not needed"),
    ("model~", "what the simulated cluster took"),
    ("wall", "what this machine took"),
)


class Help(ModalScreen[None]):
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll {
        width: 76; max-width: 96%; height: auto; max-height: 92%; padding: 1 2;
        background: $surface; border: round $primary;
    }
    Help Static { width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Close")]

    def __init__(self, about: FrameScreen) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with Scrolled() as box:
            box.border_title = "help"
            box.border_subtitle = "Esc closes"
            yield Static(Group(*self._parts()))

    def _parts(self) -> Iterator[RenderableType]:
        yield Text(self._about.purpose + "\n")
        own = [binding for binding in self._about.BINDINGS if self._is_of_use(binding)]
        taken = frozenset(key for binding in own if isinstance(binding, Binding) for key in self._keys_of(binding))
        shared = dict(self._rows([binding for binding in FrameScreen.BINDINGS if self._is_of_use(binding)], taken))
        yield self._table("this screen", {**dict(self._rows(own)), **shared})
        focused = self._about.screen.focused
        if focused is not None:
            yield self._table("moving", dict(self._rows(type(focused).BINDINGS)))
        yield self._table("everywhere", {**self._screens(), **dict(self._rows(self.app.BINDINGS, taken))})
        yield self._table("reading", dict(LEGEND))
        yield Text.assemble(
            ("after :  ", "bold"),
            "any of kubectl's commands, ktui's own (store, schedule, trace), a resource (deploy, svc, a CRD), a screen "
            "(flow, objects, store), "
            "split SCREEN, only, theme NAME, ns NAME, export svg|text|mermaid, pause, resume, step, speed N, forwards, "
            "tour, up, q; Tab completes; a click on a tab, a title or the clock does what its key does",
        )

    def _screens(self) -> dict[str, str]:
        """The keys of the screens, in a row."""
        tabs = self._about.ktui.tabs
        keys = [_word(entry.key) for entry in tabs]
        is_row = keys == [entry.key for entry in CATALOGUE]
        return {f"{keys[0]} … {keys[-1]}" if is_row else " ".join(keys): ", ".join(entry.title for entry in tabs)}

    def _is_of_use(self, binding: BindingType) -> bool:
        """Whether the screen has a use for a key as things are: one key may be several actions', each in its place."""
        if not isinstance(binding, Binding):
            return False
        action, parameters = parse(binding.action)[1:]
        return self._about.check_action(action, parameters) is not False

    def _keys_of(self, binding: Binding) -> list[str]:
        """As they are, or as the person has set them."""
        return self._about.ktui.settings.keys.get(binding.id or "", binding.key).split(",")

    def _rows(self, bindings: list[BindingType], taken: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
        """Without the keys that are `taken` by what goes before."""
        for binding in bindings:
            if isinstance(binding, Binding) and binding.description and not (binding.id or "").startswith("screen."):
                keys = self._keys_of(binding)
                free = [_word(key.strip()) for key in keys if key not in taken]
                if binding.key_display and keys == binding.key.split(","):
                    free = [binding.key_display] if free else []
                if free:
                    yield " ".join(free), binding.tooltip or binding.description

    @staticmethod
    def _table(title: str, rows: dict[str, str]) -> Table:
        table = Table(
            title=f"\n{title}", title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 1)
        )
        table.add_column(style="bold", min_width=14, no_wrap=True)
        table.add_column(ratio=1)
        for key, what in rows.items():
            table.add_row(key, what)
        table.add_section()
        return table


def _word(key: str) -> str:
    return _KEYS.get(key, key.replace("ctrl+", "^"))
