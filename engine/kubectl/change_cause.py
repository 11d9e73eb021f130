"""`--record`: the command that caused a change is kept at the object, where `rollout history` reads it.

Deprecated since 1.15 and still there, so that older tutorials work.

Source of the behaviour: cli-runtime pkg/genericclioptions/record_flags.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.kubectl.flags import Flag, Type

if TYPE_CHECKING:
    from engine.kubectl.session import Session

ANNOTATION = "kubernetes.io/change-cause"
RECORD = (Flag("record", Type.BOOL, hidden=True, deprecated="--record will be removed in the future"),)


def recorded(session: Session, obj: Object) -> Object:
    """The object, with the command in its annotations where `--record` asks for it."""
    if not session.flags.on("record"):
        return obj
    metadata = obj.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), ANNOTATION: _command(session)}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def record_patch(session: Session) -> Object | None:
    """A merge patch that keeps the command, for what is changed in another way than by its whole."""
    return {"metadata": {"annotations": {ANNOTATION: _command(session)}}} if session.flags.on("record") else None


def _command(session: Session) -> str:
    """The words first, then the flags as they came, each by its long name."""
    flags = [f"--{name}={value}" for name, value in session.flags.typed]
    return " ".join([session.path, *session.arguments, *flags])
