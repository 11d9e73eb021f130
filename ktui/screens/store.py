"""Store: every etcd key with its revisions, the stream of revisions as they are written, and the store as a whole."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static
from textual.worker import Worker

from engine.api.errors import ApiError
from ktui.feeds import store as store_feed
from ktui.feeds.poll import Poll
from ktui.models.keys import ALL_KEYS, TITLES, KeyFilter, folder_lines, folder_of, key_rows, key_tree
from ktui.models.link import Link
from ktui.models.store_figures import StoreFigures
from ktui.models.store_stream import TITLES as STREAM_TITLES
from ktui.models.store_stream import StoreStream
from ktui.models.summary import ClusterSummary
from ktui.models.trouble import ASKING, advice, words
from ktui.screens.frame import FrameScreen
from ktui.screens.store_value import KeyValue
from ktui.widgets.filter_line import FilterLine
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Beside, Stack
from ktui.widgets.ink import inks
from ktui.widgets.store_board import StoreBoard
from ktui.widgets.table_pane import TablePane

HINT = "pods/  ·  !leases  ·  by=scheduler  ·  op=create"
KEYS_HINT = "web  ·  !leases  ·  -l app=web  ·  /pods/default: what keys begin with"
NO_KEY = "No key is like this. Esc takes the filter away."
NO_REVISION = "Nothing was written to such a key since this was opened."
NOTHING_WRITTEN = "Nothing was written since this was opened."
LOOK_SECONDS = 0.5  # how often the list is read again while the store changes


class StoreScreen(FrameScreen):
    mode = "store"
    purpose = (
        "Store: the keys of etcd as the API server writes them, each with its revisions and its value; below them "
        "every revision as it is written, with what its writer compared before it wrote; and the store as a whole."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "walk(-1)",
            "Older",
            key_display="[",
            tooltip="the value one revision before",
            id="store.older",
        ),
        Binding(
            "right_square_bracket", "walk(1)", "Newer", key_display="]", tooltip="one revision on", id="store.newer"
        ),
        Binding("m", "mark", "Mark", tooltip="compare the key's other revisions with this one", id="store.mark"),
        Binding(
            "l", "stream", "Revisions", tooltip="to the stream of revisions, and back to the keys", id="store.stream"
        ),
        Binding("p", "hold", "Hold", tooltip="stop the stream of revisions, or let it flow", id="store.hold"),
        Binding("z", "fold_all", "Fold", show=False, tooltip="fold all keys, or unfold them", id="store.fold"),
        Binding("t", "go", "Object", tooltip="go to the object of the key", id="store.object"),
    ]
    DEFAULT_CSS = """
    StoreScreen #store-left { width: 11fr; }
    StoreScreen #store-head { text-wrap: nowrap; text-overflow: ellipsis; }
    StoreScreen #store-right { width: 9fr; border-left: vkey $panel; }
    StoreScreen #stream { height: 40%; border-top: hkey $panel; }
    StoreScreen.narrow #store-left, StoreScreen.narrow #store-right { width: 100%; }
    StoreScreen.narrow #store-right { border-left: none; border-top: hkey $panel; }
    StoreScreen.narrow StoreBoard { display: none; }
    StoreScreen.narrow #stream { min-height: 4; border-top: none; }
    StoreScreen.narrow.streaming #stream { height: 1fr; }
    StoreScreen.narrow.streaming StoreBoard { display: block; max-height: 100%; border-top: none; }
    StoreScreen.narrow.streaming #keys, StoreScreen.narrow.streaming #store-head { display: none; }
    StoreScreen.narrow.streaming KeyValue { display: none; }
    StoreScreen.narrow.streaming.reading KeyValue { display: block; }
    StoreScreen.narrow.streaming.reading StoreBoard { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sought = ALL_KEYS
        self._revision = 0  # of the list that is shown
        self._newest = 0
        self._reading: Worker[None] | None = None
        self._by_change = False
        self._keys: list[Any] = []
        self._folded: set[str] = set()
        self._written = ASKING  # what is said where no revision is known
        self.stream = StoreStream()
        self.figures = StoreFigures()

    def compose_body(self) -> ComposeResult:
        with Beside():
            with Stack(id="store-left"):
                yield Static("", id="store-head")
                yield Grid(empty=ASKING, id="keys")
                yield TablePane("Revisions", empty=ASKING, hint=HINT, id="stream")
                yield FilterLine(placeholder=KEYS_HINT, id="prefix", compact=True)
            with Stack(id="store-right"):
                yield KeyValue(self.ktui.session.client, id="value")
                yield StoreBoard("", id="board")

    def on_mount(self) -> None:
        self.stream.writer = self.ktui.flow.writer
        self.query_one("#prefix").display = False
        self.focus_body()
        self.refresh_keys()
        self.follow()
        self.set_interval(LOOK_SECONDS, self._look)

    @property
    def keys(self) -> Grid:
        return self.query_one("#keys", Grid)

    @property
    def revisions(self) -> TablePane:
        return self.query_one("#stream", TablePane)

    @property
    def value(self) -> KeyValue:
        return self.query_one(KeyValue)

    @property
    def pane(self) -> TablePane | None:
        """Only the stream is filtered, sorted and copied as a table, and only where it has the focus."""
        return self.revisions if self.revisions.has_focus_within else None

    def focus_body(self) -> None:
        if self.has_class("streaming"):
            self.revisions.grid.focus()
        else:
            self.keys.focus()

    # -- the keys

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        self._newest = summary.revision

    def _look(self) -> None:
        """A search in many keys that is under way is not begun anew."""
        is_read = self._reading is None or self._reading.is_finished
        if self._newest != self._revision and self.is_current and is_read:
            self.refresh_keys()

    def resume(self) -> None:
        super().resume()
        self.refresh_keys()

    def redraw(self) -> None:
        super().redraw()
        self.value.redraw()
        self._show_stream()

    def refresh_keys(self) -> None:
        self._reading = self._read_keys()

    @work(exclusive=True, group="keys", exit_on_error=False)
    async def _read_keys(self) -> None:
        try:
            answer = await store_feed.keys(self.ktui.session.client, self._sought)
        except (ApiError, ConnectionError) as error:
            self._say_problem(error)
            return
        keys = answer["keys"]
        if self._by_change:
            keys = sorted(keys, key=lambda key: -key["modRevision"])
        self._revision = answer["revision"]
        self._keys = keys
        self._show_keys()
        self.query_one("#store-head", Static).update(self._head(answer), layout=False)
        shown = self.value.shown
        if not self.has_class("streaming") and (shown is None or (shown.is_newest and self._has_changed(shown.key))):
            self._show_value(self.keys.key)

    def _head(self, answer: Any) -> Text:
        """Which keys these are, how many of how many, and of when."""
        found, sought = answer["count"], self._sought
        shown = f"{len(self._keys)} of {found}" if found > len(self._keys) else str(found)
        shown += "" if sought.takes_all else f" of {answer['searched']}"
        shown += " key" if shown == "1" else " keys"
        shown += " · / finds the others" if found > len(self._keys) else ""
        head = Text.assemble((f" {sought.prefix}", "bold"), f"  {shown} at rev {self._revision}")
        if sought.problem:
            return head.append(f"  ✖ {sought.problem}", inks(self.app).get("error", ""))
        text = [*sought.words, *([f"-l {sought.labels}"] if sought.labels else [])]
        return head.append(f"  /{' '.join(text)}" if text else "", "dim")

    def _has_changed(self, key: str) -> bool:
        shown = self.value.shown
        return any(kv["key"] == key and shown is not None and kv["modRevision"] != shown.revision for kv in self._keys)

    def _show_keys(self) -> None:
        """As a tree; in the order of their changes, as a list."""
        if self._by_change:
            rows = key_rows(self._keys, self._revision)
        else:
            rows = key_tree(self._keys, self._revision, self._folded)
        self.keys.show(TITLES, rows, empty=NO_KEY)

    def _say_problem(self, error: ApiError | ConnectionError) -> None:
        """In the head; and what to do about it, where no key was ever read."""
        colour, problem = inks(self.app).get("error", ""), words(error)
        if not self._keys:
            what_to_do = advice(problem, starts_engine=self.ktui.session.begin is not None)
            self.keys.show(TITLES, [], empty=f"✖ {problem}\n{what_to_do}")
        self.query_one("#store-head", Static).update(Text(f" ✖ {problem}", colour), layout=False)

    def _show_value(self, key: str) -> None:
        if key and not key.endswith("/"):
            self.value.show_newest(key)
        else:
            self.value.say(key, folder_lines(key, self._keys, is_folded=key in self._folded))

    def action_fold_all(self) -> None:
        groups = {folder_of(key) for key in self._keys}
        self._folded = set() if self._folded >= groups else groups
        self._show_keys()

    def action_sort(self) -> None:
        """By key, or the newest change first; the stream by its columns."""
        if self.pane is not None:
            self.pane.sort()
            return
        self._by_change = not self._by_change
        self.refresh_keys()

    # -- the stream, and the store as a whole

    @work(group="stream", exit_on_error=False)
    async def follow(self) -> None:
        poll = Poll(self.ktui.session.world.clock, self._ask, wanted=lambda: self.is_current)
        async for answer in poll.answers():
            self.revisions.problem = answer.problem
            if answer.value is not None and not answer.problem:
                self._take(*answer.value)
                self._written = NOTHING_WRITTEN
            self._show_stream()

    async def _ask(self) -> tuple[Any, Any, Any, Any]:
        client = self.ktui.session.client
        status, members = await store_feed.status(client)
        self.stream.skip_to(status["revision"] - store_feed.STREAM_MOST)
        log, decided = await store_feed.written(client, self.stream.revision)
        return status, members, log, decided

    def _take(self, status: Any, members: Any, log: Any, decided: Any) -> None:
        summary = self.ktui.summary
        at = summary.now.timestamp() if summary.now is not None else 0.0
        self.figures.take(status, members, at=at, now=summary.clock_now)
        self.stream.take(log, decided)

    def _show_stream(self) -> None:
        stream, pane = self.stream, self.revisions
        if stream.held:
            pane.note = f"held at rev {stream.held}, {stream.newer} newer · p lets it flow"
        else:
            is_short = self.has_class("narrow") and not self.has_class("streaming")
            pane.note = "live · l shows more" if is_short else "live · p holds it"
            pane.note += f" · {stream.skipped:,} passed over" if stream.skipped else ""
        pane.show(STREAM_TITLES, stream.rows(self._sought), empty=self._if_unwritten)
        if not stream.held and pane.grid.rows:
            pane.grid.move_to(pane.grid.rows[0].key)
        self.query_one(StoreBoard).show(self.figures)

    @property
    def _if_unwritten(self) -> str:
        """What the stream says where it has no row."""
        return NO_REVISION if self.stream.rows() else self._written

    def action_hold(self) -> None:
        if self.stream.held:
            self.stream.flow()
        else:
            self.stream.hold()
        self._show_stream()

    def action_stream(self) -> None:
        """To the stream, and back to the keys."""
        self.set_class(not self.revisions.has_focus_within, "streaming")
        self.remove_class("reading")
        self._show_stream()
        self.focus_body()

    # -- the cursors

    def on_grid_moved(self, message: Grid.Moved) -> None:
        if message.grid is self.keys:
            self._show_value(message.key)
        elif message.key != message.grid.key:
            return  # rows came while it was on its way, and the cursor is elsewhere by now
        elif self.revisions.has_focus_within and message.grid.rows and message.key != message.grid.rows[0].key:
            if not self.stream.held:
                self.stream.hold()  # what is looked at is not carried away
                self._show_stream()
            self._show_written(message.key)

    def _show_written(self, id: str) -> None:
        row = self.stream.find(id)
        if row is not None:
            self.value.show_at(row.key, row.revision)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        """Fold or unfold what has keys below it; the value gets the focus."""
        if message.grid is self.keys and message.key.endswith("/"):
            self._folded ^= {message.key}
            self._show_keys()
            self._show_value(message.key)
            return
        if message.grid is not self.keys:
            self.stream.hold()
            self._show_stream()
            self._show_written(message.key)
            self.add_class("reading")
        self.value.focus()

    def action_walk(self, by: int) -> None:
        self.value.walk(by)

    def action_mark(self) -> None:
        self.value.mark()

    def action_go(self) -> None:
        """To the object that the key holds."""
        link: Link | None = self.value.link
        if link is not None:
            self.ktui.go_to(link)

    # -- the prefix

    def action_filter(self) -> None:
        if self.pane is not None:
            self.pane.open_filter()
            return
        field = self.query_one("#prefix", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._sought = KeyFilter.parse(event.value)
        self.refresh_keys()
        self._show_stream()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.focus_body()

    def leave_inside(self) -> None:
        self.remove_class("reading")

    def action_escape(self) -> None:
        if self.has_class("reading"):
            self.remove_class("reading")
        elif self.pane is None or not self.pane.close_filter():
            field = self.query_one("#prefix", Input)
            field.value = ""
            field.display = False
        self.focus_body()
