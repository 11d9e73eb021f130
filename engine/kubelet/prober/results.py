"""Outcomes of probes (pkg/kubelet/prober/results)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ProbeType(StrEnum):
    LIVENESS = "liveness"
    READINESS = "readiness"
    STARTUP = "startup"

    @property
    def heading(self) -> str:
        return self.value.capitalize()

    @property
    def field(self) -> str:
        return f"{self.value}Probe"

    @property
    def initial(self) -> Result:
        """What counts before the first probe."""
        return _INITIAL[self]


class Result(StrEnum):
    UNKNOWN = "Unknown"
    SUCCESS = "Success"
    FAILURE = "Failure"


_INITIAL = {
    ProbeType.LIVENESS: Result.SUCCESS,
    ProbeType.READINESS: Result.FAILURE,
    ProbeType.STARTUP: Result.UNKNOWN,
}


class Outcome(NamedTuple):
    """One probe: its result, what the event says, and whether the probe itself went wrong."""

    result: Result
    output: str = ""
    errored: bool = False
