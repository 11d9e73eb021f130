"""Symbolic links, as the kernel goes by them (path_resolution(7)): each part of a path may lead elsewhere."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

# After so many the kernel takes it for a loop.
MOST = 40


def followed(path: str, link_at: Callable[[str], str | None], *, last: bool = True) -> str:
    """Where an absolute path leads; `last` says whether its last part is followed too. A path that never comes to an
    end is given back as it is: nothing is there."""
    where = path
    for _ in range(MOST):
        if (onwards := _one(where, link_at, last=last)) is None:
            return where
        where = onwards
    return path


def _one(path: str, link_at: Callable[[str], str | None], *, last: bool) -> str | None:
    """The path behind the first link in it; None where none is."""
    at = path.find("/", 1)
    while at >= 0:
        if (target := link_at(path[:at])) is not None and (last or path[at:].strip("/")):
            return leads(path[:at], target) + path[at:]
        at = path.find("/", at + 1)
    target = link_at(path) if last else None
    return None if target is None else leads(path, target)


def leads(path: str, target: str) -> str:
    """What a link at a path says, from the root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
