"""The Textual app: composes, routes and binds; what it shows is in `screens/`, what it learns in `feeds/`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TextIO

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from engine.api.errors import ApiError
from engine.client.factory import InformerFactory
from engine.kubectl.discovery import Discovery, NoMatchError, Resource
from engine.kubectl.main import run as run_kubectl
from engine.kubectl.tree import ROOT
from ktui.feeds import summary as summary_feed
from ktui.feeds import trace as trace_feed
from ktui.models.flow import FlowModel
from ktui.models.routes import Kubectl, Leave, Mistyped, ToEditor, ToResource, ToScreen, route
from ktui.screens.editor import Editor
from ktui.screens.flow import FlowScreen
from ktui.screens.frame import SCREENS, FrameScreen
from ktui.screens.objects import ObjectsScreen
from ktui.screens.output import Output
from ktui.screens.store import StoreScreen
from ktui.session import Session
from ktui.themes import DEFAULT_THEME, load_themes
from ktui.widgets.command_line import CommandLine
from ktui.widgets.dialogs import Question

RECONNECT_SECONDS = 1.0
VERBS = frozenset(name for command in ROOT.children for name in (command.name, *command.aliases))


class KtuiApp(App[None]):
    """The screen of one session."""

    TITLE = "ktui"
    CSS_PATH: ClassVar[Path] = Path(__file__).parent / "app.tcss"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "flow": FlowScreen,
        "objects": ObjectsScreen,
        "store": StoreScreen,
    }
    DEFAULT_MODE = "flow"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"switch_mode('{mode}')", title, show=False)
            for number, (mode, title) in enumerate(SCREENS.items(), start=1)
        ),
        Binding("colon", "command", "Command", key_display=":"),
        Binding("space", "toggle_pause", "Pause"),
        Binding("s", "step", "Step"),
        Binding("q", "leave", "Leave"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.history: list[str] = []
        self.discovery = Discovery()
        self.flow = FlowModel()
        self.informers = InformerFactory(session.client, session.world)
        for theme in load_themes():
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    def on_mount(self) -> None:
        self.follow_trace()
        self.follow_summary()

    async def on_unmount(self) -> None:
        await self.informers.stop()

    # -- what the engine tells

    @work(exclusive=True, group="trace")
    async def follow_trace(self) -> None:
        """Feed the Flow screen; connect again for as long as the app lives."""
        after = 0
        while True:
            try:
                async for spans in trace_feed.follow(self.session.client, after=after):
                    after = spans[-1]["sequence"]
                    self.flow.add(spans)
            except (ConnectionError, ApiError):
                after = 0  # another engine may answer, whose count starts again
            await self.session.world.clock.sleep(RECONNECT_SECONDS)

    @work(exclusive=True, group="summary")
    async def follow_summary(self) -> None:
        async for summary in summary_feed.follow(self.session, self.informers):
            if isinstance(self.screen, FrameScreen):
                self.screen.show_summary(summary)

    # -- the clock

    async def _steer_clock(self, action: str) -> None:
        try:
            await self.session.client.request("PUT", "/debug/ktui/clock", body={"action": action})
        except (ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error", title="clock")

    async def action_toggle_pause(self) -> None:
        try:
            clock = await self.session.client.request("GET", "/debug/ktui/clock")
        except (ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error", title="clock")
            return
        await self._steer_clock("resume" if clock["mode"] == "paused" else "pause")

    async def action_step(self) -> None:
        """Pause and jump to the next thing that is due."""
        await self._steer_clock("step")

    # -- the command line

    def action_command(self) -> None:
        if isinstance(self.screen, FrameScreen):
            self.screen.open_command_line()

    def on_command_line_entered(self, message: CommandLine.Entered) -> None:
        match route(message.text, screens=SCREENS, verbs=VERBS):
            case ToScreen(mode):
                self.switch_mode(mode)
            case ToResource(word):
                self.open_resource(word)
            case ToEditor(arguments):
                self.open_editor(arguments)
            case Leave():
                self.action_leave()
            case Kubectl(argv):
                self.push_screen(Output(message.text, lambda out, err: self._kubectl(argv, out, err)))
            case Mistyped(problem):
                self.notify(problem, severity="warning")

    async def _kubectl(self, argv: tuple[str, ...], stdout: TextIO, stderr: TextIO) -> int:
        return await run_kubectl(
            argv,
            client=self.session.client,
            stdout=stdout,
            stderr=stderr,
            clock=self.session.world.clock,
            discovery=self.discovery,
            program="kubectl",
        )

    async def _resolve(self, word: str) -> Resource | None:
        try:
            return await self.discovery.resolve(self.session.client, word)
        except (NoMatchError, ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error")
            return None

    @work(exclusive=True, group="open")
    async def open_resource(self, word: str) -> None:
        """Show a resource by any of its names."""
        resource = await self._resolve(word)
        if resource is not None:
            await self.switch_mode("objects")
            assert isinstance(self.screen, ObjectsScreen)
            self.screen.show_resource(resource.gvr, namespaced=resource.namespaced)

    @work(exclusive=True, group="open")
    async def open_editor(self, arguments: tuple[str, ...]) -> None:
        """`edit deployment/web` or `edit deployment web`, in the default namespace."""
        kind, _, name = " ".join(arguments).replace("/", " ").partition(" ")
        resource = await self._resolve(kind)
        if resource is None:
            return
        try:
            obj = await self.session.client.get(
                resource.gvr, name, namespace="default" if resource.namespaced else None
            )
        except (ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error")
            return
        await self.push_screen_wait(Editor(self.session.client, resource.gvr, obj))

    # -- leaving

    @work(exclusive=True, group="leave")
    async def action_leave(self) -> None:
        """Leave; where the engine is this person's, ask whether it goes on."""
        stop = self.session.stop_engine
        if stop is not None:
            answer = await self.push_screen_wait(
                Question(
                    f"Leave ktui. What becomes of cluster {self.session.name}?",
                    {"k": "Keep it running", "s": "Stop it"},
                )
            )
            if not answer:
                return
            if answer == "s":
                stop()
        self.exit()
