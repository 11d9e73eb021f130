"""What the screen is attached to: a client of one engine, and how that engine may be stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.client import Client
from engine.world import World


@dataclass(frozen=True, slots=True)
class Session:
    """`stop_engine` ends the engine; None where it is not this person's to end (an attached URL, a test)."""

    name: str
    client: Client
    world: World  # the screen's own: its clock is this machine's
    kubeconfig: Path | None = None
    stop_engine: Callable[[], None] | None = None
