"""Pictures of the screen that show the hops' numbers wherever they are looked at: few fonts have ⑪ and ⑫."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from textual.app import App

_FONT = Path(__file__).parent / "fonts" / "hop-numerals.woff2"
_FAMILY = "font-family: Fira Code, monospace"  # of Rich's pictures
_WITH_NUMERALS = "font-family: Fira Code, hop-numerals, monospace"
_FACE = """<style>
    @font-face {{
        font-family: "hop-numerals";
        src: url("data:font/woff2;base64,{data}") format("woff2");
        unicode-range: U+2460-246B;
    }}
"""


class Pictured(App[str]):
    """The part of the app that draws it as SVG."""

    def export_screenshot(self, **options: Any) -> str:
        """As Textual's, with the glyphs of ① to ⑫ in it, each as wide as a cell."""
        picture = super().export_screenshot(**options)
        return picture.replace(_FAMILY, _WITH_NUMERALS).replace("<style>\n", _face(), 1)


@cache
def _face() -> str:
    return _FACE.format(data=b64encode(_FONT.read_bytes()).decode())
