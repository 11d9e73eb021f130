"""The Store screen's rows: etcd's keys as the debug endpoint lists them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ktui.models.grid_row import GridRow

TITLES = ("KEY", "CREATE", "MOD", "VER", "SIZE", "LEASE")


def size_text(size: int) -> str:
    return f"{size / 1024:.1f} K" if size >= 1000 else str(size)


def key_rows(keys: Iterable[dict[str, Any]], newest: int) -> list[GridRow]:
    """One row a key; what changed with the newest revision is lit."""
    return [
        GridRow(
            key["key"],
            (
                key["key"].removeprefix("/registry/"),
                str(key["create_revision"]),
                str(key["mod_revision"]),
                str(key["version"]),
                size_text(key["size"]),
                f"{key['lease']:x}" if key["lease"] else "",
            ),
            "accent" if key["mod_revision"] == newest else "foreground",
        )
        for key in keys
    ]
