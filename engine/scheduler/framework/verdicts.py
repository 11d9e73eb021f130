"""What filters say of many nodes at once, kept as arrays: text is made only of what somebody reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.framework.status import SUCCESS, Code, Status

Rows = NDArray[np.intp]


class Verdicts(NamedTuple):
    """`codes[i]` indexes `statuses` for the i-th node asked about; 0 is success."""

    codes: NDArray[np.intp]
    statuses: list[Status]

    @classmethod
    def where(cls, failed: NDArray[np.bool_], status: Status) -> Verdicts:
        """One status for all nodes that fail."""
        return cls(failed.astype(np.intp), [SUCCESS, status])

    @property
    def code(self) -> Code:
        """Success where any node passes, else what was said of the first."""
        return self.statuses[int(self.codes[0])].code if len(self.codes) and self.codes.all() else Code.SUCCESS


class Rejection(NamedTuple):
    """What one plugin said of the nodes that it rejected."""

    plugin: str
    rows: Rows
    verdicts: Verdicts

    def without(self, dropped: NDArray[np.bool_]) -> Rejection:
        """Less the rows that are True in `dropped`, which has an entry for every node."""
        keep = ~dropped[self.rows]
        codes = self.verdicts.codes[keep]
        return Rejection(self.plugin, self.rows[keep], Verdicts(codes, self.verdicts.statuses))

    def counted(self) -> Iterator[tuple[Status, int]]:
        """Each status that occurs, with the number of nodes."""
        counts = np.bincount(self.verdicts.codes, minlength=len(self.verdicts.statuses))
        for status, count in zip(self.verdicts.statuses, counts.tolist(), strict=True):
            if count:
                yield status.by(self.plugin), count

    def by_name(self, names: Sequence[str]) -> dict[str, Status]:
        named = [status.by(self.plugin) for status in self.verdicts.statuses]
        pairs = zip(self.rows.tolist(), self.verdicts.codes.tolist(), strict=True)
        return {names[row]: named[code] for row, code in pairs}
