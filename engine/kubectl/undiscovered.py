"""What a command says where no server answers what it knows: one line of klog for each time that kubectl would ask.

kubectl asks anew for each question that it has of the same word, so that commands differ in how often they say it.

Source of the behaviour: client-go discovery/cached/memory (memcache.go), cli-runtime pkg/resource (builder.go).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.golang.text import quoted
from engine.client.unreachable import UnreachableError

PLACE = "memcache.go:381"
_MAPPING = 4  # questions of the builder about one resource: twice what it is, twice of which kind
_CATEGORY = 1  # and whether the word stands for several, which TYPE/NAME cannot
# Commands that know the kind themselves, or ask the builder nothing, or ask once more than it.
_TIMES = {"cluster-info dump": 0, "cp": 0, "api-resources": 1, "api-versions": 1, "run": 1, "auth can-i": 2}
_TIMES |= {"create clusterrole": 2, "create role": 2, "events": 2, "explain": 2, "taint": 2, "cluster-info": 5}
# Commands whose words are names of a kind that they know.
_NAMES = frozenset(("attach", "certificate", "cordon", "create", "debug", "drain", "exec", "logs"))
_NAMES |= {"port-forward", "uncordon"}


class UndiscoveredError(UnreachableError):
    """Nobody says what the server knows."""


def times(words: Sequence[str], arguments: Sequence[str]) -> int:
    """How often a command asks; `words` are those of the command itself, as in `auth can-i`."""
    for name in (" ".join(words[:2]), words[0]):
        if name in _TIMES:
            return _TIMES[name]
    first = arguments[0] if arguments else ""
    if words[0] in _NAMES or "/" in first:
        return _MAPPING
    return len(first.split(",")) * _CATEGORY + _MAPPING


def line(error: UnreachableError) -> str:
    """What is told each time."""
    return f'"Couldn\'t get current server API group list" err={quoted(error.cause)}'
