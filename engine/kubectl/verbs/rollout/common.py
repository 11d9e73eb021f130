"""What the `rollout` commands have in common."""

from __future__ import annotations

from engine.kubectl.errors import CommandError
from engine.kubectl.selection import Selection
from engine.kubectl.session import Session


def selected(session: Session) -> Selection:
    """The workloads that a command names. Raises CommandError where it names none."""
    if not session.arguments and not session.from_files:
        raise CommandError("required resource not specified")
    selection = Selection.of_flags(session)
    selection.whole_types = True
    selection.typed = True
    return selection


def nothing_found(session: Session, count: int) -> None:
    if not count:
        session.err(f"No resources found in {session.namespace} namespace.")
