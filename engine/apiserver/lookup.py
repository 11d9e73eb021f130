"""Reading objects by name from inside the API server: its own loopback, as admission and subresources need it."""

from __future__ import annotations

from typing import Protocol

from engine.api.types import GVR, Object


class Lookup(Protocol):
    """Answers with the newest state, or None. What it hands out is frozen."""

    async def find(self, gvr: GVR, namespace: str, name: str) -> Object | None: ...
