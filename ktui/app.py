"""The Textual app: composes, routes and binds; what it shows is in `screens/`, what it learns in `feeds/`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType

from engine.api.errors import ApiError
from engine.client.informer import InformerFactory
from ktui.feeds import summary as summary_feed
from ktui.feeds import trace as trace_feed
from ktui.screens.flow import FlowScreen
from ktui.screens.frame import FrameScreen
from ktui.session import Session
from ktui.themes import DEFAULT_THEME, load_themes

RECONNECT_SECONDS = 1.0


class KtuiApp(App[None]):
    """The screen of one session."""

    TITLE = "ktui"
    CSS_PATH: ClassVar[Path] = Path(__file__).parent / "app.tcss"
    MODES: ClassVar[dict[str, type[FlowScreen]]] = {"flow": FlowScreen}
    DEFAULT_MODE = "flow"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "switch_mode('flow')", "Flow", show=False),
        Binding("space", "toggle_pause", "Pause"),
        Binding("q", "leave", "Leave"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.informers = InformerFactory(session.client, session.world)
        for theme in load_themes():
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    def on_mount(self) -> None:
        self.follow_trace()
        self.follow_summary()

    @work(exclusive=True, group="trace")
    async def follow_trace(self) -> None:
        """Feed the Flow screen; connect again for as long as the app lives."""
        after = 0
        while True:
            try:
                async for spans in trace_feed.follow(self.session.client, after=after):
                    after = spans[-1]["sequence"]
                    for screen in self.screen_stack:
                        if isinstance(screen, FlowScreen):
                            screen.take(spans)
            except (ConnectionError, ApiError):
                after = 0  # another engine may answer, whose count starts again
            await self.session.world.clock.sleep(RECONNECT_SECONDS)

    @work(exclusive=True, group="summary")
    async def follow_summary(self) -> None:
        async for summary in summary_feed.follow(self.session, self.informers):
            if isinstance(self.screen, FrameScreen):
                self.screen.show_summary(summary)

    async def action_toggle_pause(self) -> None:
        status = await self.session.client.request("GET", "/debug/ktui/clock")
        action = "resume" if status["mode"] == "paused" else "pause"
        await self.session.client.request("PUT", "/debug/ktui/clock", body={"action": action})

    async def action_leave(self) -> None:
        self.exit()
