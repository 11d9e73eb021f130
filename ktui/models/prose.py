"""A table cell that is a sentence: where there is no room for it, its end goes, while a name loses its middle."""

from __future__ import annotations


class Prose(str):
    """What reads from its beginning."""

    __slots__ = ()
