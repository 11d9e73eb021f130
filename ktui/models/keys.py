"""The Store screen's rows: etcd's keys as the debug endpoint lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ktui.models.grid_row import GridRow

ROOT = "/registry/"
TITLES = ("KEY", "CREATE", "MOD", "VER", "SIZE", "LEASE")


def size_text(size: int) -> str:
    return f"{size / 1024:.1f} K" if size >= 1000 else str(size)


def key_rows(keys: Iterable[Mapping[str, Any]], newest: int) -> list[GridRow]:
    """One row a key; what changed with the newest revision is lit."""
    return [
        GridRow(
            key["key"],
            (
                key["key"].removeprefix(ROOT),
                str(key["createRevision"]),
                str(key["modRevision"]),
                str(key["version"]),
                size_text(key["size"]),
                f"{key['lease']:x}"[-8:] if key["lease"] else "",
            ),
            "accent" if key["modRevision"] == newest else "foreground",
        )
        for key in keys
    ]


def key_line(key: Mapping[str, Any]) -> str:
    """What etcd knows of one key-value, in a line."""
    lease = f" · lease {key['lease']:x}" if key["lease"] else ""
    return (
        f"create {key['createRevision']} · mod {key['modRevision']} · ver {key['version']} · "
        f"{size_text(key['size'])}{lease}"
    )


def older(revisions: Iterable[int], shown: int) -> int:
    """The revision before the one that is shown; 0 for none."""
    return max((revision for revision in revisions if revision < shown), default=0)


def newer(revisions: Iterable[int], shown: int) -> int:
    return min((revision for revision in revisions if revision > shown), default=0)
