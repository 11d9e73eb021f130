"""The glyphs of ① to ⑫, each as wide as a cell: few fonts have ⑪ and ⑫, and those of others are too wide."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path

_FONT = Path(__file__).parent / "fonts" / "hop-numerals.woff2"


@cache
def numerals_face(family: str) -> str:
    """A rule of CSS that gives a family these glyphs, and no other."""
    data = b64encode(_FONT.read_bytes()).decode()
    return f"""    @font-face {{
        font-family: "{family}";
        src: url("data:font/woff2;base64,{data}") format("woff2");
        unicode-range: U+2460-246B;
    }}
"""
