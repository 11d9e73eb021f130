"""The value of one key: now or at any revision, what has changed since the one before, or since a marked one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.widgets import Static

from engine.api.errors import ApiError
from engine.client import Client
from ktui.feeds import store as store_feed
from ktui.guard import Guarded
from ktui.models.key_history import SHOWN, KeyAt
from ktui.models.keys import key_line
from ktui.models.link import Link
from ktui.widgets import hop_details
from ktui.widgets.ink import inks
from ktui.widgets.scrolled import Scrolled
from ktui.widgets.syntax import yaml_text

HINT = "[ older ] newer m mark"


class KeyValue(Guarded, Scrolled):
    """`show_newest`, `show_at` and `walk` ask the store; `shown` is what is looked at, as far as it has come."""

    DEFAULT_CSS = """
    KeyValue { padding: 0 1; scrollbar-size: 1 1; height: 1fr; }
    KeyValue > Static { width: auto; min-width: 100%; }
    """

    def __init__(self, client: Client, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._client = client
        self._key = ""
        self._at = 0  # the revision that is asked for, or walked to; 0 for the newest
        self._steps = 0  # that are still to be walked
        self.shown: KeyAt | None = None
        self._marked: dict[str, int] = {}  # key → the revision that its others are compared with

    def compose(self) -> ComposeResult:
        yield Static("")

    @property
    def key(self) -> str:
        return self._key

    @property
    def link(self) -> Link | None:
        """To the object of the key."""
        shown = self.shown
        value = shown.found or shown.against if shown is not None else None
        return Link.of_object(value["value"]) if value is not None else None

    def redraw(self) -> None:
        """In the colours of another theme."""
        if self.shown is not None:
            self._show(self.shown)

    def say(self, title: str, lines: Sequence[str]) -> None:
        """Show no key but words."""
        self._key, self._at, self._steps, self.shown = "", 0, 0, None
        self.workers.cancel_group(self, "value")
        self.query_one(Static).update(Text("\n").join([Text(title, "bold"), *(Text(line, "dim") for line in lines)]))

    # -- which revision

    def show_newest(self, key: str) -> None:
        """Who walks through a key's values goes on from where he is."""
        if key != self._key or not self._steps:
            self.show_at(key, 0)

    def show_at(self, key: str, revision: int) -> None:
        """0 for the newest."""
        self._key, self._at, self._steps = key, revision, 0
        self._show_there()

    @work(exclusive=True, group="value", exit_on_error=False)
    async def _show_there(self) -> None:
        await self._look(self._key, self._at)

    def walk(self, by: int) -> None:
        """So many values further, back for less than 0: also where those before are still being asked for."""
        if self._key:
            self._steps += by
            self._walk(self._key)

    @work(exclusive=True, group="value", exit_on_error=False)
    async def _walk(self, key: str) -> None:
        try:
            if not self._at:
                newest = await self._value(key, 0)
                self._at = newest["modRevision"] if newest is not None else 0
            while self._steps:
                by = 1 if self._steps > 0 else -1
                reached = await self._beside(key, self._at, by)
                if not reached:
                    self._steps = 0
                    self.notify("that is as far as it goes", timeout=1.5)
                    break
                self._at, self._steps = reached, self._steps - by
        except (ApiError, ConnectionError) as error:
            self._complain(error)
            return
        await self._look(key, self._at)

    async def _beside(self, key: str, revision: int, by: int) -> int:
        """The revision of the value before or after the one at a revision; 0 for none."""
        if by > 0:
            shown = self.shown
            is_newest = shown is not None and shown.is_newest and shown.revision == revision
            return 0 if is_newest else await self._next(key, revision)
        found = await store_feed.before(self._client, key, revision)
        return int(found["modRevision"]) if found is not None else 0

    async def _next(self, key: str, revision: int) -> int:
        """From a revision that is no longer kept to the oldest that is."""
        oldest = await self._oldest()
        return oldest if revision < oldest else await store_feed.next_revision(self._client, key, revision)

    async def _oldest(self) -> int:
        return int((await store_feed.status(self._client))[0]["compact_revision"])

    def mark(self) -> None:
        """Compare all others of the key with the one that is shown; again: each with the one before."""
        shown = self.shown
        if shown is None or shown.found is None:
            return
        if self._marked.get(shown.key) == shown.revision:
            del self._marked[shown.key]
            self.notify("each is compared with the one before", timeout=1.5)
        else:
            self._marked[shown.key] = shown.revision
            self.notify(f"all others are compared with rev {shown.revision}", timeout=1.5)
        self.show_at(shown.key, shown.revision)

    # -- asking and showing

    async def _look(self, key: str, revision: int) -> None:
        """Show a key at a revision, 0 for the newest: first its value, then, when it has come, what it was before."""
        try:
            newest = await self._value(key, 0)
            found = newest if not revision else await self._value(key, revision)
            at = revision or (found["modRevision"] if found is not None else 0)
            is_newest = found is not None and newest is not None and found["modRevision"] == newest["modRevision"]
            marked = self._marked.get(key, 0)
            shown = KeyAt(key, at, found, is_newest, (), await self._value(key, marked) if marked else None)
            self._show(shown)
            # One more than is shown: it tells who wrote the one after it.
            older = await store_feed.history(self._client, key, found, at, most=SHOWN + 1)
        except (ApiError, ConnectionError) as error:
            if isinstance(error, ApiError) and error.code == 410:
                self._tell(f"rev {revision} is compacted and no longer kept · ] shows the oldest that is")
            else:
                self._complain(error)
            return
        self._show(KeyAt(key, at, found, is_newest, older, shown.marked))

    async def _value(self, key: str, revision: int) -> dict[str, Any] | None:
        """None where there was no such key then."""
        try:
            found: dict[str, Any] = await store_feed.value(self._client, key, revision)
        except ApiError as error:
            if error.code != 404:
                raise
            return None
        return found

    def _complain(self, error: Exception) -> None:
        self._tell(str(error))

    def _tell(self, problem: str) -> None:
        lines = [self._key, *wrap(f"✖ {problem}", max(20, self.scrollable_content_region.width))]
        self.query_one(Static).update(Text("\n".join(lines), inks(self.app).get("error", "")))

    def _show(self, shown: KeyAt) -> None:
        is_another = self.shown is None or self.shown.key != shown.key
        self.shown, self._at = shown, shown.revision
        self.query_one(Static).update(Group(*self._parts(shown)))
        if is_another:
            self.scroll_home(animate=False)

    def _parts(self, shown: KeyAt) -> Iterator[RenderableType]:
        colours = inks(self.app)
        yield Text(shown.key, "bold")
        if shown.found is not None:
            yield Text(key_line(shown.found), "dim")
        else:
            yield Text(f"✖ deleted at rev {shown.revision}", colours.get("error", ""))
        where = "the newest" if shown.is_newest else f"rev {shown.revision}"
        yield Text(f"{where} · {HINT}", colours.get("accent", ""), no_wrap=True)
        for revision, version, by in shown.history:
            is_shown = shown.found is not None and revision == shown.found["modRevision"]
            line = f"{'▸' if is_shown else ' '} rev {revision}  ver {version}  {by}"
            yield Text(line, "bold" if is_shown else "dim", no_wrap=True, overflow="ellipsis")
        if shown.against is not None:
            words = "marked rev" if shown.marked is shown.against else "rev"
            yield Text(f"\nagainst {words} {shown.against['modRevision']}", "bold")
            after = shown.found["value"] if shown.found is not None else None
            yield from hop_details.changes(shown.against["value"], after, colours)
        if shown.found is not None:
            yield Text("")
            yield yaml_text(hop_details.dump(hop_details.shown_object(shown.found["value"])), colours)
