"""What a line typed after `:` asks for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ktui.models.listing import EVERYWHERE, NO_LISTING, Listing
from ktui.models.own_commands import is_own

TALKING = frozenset({"exec", "attach", "run", "debug"})
SLOWEST, FASTEST = 0.1, 100.0  # of the clock's speeds
EXPORTS = ("svg", "text", "mermaid")


@dataclass(frozen=True, slots=True)
class ToScreen:
    mode: str


@dataclass(frozen=True, slots=True)
class ToResource:
    """A word that is neither a screen nor a verb: a resource by any of its names, as in k9s.

    `argv` is the line as a command, for when there is no such resource.
    """

    word: str
    listing: Listing = NO_LISTING
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToObject:
    """`pod/web-0`, as `get -o name` prints it; `namespace` is None for the one that is shown."""

    kind: str
    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ToTree:
    """`xray KIND`: the tree below the objects of one kind."""

    kind: str
    listing: Listing = NO_LISTING


@dataclass(frozen=True, slots=True)
class ToAliases:
    """Every resource with all its names, to choose one."""


@dataclass(frozen=True, slots=True)
class ToEditor:
    """`edit KIND NAME`: the screen has an editor of its own. `namespace` is None for the one that is shown."""

    arguments: tuple[str, ...]
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ToHelp:
    """The keys of what is shown."""


@dataclass(frozen=True, slots=True)
class ToTheme:
    name: str


@dataclass(frozen=True, slots=True)
class Revive:
    """`up`: start the engine again after its end."""


@dataclass(frozen=True, slots=True)
class Leave:
    pass


@dataclass(frozen=True, slots=True)
class Kubectl:
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """One of ktui's own commands, which are given in a shell too: `store compact 900`, `trace deploy/web`."""

    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mistyped:
    problem: str


@dataclass(frozen=True, slots=True)
class ToNamespace:
    """Objects of one namespace, "" for all."""

    name: str


@dataclass(frozen=True, slots=True)
class Tour:
    """The guided tour, again."""


@dataclass(frozen=True, slots=True)
class Export:
    """What is on the screen as a file: `svg` or `text`; or the trace that is shown, as `mermaid`."""

    format: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """Two screens: the one that is named beside the one that is shown; "" for the one that fits best."""

    mode: str


@dataclass(frozen=True, slots=True)
class Unsplit:
    """One screen again: the one that has the keys."""


@dataclass(frozen=True, slots=True)
class ToForwards:
    """The ports that are forwarded."""


@dataclass(frozen=True, slots=True)
class Steer:
    """The engine's clock: `pause`, `resume` or `step`; or `speed`, at which it goes."""

    action: str
    speed: float = 0.0


Route = (
    Split
    | Steer
    | ToForwards
    | Unsplit
    | ToNamespace
    | Tour
    | Export
    | ToScreen
    | ToTheme
    | Revive
    | ToResource
    | ToObject
    | ToHelp
    | ToTree
    | ToAliases
    | ToEditor
    | Leave
    | Kubectl
    | Own
    | Mistyped
)

ONE_CLUSTER = "a screen shows one cluster: ktui --name NAME shows another"
NO_SHELL = "no shell reads this line, so {} means nothing: / filters what is printed, c copies it"
CONTEXTS = ("ctx", "context", "contexts")
XRAY = ("xray", "xrays", "xr")
_GVR = re.compile(r"(?:([a-z0-9.-]+)/)?(v\d+(?:(?:alpha|beta)\d+)?)/([a-z]+)")  # `apps/v1/deployments`, as in k9s
LONE: Mapping[str, Route] = {  # words that stand alone
    **dict.fromkeys(("q", "Q", "q!", "qa", "qa!", "quit", "quit!", "exit"), Leave()),
    **dict.fromkeys(("pulses", "pulse", "pu", "hz"), ToScreen("dashboard")),  # as k9s calls them
    **dict.fromkeys(("workloads", "workload", "wk"), ToScreen("tree")),
    **dict.fromkeys(("help", "h", "?"), ToHelp()),
    **dict.fromkeys(("aliases", "alias", "a"), ToAliases()),
    **dict.fromkeys(XRAY, ToScreen("tree")),
    **dict.fromkeys(("forwards", "portforwards", "portforward", "pf"), ToForwards()),
    **{action: Steer(action) for action in ("pause", "resume", "step")},
    "up": Revive(),
    **dict.fromkeys(("only", "unsplit"), Unsplit()),
    "tour": Tour(),
    **dict.fromkeys(CONTEXTS, Mistyped(ONE_CLUSTER)),
}
PRINTED_BY_GET = ("-o", "--output", "--show-labels", "-L", "--label-columns", "--sort-by")
ALL = "all"  # kubectl's category, of which no resource has the name
OF_A_SHELL = frozenset(("|", ">", ">>", "<", "&&", "||", "&", ";"))


