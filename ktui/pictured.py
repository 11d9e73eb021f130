"""Pictures of the screen that show the hops' numbers wherever they are looked at: few fonts have ⑪ and ⑫."""

from __future__ import annotations

from typing import Any

from textual.app import App

from ktui.numerals import numerals_face

_FAMILY = "font-family: Fira Code, monospace"  # of Rich's pictures
_NUMERALS = "hop-numerals"
_WITH_NUMERALS = f"font-family: Fira Code, {_NUMERALS}, monospace"


class Pictured(App[str]):
    """The part of the app that draws it as SVG."""

    def export_screenshot(self, **options: Any) -> str:
        """As Textual's, with the glyphs of ① to ⑫ in it, each as wide as a cell."""
        picture = super().export_screenshot(**options)
        return picture.replace(_FAMILY, _WITH_NUMERALS).replace("<style>\n", f"<style>\n{numerals_face(_NUMERALS)}", 1)
