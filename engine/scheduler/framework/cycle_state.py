"""What plugins keep for one scheduling attempt (framework.CycleState): written at PreFilter or PreScore, read after."""

from __future__ import annotations

from typing import Protocol, TypeVar, cast


class StateData(Protocol):
    """A plugin's data; `clone` gives preemption a copy that adding and removing pods may change."""

    def clone(self) -> StateData: ...


T = TypeVar("T")


class CycleState:
    def __init__(self) -> None:
        self._data: dict[str, StateData] = {}
        self.skip_filter: set[str] = set()  # plugins whose PreFilter said Skip
        self.skip_score: set[str] = set()  # plugins whose PreScore said Skip
        self.skip_pre_bind: set[str] = set()  # plugins whose PreBindPreFlight said Skip
        self.plugins_measured = False  # whether this attempt is one whose plugins /metrics tells of

    def write(self, key: str, data: StateData) -> None:
        self._data[key] = data

    def read(self, key: str, kind: type[T]) -> T:
        """Raises KeyError if nothing was written, which is a plugin's bug."""
        return cast("T", self._data[key])

    def get(self, key: str, kind: type[T]) -> T | None:
        return cast("T | None", self._data.get(key))

    def clone(self) -> CycleState:
        twin = CycleState()
        twin._data = {key: data.clone() for key, data in self._data.items()}
        twin.skip_filter = set(self.skip_filter)
        twin.skip_score = set(self.skip_score)
        twin.skip_pre_bind = set(self.skip_pre_bind)
        return twin
