"""A table cell whose characters have a colour each; without the colours it still reads by its signs."""

from __future__ import annotations


class Tiles(str):
    """`tones` has a theme variable for each of the first characters; the rest is as the row is."""

    tones: tuple[str, ...]

    def __new__(cls, text: str, tones: tuple[str, ...] = ()) -> Tiles:
        made = super().__new__(cls, text)
        made.tones = tones
        return made
