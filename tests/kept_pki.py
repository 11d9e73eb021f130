"""A cluster's certificates, kept in a folder as a start of `engine.serve` leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from engine.pki import ClusterPki


def kept_pki(folder: Path, hosts: Sequence[str], now: datetime) -> ClusterPki:
    """Those that the folder has, and what it lacks or what has expired made and written."""
    pki = ClusterPki.prepare(folder, hosts, now)
    pki.write(folder)
    return pki