def route(text: str, *, screens: Collection[str], verbs: Collection[str]) -> Route:
    """Where a line leads. A leading `kubectl` or `ktui` is as good as none."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return Mistyped(f"{text}: {error}")
    if words and words[0] in ("kubectl", "ktui", "k"):
        words = words[1:]
    if not words:
        return Mistyped("type one of kubectl's verbs, a resource or a screen")
    first = words[0]
    if len(words) == 1 and first in LONE:
        return LONE[first]
    if len(words) == 1 and first in screens:
        return ToScreen(first)
    if (own := _own(first, words[1:], screens)) is not None:
        return own
    if sign := _of_a_shell(words):
        return Mistyped(NO_SHELL.format(sign))
    listing = Listing.parse(words[1:])
    if is_own(words):
        return Own(tuple(words))
    if first in verbs:
        return Kubectl(tuple(words))
    if any(word.startswith("@") for word in words[1:]):  # k9s: in another context
        return Mistyped(ONE_CLUSTER)
    if listing is None:  # `deploy -o yaml` is a `get`; `aply -f x` is for kubectl to complain of
        return Kubectl(("get", *words) if words[1].startswith(PRINTED_BY_GET) else tuple(words))
    if "," in first or first == ALL:  # no one list has the objects of several kinds: kubectl prints one table each
        return _printed(first, listing, tuple(words))
    return _listed(first, listing, tuple(words) if len(words) > 1 else ())


def _own(first: str, rest: list[str], screens: Collection[str]) -> Route | None:
    """The screen's own words that say more than one thing; None for all others."""
    if first in CONTEXTS:
        return Mistyped(ONE_CLUSTER)
    if first in XRAY:
        return _xray(rest)
    match first:
        case "ns" | "namespace" if len(rest) == 1:
            return ToNamespace("" if rest[0] in EVERYWHERE else rest[0])
        case "split":
            return _split(rest, screens)
        case "speed":
            return _speed(rest)
        case "export":
            return _export(rest)
        case "theme" if len(rest) <= 1:
            return ToTheme(rest[0] if rest else "")
        case "edit":
            return _edit(rest)
        case _:
            return None


def _printed(kinds: str, listing: Listing, words: tuple[str, ...]) -> Kubectl:
    """k9s' words after several kinds, as kubectl's flags: it would take a namespace for a name."""
    if listing.filter and not listing.filter.startswith("-l "):
        return Kubectl(("get", *words))
    place = () if listing.namespace is None else ("-n", listing.namespace) if listing.namespace else ("-A",)
    return Kubectl(("get", kinds, *place, *listing.filter.split()))


def _listed(word: str, listing: Listing, argv: tuple[str, ...]) -> Route:
    """A resource, by a name or as `apps/v1/deployments`; or `KIND/NAME`, one object of it."""
    if told := _GVR.fullmatch(word):
        group, version, resource = told.groups("")
        return ToResource(f"{resource}.{version}.{group}", listing, argv)
    kind, slash, name = word.partition("/")
    if slash and kind and name and not listing.filter:
        return ToObject(kind, name, listing.namespace)
    return ToResource(word, listing, argv)


def _edit(words: list[str]) -> ToEditor | None:
    """None where the line says more than what to edit, and where it is: then it is kubectl's."""
    namespace = None
    if len(words) > 2 and words[-2] in ("-n", "--namespace"):
        words, namespace = words[:-2], words[-1]
    if not words or any(word.startswith("-") for word in words):
        return None
    return ToEditor(tuple(words), namespace)


def _of_a_shell(words: Sequence[str]) -> str:
    """A sign that only a shell would understand, "" for none; what a container is to run may have them."""
    mine = words[: words.index("--")] if "--" in words else words
    return next((word for word in mine if word in OF_A_SHELL), "")


def talks(argv: Sequence[str]) -> bool:
    """Whether a command of kubectl's hands on what is typed: `exec -it`, `attach -i`, `run -i`, `debug -it`."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    return bool(words) and words[0] in TALKING and any(_is_stdin(word) for word in words[1:])


def _is_stdin(word: str) -> bool:
    if word.startswith("--"):
        return word in ("--stdin", "--stdin=true")
    return word.startswith("-") and "i" in word and set(word[1:]) <= set("itq")


def _xray(words: list[str]) -> Route:
    listing = Listing.parse(words[1:])
    return ToTree(words[0], listing) if listing is not None else Mistyped("xray: say a kind, then a namespace")


def _split(words: list[str], screens: Collection[str]) -> Route:
    if len(words) > 1 or (words and words[0] not in screens):
        return Mistyped(f"split {' '.join(words)}: say one of {', '.join(screens)}")
    return Split(words[0] if words else "")


def _speed(words: list[str]) -> Route:
    text = words[0].rstrip("x×") if len(words) == 1 else ""
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if SLOWEST <= speed <= FASTEST:
        return Steer("speed", speed)
    return Mistyped(f"speed {' '.join(words)}: say a number from {SLOWEST:g} to {FASTEST:g}")


def _export(words: list[str]) -> Route:
    format = words[0] if words else "svg"
    if format not in EXPORTS or len(words) > 2:
        return Mistyped(f"export {' '.join(words)}: say one of {', '.join(EXPORTS)}, then a file if you like")
    return Export(format, words[1] if len(words) == 2 else "")
