"""Which functions and macros Kubernetes has on, and since which release.

An expression that is new may speak only of what the release before knew, so that one can go back by a release; one that
is stored may speak of all (apiserver pkg/cel/environment: base.go, EnvSet). Optional types and comparisons of numbers
of several types, which are as old as the first release that counted so, are taken for known everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from engine.api.cel.conversions import conversions
from engine.api.cel.functions import Function, Library, joined
from engine.api.cel.library.addresses import addresses, urls
from engine.api.cel.library.authorization import authorization, selectors
from engine.api.cel.library.extended_lists import extended_lists
from engine.api.cel.library.lists import lists, sets
from engine.api.cel.library.named_formats import named_formats
from engine.api.cel.library.optionals import optionals
from engine.api.cel.library.quantities import quantities
from engine.api.cel.library.texts import later_texts, texts
from engine.api.cel.library.versions import versions
from engine.api.cel.macros import Macros
from engine.api.cel.operators import operators
from engine.api.cel.times import times

Release = tuple[int, int]
_ALWAYS = (1, 0)
_PAIRS, _SORTING = (1, 32), (1, 34)
_LIBRARIES: tuple[tuple[Release, Callable[[], Library]], ...] = (
    (_ALWAYS, operators), (_ALWAYS, conversions), (_ALWAYS, times), (_ALWAYS, texts), (_ALWAYS, lists),
    (_SORTING, extended_lists), (_ALWAYS, optionals), ((1, 28), quantities), ((1, 33), versions), (_ALWAYS, urls),
    ((1, 29), later_texts), ((1, 29), sets), ((1, 30), addresses), ((1, 31), named_formats),
    (_ALWAYS, authorization), ((1, 31), selectors),
)  # fmt: skip


@lru_cache(maxsize=16)
def functions(release: Release | None) -> Mapping[str, Function]:
    """Those that a new expression may call in a release; None for one that is stored."""
    return joined(*(library() for since, library in _LIBRARIES if _has(release, since)))


def macros(release: Release | None, *, binding: bool) -> Macros:
    return Macros(binding=binding, pairs=_has(release, _PAIRS), sorting=_has(release, _SORTING))


def _has(release: Release | None, since: Release) -> bool:
    return release is None or release > since
