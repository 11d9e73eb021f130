"""What volumes hold that are images, or other artifacts of a registry (KEP-4639). Nothing is pulled from anywhere, so
that only what kubernetes.io's page on them mounts has files; any other volume is an empty directory."""

from __future__ import annotations

from collections.abc import Mapping

from engine.disks import Volume
from engine.kubelet.runtime.reference import InvalidReferenceError, parse_reference

_ARTIFACTS: Mapping[str, Mapping[str, str]] = {"crio/artifact": {"dir/file": "1\n", "file": "2\n"}}


def image_volume(reference: str) -> Volume:
    """Read-only, as whoever mounts it finds it."""
    try:
        path = parse_reference(reference).path
    except InvalidReferenceError:
        path = ""
    return Volume(_ARTIFACTS.get(path), {"": 0o755}, read_only=True)
