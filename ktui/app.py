"""The Textual app: composes, routes and binds; what it shows is in `screens/`, what it learns in `feeds/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.filter import LineFilter, Monochrome

from ktui import export
from ktui.collector import Collector
from ktui.colourless import NoColours
from ktui.feeds import trace as trace_feed
from ktui.feeds.names import Names
from ktui.forwards import Forwards
from ktui.guard import Guarded, told
from ktui.haste import Haste
from ktui.job_control import JobControl
from ktui.keymap import clashes, unknown_names
from ktui.line_filter import Joined
from ktui.listening import Listening
from ktui.models.completion import complete
from ktui.models.dashboard import DashboardModel
from ktui.models.flow import FlowModel
from ktui.models.routes import (
    Export,
    Kubectl,
    Leave,
    Mistyped,
    Own,
    Revive,
    Split,
    Steer,
    ToAliases,
    ToEditor,
    ToForwards,
    ToHelp,
    ToNamespace,
    ToObject,
    ToResource,
    ToScreen,
    ToTheme,
    ToTree,
    Tour,
    Unsplit,
    route,
)
from ktui.models.summary import ClusterSummary
from ktui.palette import Commands
from ktui.pictured import Pictured
from ktui.screens.catalogue import CATALOGUE, SCREENS, Entry, load_all
from ktui.screens.help import Help
from ktui.screens.output import Output
from ktui.screens.too_small import TooSmall, cover
from ktui.screens.window import Window
from ktui.session import Session
from ktui.settings import Settings
from ktui.steered import Steered
from ktui.themes import DEFAULT_THEME, load_themes
from ktui.touring import Touring
from ktui.visible import NoControls
from ktui.widgets.command_line import CommandLine
from ktui.widgets.dialogs import Choice, Question

BACK, FORWARD = "back to where one came from", "to where one came back from"

SETTLED_SECONDS = 3.0  # an engine that was just started has enough to do


class KtuiApp(Guarded, JobControl, Pictured, Listening, Steered, Touring, Forwards):
    """The screen of one session. What it returns is why it could not go on, "" where the person left."""

    TITLE = "ktui"
    CSS_PATH: ClassVar[Path] = Path(__file__).parent / "app.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Commands}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                entry.key, f"show_mode('{entry.name}')", f"{entry.title} screen", show=False, id=f"screen.{entry.name}"
            )
            for entry in CATALOGUE
        ),
        Binding(
            "space,f9", "toggle_pause", "Pause", tooltip="pause the engine's clock, or let it go on", id="clock.pause"
        ),
        Binding(
            "s,full_stop",
            "step",
            "Step",
            tooltip="pause, and go on to the next hop",
            id="clock.step",
        ),
        Binding("plus", "faster", "Faster", key_display="+", show=False, id="clock.faster"),
        Binding("minus", "slower", "Slower", key_display="-", show=False, id="clock.slower"),
        Binding(
            "vertical_line",
            "split",
            "Split",
            key_display="|",
            tooltip="two screens, or one again",
            id="frame.split",
        ),
        Binding(
            "ctrl+w,f6",
            "other_half",
            "Other half",
            show=False,
            tooltip="to the other of two screens",
            id="frame.other-half",
        ),
        Binding("left_square_bracket", "go_back", "Back", show=False, id="frame.back-too", tooltip=BACK),
        Binding("right_square_bracket", "go_forward", "Forward", show=False, id="frame.forward", tooltip=FORWARD),
        Binding("colon", "command", "Command", key_display=":", id="frame.command"),
        Binding("question_mark", "keys", "Help", key_display="?", id="frame.help"),
        Binding("n", "namespace", "Namespace", show=False, tooltip="choose a namespace", id="frame.namespace"),
        Binding("0", "all_namespaces", "All namespaces", show=False, id="frame.all-namespaces"),
        Binding("ctrl+a", "aliases", "Resources", show=False, tooltip="choose a resource to list", id="frame.aliases"),
        Binding(
            "f8",
            "forwards",
            "Forwarded ports",
            show=False,
            tooltip="the ports that are forwarded, and an end to them",
            id="frame.forwards",
        ),
        Binding("ctrl+s", "export", "Picture", show=False, tooltip="write the screen as an SVG", id="frame.export"),
        Binding("T", "next_theme", "Next theme", show=False, id="frame.theme"),
        Binding(
            "ctrl+z",
            "suspend_process",
            "To the shell",
            show=False,
            priority=True,
            tooltip="fg comes back",
            id="frame.suspend",
        ),
        Binding("q", "leave", "Leave", id="frame.leave"),
        Binding(
            "ctrl+c", "leave_now", "Leave at once; the cluster goes on", show=False, priority=True, id="frame.leave-now"
        ),
    ]

    def __init__(
        self,
        session: Session,
        *,
        collector: Collector | None = None,
        settings: Settings | None = None,
        screen: str = "",
    ) -> None:
        """`collector` is given where the process is the screen's own, `settings` where a person's are to be used."""
        super().__init__()
        self.session = session
        self.settings = settings or Settings()
        keys = self.settings.keys
        self.tabs: tuple[Entry, ...] = tuple(  # what stands below the bar, with the keys that lead there
            replace(entry, key=keys.get(f"screen.{entry.name}", entry.key).partition(",")[0]) for entry in CATALOGUE
        )
        self.namespace = ""  # of what Objects shows; "" for all
        self._first_screen = screen or CATALOGUE[0].name
        self._collector = collector
        self._own_filters = (NoControls(), *((NoColours(),) if self.no_color else ()))
        self._joined = Joined(self._own_filters)
        self._last_input = 0.0
        self.haste = Haste(session.world.clock)
        self.history = self.settings.history()
        self.spans = trace_feed.Spans()
        self.flow = FlowModel()
        self.summary = ClusterSummary(name=session.name)
        self.figures = DashboardModel()
        for theme in (*load_themes(), *self.settings.themes):
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        if self.settings.keys:
            self.set_keymap(self.settings.keys)

    def get_default_screen(self) -> Window:
        return Window(self._first_screen)

    def on_mount(self) -> None:
        if self._collector is not None:
            self._collector.begin()
            self.set_interval(1.0, self._collect)
            self.set_timer(SETTLED_SECONDS, self._load_screens)
            self.set_timer(SETTLED_SECONDS, self.warm_kubectl)
        self.call_after_refresh(self._use_settings)
        self.listen()
        if self.session.begin is not None:
            self.call_after_refresh(self.begin, leave_if_not=True)

    @work(group="ahead", thread=True, exit_on_error=False)
    def _load_screens(self) -> None:
        load_all()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            if not self.screen_stack:
                return  # the screens are gone, the app is about to be
            self._last_input = self.session.world.clock.monotonic()
        await super().on_event(event)

    def on_resize(self) -> None:
        self.call_after_refresh(cover, self)

    def _use_settings(self) -> None:
        """The theme, what was wrong with the settings, and the tour for who has not had it."""
        if self.settings.theme and not self.settings.broken(self.settings.theme):
            self.use_theme(self.settings.theme)
        problems = list(self.settings.problems)
        if unknown := unknown_names(self.settings.keys):
            told = [f"{self.settings.places.get(name, '')} {name}".strip() for name in unknown]
            problems.append(f"no such keys: {', '.join(told)}; `ktui keys` prints all")
        for name, taken in clashes(self.settings.keys).items():
            problems.append(f"{self.settings.places.get(name, '')} {name}: {taken}".strip())
        if problems:  # in one message: of many only the last would have room
            self.notify("\n".join(problems), severity="warning", timeout=10 + len(problems), markup=False)
        if not self.settings.has_toured:
            self.start_tour()

    async def on_unmount(self) -> None:
        if "kubectl_process" in self.__dict__:
            await self.kubectl_process.close()

    def get_line_filters(self) -> Sequence[LineFilter]:
        theirs = (filter for filter in super().get_line_filters() if not isinstance(filter, Monochrome))
        parts = (*theirs, *self._own_filters)
        if parts != self._joined.parts:
            self._joined = Joined(parts)
        return [self._joined]

    def _collect(self) -> None:
        if self._collector is not None:
            self._collector.tick(self.session.world.clock.monotonic(), self._last_input)

    def _handle_exception(self, error: Exception) -> None:
        """What goes wrong in a widget is said, once at a time, and the screen stays; tests get to see it."""
        words = told(error)
        if self.is_headless or not self.is_running:
            super()._handle_exception(error)
        elif not any(note.message == words for note in self._notifications):
            self.notify(words, severity="error", title="ktui erred", markup=False)

    # -- the command line

    def action_command_palette(self) -> None:
        """Never where it would not be seen: its key goes before those of any screen."""
        if not isinstance(self.screen, TooSmall):
            super().action_command_palette()

    def action_command(self) -> None:
        if self.screen is self.window:
            self.warm_kubectl()
            self.window.open_command_line()

    def on_command_line_entered(self, message: CommandLine.Entered) -> None:
        from engine.kubectl.tree import ROOT

        self.settings.remember(message.text)
        verbs = {name for command in ROOT.children for name in (command.name, *command.aliases)}
        match route(message.text, screens=SCREENS, verbs=verbs):
            case ToScreen() | ToNamespace() | ToResource() | ToObject() | ToTree() | ToAliases() as place:
                self.go(place)
            case Split(mode):
                self.split(mode)
            case Unsplit():
                self.unsplit()
            case Tour():
                self.start_tour()
            case ToForwards():
                self.action_forwards()
            case Steer() as wanted:
                self.steer(wanted)
            case Export(format, file):
                self.export(format, file)
            case ToTheme(name):
                self.use_theme(name)
            case ToEditor(arguments, namespace):
                self.open_editor(arguments, namespace)
            case ToHelp():
                self.action_keys()
            case Revive():
                self.begin()
            case Leave():
                self.action_leave()
            case Kubectl(argv):
                self.run_kubectl(argv, message.text)
            case Own(argv):
                self.run_own(argv, message.text)
            case Mistyped(problem):
                self.notify(problem, severity="warning", markup=False)

    async def complete(self, text: str) -> list[str]:
        """What the line after `:` can go on with."""
        from engine.kubectl.tree import ROOT

        themes = [name.removeprefix("ktui-") for name in self.available_themes if name.startswith("ktui-")]
        source = Names(self.session.client, self.discovery, self.namespace)
        return await complete(text, root=ROOT, screens=SCREENS, themes=themes, source=source)

    # -- namespaces

    @work(exclusive=True, group="namespace", exit_on_error=False)
    async def action_namespace(self) -> None:
        """Choose the namespace whose objects are shown."""
        names = await Names(self.session.client, self.discovery, "").names("namespaces", "")
        chosen = await self.push_screen_wait(
            Choice("namespace", {"": "all namespaces", **{name: name for name in names}})
        )
        if chosen is not None:
            self.use_namespace(chosen)

    def action_all_namespaces(self) -> None:
        self.use_namespace("")

    # -- what is kept of a screen

    def export(self, format: str, file: str = "") -> None:
        """Write what is on the screen, or the trace that is shown, to a file."""
        try:
            path = export.write(self, format, file)
        except (OSError, ValueError) as error:
            self.notify(str(error), severity="error", title=f"export {format}", markup=False)
        else:
            self.notify(f"written to {path}", markup=False)

    def action_export(self) -> None:
        self.export("svg")

    # -- themes and help

    def action_use_theme(self, name: str) -> None:
        self.use_theme(name)

    def use_theme(self, name: str) -> None:
        known = sorted(theme for theme in self.available_themes if theme.startswith("ktui-"))
        wanted = next((theme for theme in known if theme.removeprefix("ktui-") == name.removeprefix("ktui-")), None)
        if wanted is None:
            names = ", ".join(theme.removeprefix("ktui-") for theme in known)
            told = self.settings.broken(name) or f'there is no theme "{name}"; there are {names}'
            self.notify(told, severity="warning", markup=False)
        else:
            self.theme = wanted

    def action_next_theme(self) -> None:
        known = sorted(theme for theme in self.available_themes if theme.startswith("ktui-"))
        self.theme = known[(known.index(self.theme) + 1) % len(known)]
        self.notify(f"theme {self.theme.removeprefix('ktui-')}", timeout=1.5)

    def action_keys(self) -> None:
        if self.screen is self.window:
            self.push_screen(Help(self.shown))

    # -- leaving

    @work(exclusive=True, group="leave", exit_on_error=False)
    async def action_leave(self) -> None:
        """Leave; where the engine is this person's, ask whether it goes on."""
        stop, is_alive = self.session.stop_engine, self.session.is_alive
        if stop is not None and (is_alive is None or is_alive()):
            answer = await self.push_screen_wait(
                Question(
                    f"Leave ktui. What becomes of cluster {self.session.name}?",
                    {"k": "Keep it running", "s": "Stop it"},
                    focus="s" if self.session.started_here else "k",
                )
            )
            if not answer:
                return
            if answer == "s":
                stop()
        self.exit("")

    def action_leave_now(self) -> None:
        """As Ctrl+C does elsewhere: end what runs, copy what is marked in a text, else leave."""
        from ktui.screens.editor import Editor

        match self.screen:
            case Output() as output:
                output.leave()
            case Editor() as editor:
                editor.copy_or_leave()
            case _:
                self.exit("")
