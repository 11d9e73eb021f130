"""Nothing that is shown can steer the terminal: names, messages and logs may hold any character.

`visible` puts a picture in the place of each control character, where room is reckoned in cells. `NoControls` takes
away what is left in any line of any widget, the last thing before the terminal.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

# C0 as the pictures that Unicode has for them, C1 and what turns the direction of the writing as a mark.
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(32)},
    **dict.fromkeys((*range(0x80, 0xA0), *_DIRECTIONS, 0x2028, 0x2029), "�"),
    0x7F: "␡",
    ord("\t"): " ",
}
_GONE = dict.fromkeys(_PICTURES)


def visible(text: str) -> str:
    return text if text.isprintable() else text.translate(_PICTURES)


class NoControls(LineFilter):
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment if segment.control else Segment(segment.text.translate(_GONE), segment.style)
            for segment in segments
        ]
