"""Pictures of the screen that show the hops' numbers wherever they are looked at: few fonts have ⑪ and ⑫."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from textual.app import App

from ktui.numerals import numerals_face

_FAMILY = "font-family: Fira Code, monospace"  # of Rich's pictures
_NUMERALS = "hop-numerals"
_WITH_NUMERALS = f"font-family: Fira Code, {_NUMERALS}, monospace"


class Pictured(App[str]):
    """The part of the app that draws it as SVG."""

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """As Textual's, with the glyphs of ① to ⑫ in it, each as wide as a cell.

        Rich's styles keep the codes by which they were first shown. Textual's has them work out those of true colour,
        which a terminal of 256 colours would then be sent; a picture needs none.
        """
        width, height = self.size
        console = Console(
            width=width,
            height=height,
            file=StringIO(),
            force_terminal=True,
            color_system=None,
            record=True,
            legacy_windows=False,
            safe_box=False,
        )
        shown = self.screen._compositor.render_update(
            full=True, screen_stack=self._background_screens, simplify=simplify
        )
        console.print(shown)
        picture = console.export_svg(title=title or self.title)
        return picture.replace(_FAMILY, _WITH_NUMERALS).replace("<style>\n", f"<style>\n{numerals_face(_NUMERALS)}", 1)
