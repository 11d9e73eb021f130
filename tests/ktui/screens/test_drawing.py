"""What is drawn is what Textual would draw of it, with less done for it."""

from __future__ import annotations

import pytest
from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip

from ktui.screens.window import Window
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.key_line import KeyLine
from tests.ktui.screens.conftest import Show


def _lines(window: Window, compositor: type[Compositor]) -> list[str]:
    """The whole picture as a terminal would get it, put together in one way or the other."""
    own = window._compositor
    chops = compositor._render_chops(own, own.size.region, lambda y: True)
    console = window.app.console
    return [Strip.join(chop.values()).simplify().discard_meta().render(console) for chop in chops]


@pytest.mark.parametrize("keys", [(), ("2",), ("2", "d"), ("3",), ("6",), ("7",), ("9",), ("|",), ("2", "slash")])
async def test_the_picture_is_the_one_that_textual_puts_together(show: Show, keys: tuple[str, ...]) -> None:
    async with show() as driver:
        await driver.press("space", *keys)  # time stands still, so that no second row changes the picture
        window = driver.app.window
        assert _lines(window, type(window._compositor)) == _lines(window, Compositor)


async def test_only_what_changed_is_asked_to_draw_itself(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    async with show() as driver:
        await driver.press("space")
        asked: list[Region] = []
        draw = FlowCanvas.render_lines

        def draw_and_tell(canvas: FlowCanvas, crop: Region) -> list[Strip]:
            asked.append(crop)
            return draw(canvas, crop)

        monkeypatch.setattr(FlowCanvas, "render_lines", draw_and_tell)
        window = driver.app.window
        bar, keys, canvas = window.query_one("#bar"), window.query_one(KeyLine), window.query_one(FlowCanvas)
        compositor = window._compositor
        compositor._dirty_regions.clear()
        compositor._dirty_regions.update({bar.region, keys.region})
        compositor.render_update()
        assert asked == []
        compositor._dirty_regions.add(Region(canvas.region.x, canvas.region.y + 2, 5, 1))
        compositor.render_update()
        assert [(crop.y, crop.height) for crop in asked] == [(2, 1)]


@pytest.mark.parametrize("keys", [(), ("2",), ("2", "slash"), ("3",), ("6",), ("7",), ("colon",), ("2", "e")])
async def test_the_key_line_has_the_keys_that_textual_calls_active(show: Show, keys: tuple[str, ...]) -> None:
    async with show(size=(400, 40)) as driver:
        await driver.press(*keys)
        line = driver.app.screen.query(KeyLine).last()
        active = driver.app.screen.active_bindings.values()
        assert [(node, binding) for node, binding in line._active()] == [
            (key.node, key.binding) for key in active if key.binding.show and key.enabled
        ]


async def test_the_scrollbar_looks_as_textual_s(show: Show) -> None:
    async with show() as driver:
        bar = driver.app.window.query_one(FlowCanvas).vertical_scrollbar
        bar.set_reactive(type(bar).window_virtual_size, 400)
        for position in (0.0, 11.375, 200.0, 361.0):
            bar.position = position
            whole = Region(0, 0, 1, bar.size.height)
            bar.refresh()
            own, theirs = bar.render_lines(whole), super(type(bar), bar).render_lines(whole)
            console = driver.app.console
            assert [strip.render(console) for strip in own] == [strip.render(console) for strip in theirs]
            assert [strip.cell_length for strip in own] == [1] * bar.size.height


async def test_a_scrollbar_that_was_not_told_its_new_height_yet_is_drawn_in_full(show: Show) -> None:
    async with show() as driver:
        bar = driver.app.window.query_one(FlowCanvas).vertical_scrollbar
        bar.set_reactive(type(bar).window_virtual_size, 400)
        higher = Region(0, 0, 1, bar.size.height + 7)
        assert len(bar.render_lines(higher)) == higher.height
