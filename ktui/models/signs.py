"""Signs that go with the colours, so that nothing is told by colour alone; bars; and short names."""

from __future__ import annotations

from ktui.models.words import plural

DONE, WAITING, WRONG, PAST, CLOCK, AGAIN = "✓", "◐", "✖", "·", "◷", "↻"
_FAILING = frozenset({"Failed", "Evicted", "OOMKilled", "InvalidImageName", "DeadlineExceeded", "ContainerCannotRun"})


def is_failing(reason: str) -> bool:
    """Whether a Pod or a container of that STATUS needs somebody: CrashLoopBackOff, ErrImagePull, Init:Error."""
    return any(sign in reason for sign in ("BackOff", "Err", "ExitCode:", "Signal:")) or reason in _FAILING


def short_pod(pod: str) -> str:
    """`namespace/name` without the default namespace."""
    return pod.removeprefix("default/")


def bar(share: float, width: int) -> str:
    """A share of one as a bar of `width` cells; whatever is more than nothing shows."""
    whole = round(max(0.0, min(1.0, share)) * width)
    return ("█" * (whole or int(share > 0))).ljust(width, "░")


def many(count: int, thing: str) -> str:
    """`1 list`, `2 watches`."""
    return f"{count} {thing if count == 1 else plural(thing)}"
