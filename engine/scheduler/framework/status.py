"""What a plugin answers: a code and reasons for people (framework.Status). A rejection is a value."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3  # preempting other pods would not help
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """The code in upstream's spelling."""
        return _LABELS[self]


_LABELS = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending")
_REJECTED = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)


class Status:
    """`plugin` is filled in by the framework."""

    __slots__ = ("code", "plugin", "reasons")

    def __init__(self, code: Code, *reasons: str, plugin: str = "") -> None:
        self.code = code
        self.reasons = reasons
        self.plugin = plugin

    @property
    def ok(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def rejected(self) -> bool:
        return self.code in _REJECTED

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """The same status with the plugin that gave it."""
        return self if self.plugin == plugin else Status(self.code, *self.reasons, plugin=plugin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Status) and (self.code, self.reasons) == (other.code, other.reasons)

    def __hash__(self) -> int:
        return hash((self.code, self.reasons))

    def __repr__(self) -> str:
        return f"<{self.code.label} {self.message!r}{f' by {self.plugin}' if self.plugin else ''}>"


class PluginError(Exception):
    """A plugin broke at a point where that ends the whole attempt; the message is the attempt's."""


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def error(message: str) -> Status:
    return Status(Code.ERROR, message)


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, *reasons)


def unresolvable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, *reasons)
