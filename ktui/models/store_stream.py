"""The Store screen's stream: each revision as it was written, the newest first, and the comparisons that failed.

What the log tells of a revision comes together here with what the transactions tell of how it was decided (a write of
Kubernetes is a compare-and-swap: it happens only if the key is still at the revision that the writer has read) and with
who asked for it, which the spans know.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ktui.models.grid_row import GridRow
from ktui.models.keys import ALL_KEYS, ROOT, KeyFilter, size_text
from ktui.models.signs import DONE, WRONG

Json = Mapping[str, Any]
TITLES = ("REV", "OP", "KEY", "BY", "CAS", "SIZE")
KEPT = 1_000
DECISIONS_KEPT = 4_000
DELETED = "DELETE"
_TONES = {"create": "success", "delete": "error", "refused": "warning"}


def _nobody(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Written:
    """One row: a key as one revision wrote it, or a transaction whose comparison failed (then at the revision before
    which it came to nothing)."""

    id: str
    revision: int
    op: str
    key: str
    size: int = 0
    cause: str = ""
    expected: str = ""  # what a refused one compared with

    @property
    def is_refused(self) -> bool:
        return self.op == "refused"


@dataclass(slots=True)
class StoreStream:
    """`held` is the revision at which it was paused, 0 while it flows; `skipped` were passed over: they came too fast,
    or while nobody looked."""

    writer: Callable[[str], str] = _nobody  # of a cause
    revision: int = 0
    held: int = 0
    skipped: int = 0
    version: int = 0  # changes with everything that a reader could see
    _rows: deque[Written] = field(default_factory=lambda: deque(maxlen=KEPT))
    _expected: OrderedDict[int, str] = field(default_factory=OrderedDict)  # revision → what it compared with
    _refused: OrderedDict[str, None] = field(default_factory=OrderedDict)

    # -- in

    def take(self, log: Json, transactions: Iterable[Json]) -> None:
        """The log's entries after `revision`, and the newest transactions, of which some may be known."""
        rows = [*self._rows]
        known = self.revision
        rows += [_written(entry) for entry in log["entries"] if entry["revision"] > known]
        rows += [row for txn in transactions if (row := self._decided(txn)) is not None]
        rows.sort(key=lambda row: row.revision)
        self._rows = deque(rows, maxlen=KEPT)
        self.revision = max(known, log["revision"])
        self.version += 1

    def skip_to(self, revision: int) -> None:
        """What was written up to there is not going to be asked for."""
        if self.revision:
            self.skipped += max(0, revision - self.revision)
        self.revision = max(self.revision, revision)

    def _decided(self, txn: Json) -> Written | None:
        """Remember what a write compared with; a row for one that came to nothing, the first time it is told of."""
        if not txn["compare"]:
            return None
        compare = txn["compare"][0]
        if txn["succeeded"]:
            if txn["wrote"]:
                _remember(self._expected, txn["revision"], _comparison(compare))
            return None
        id = f"{txn['revision']} {txn['cause']} {compare['key']}"
        if id in self._refused:
            return None
        _remember(self._refused, id, None)
        return Written(id, txn["revision"], "refused", compare["key"], 0, txn["cause"], _comparison(compare))

    # -- out

    @property
    def newer(self) -> int:
        """Revisions that came since it was paused."""
        return max(0, self.revision - self.held) if self.held else 0

    def hold(self) -> None:
        self.held, self.version = self.held or self.revision, self.version + 1

    def flow(self) -> None:
        self.held, self.version = 0, self.version + 1

    def find(self, id: str) -> Written | None:
        return next((row for row in self._rows if row.id == id), None)

    def rows(self, sought: KeyFilter = ALL_KEYS) -> list[GridRow]:
        """Those of the keys that are sought, the newest first."""
        return [
            self._row(row)
            for row in reversed(self._rows)
            if sought.takes(row.key) and (not self.held or row.revision <= self.held)
        ]

    def _row(self, row: Written) -> GridRow:
        expected = row.expected or self._expected.get(row.revision, "")
        compared = f"{expected} {WRONG if row.is_refused else DONE}" if expected else ""
        revision = "" if row.is_refused else str(row.revision)
        size = size_text(row.size) if row.size else ""
        cells = (revision, row.op, row.key.removeprefix(ROOT), self.writer(row.cause), compared, size)
        return GridRow(row.id, cells, _TONES.get(row.op, "foreground"))


def _written(entry: Json) -> Written:
    op = "delete" if entry["type"] == DELETED else "create" if entry["version"] == 1 else "put"
    id = f"{entry['revision']}.{entry['sub']}"
    return Written(id, entry["revision"], op, entry["key"], entry["size"], entry["cause"])


def _comparison(compare: Json) -> str:
    """`mod = 1031` as `1031`; that there is no such key as `none`."""
    if compare["target"] == "mod" and compare["op"] == "=":
        return str(compare["value"] or "none")
    return f"{compare['target']} {compare['op']} {compare['value']}"


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    if len(known) > DECISIONS_KEPT:
        known.popitem(last=False)
