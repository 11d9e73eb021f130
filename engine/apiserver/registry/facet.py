"""A subresource that is another view of its object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.api.errors import Cause
from engine.api.types import GVK, Object

SCALE = GVK("autoscaling", "v1", "Scale")

Check = Callable[[Object, Object], list[Cause]]


@dataclass(frozen=True, slots=True)
class Facet:
    """`show` makes the view of a frozen object; `take` makes a private object of a frozen one and a changed view.

    `check` stands in place of the kind's own update rules; None leaves those in force.
    """

    gvk: GVK
    show: Callable[[Object], Object]
    take: Callable[[Object, Object], Object]
    check: Check | None = None
    start: Callable[[Object], Object] | None = None  # the view that a patch starts from, where that is not `show`'s
