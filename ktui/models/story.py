"""How far a client's write has come: one lamp for each of the twelve hops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.latency import REALISTIC
from ktui.models.exchange import Span, ended, started
from ktui.models.words import SOFT, kind_of, name_of

HOP_NAMES = (
    "client", "authentication", "authorization", "mutating admission", "schema", "validating admission",
    "store", "watch", "controller", "scheduler", "kubelet", "network",
)  # fmt: skip
HOP_LATENCIES = (
    "client", "authentication", "authorization", "mutating-admission", "schema", "validating-admission",
    "store", "watch", "controller", "scheduler", "", "network",
)  # fmt: skip
DONE, WAITING, AHEAD, FAILED, SKIPPED = "●", "◐", "○", "✖", "·"
COMES_WITH_AUTHENTICATION = 3  # for system:masters hop 2 decides hop 3 as well


@dataclass(frozen=True, slots=True)
class Lamp:
    hop: int
    sign: str
    milliseconds: float = 0.0
    is_slow: bool = False  # above what is usual for its hop


@dataclass(frozen=True, slots=True)
class Story:
    """A write and its consequences."""

    title: str
    lamps: tuple[Lamp, ...]
    milliseconds: float = 0.0  # from the keystroke to the end of what came last
    is_model_time: bool = False


def usual(hop: int) -> tuple[float, float] | None:
    """The range of a hop's model time."""
    return REALISTIC.get(HOP_LATENCIES[hop - 1])


def tell(spans: Sequence[Span]) -> Story | None:
    """The story of one trace; None while its root has not ended."""
    root = next((span for span in spans if span["hop"] == 1), None)
    if root is None:
        return None
    own = [span for span in spans if span["parent"] == root["id"]]
    stores = {span["id"] for span in own if span["hop"] == 7}
    own += [span for span in spans if span["hop"] == 8 and span["parent"] in stores]
    is_model_time = any(span["model_ms"] for span in spans)
    user = next((span["detail"].get("user", "") for span in own if span["hop"] == 2), "")
    what = f"{root['component']} {root['verb']} {kind_of(root['object'])}/{name_of(root['object'])}"
    took = max(ended(span) for span in spans) - started(root)
    return Story(
        f"{what} · by {user}" if user else what,
        tuple(_lamps(root, own, spans, is_model_time)),
        took * 1000,
        is_model_time,
    )


def _lamps(root: Span, own: Sequence[Span], spans: Sequence[Span], is_model_time: bool) -> Iterable[Lamp]:
    field = "model_ms" if is_model_time else "wall_ms"
    of_hop = {hop: [span for span in (own if hop < 9 else spans) if span["hop"] == hop] for hop in range(2, 13)}
    of_hop[1] = [root]
    reached = max(hop for hop, found in of_hop.items() if found)
    refused = any(span["outcome"] != "ok" for span in own)
    for hop in range(1, 13):
        found = of_hop[hop]
        if hop == 1:
            took = max(0.0, root[field] - sum(span[field] for span in own if span["hop"] != 8))
        else:
            took = max((span[field] for span in found), default=0.0)
        yield _lamp(hop, found, took, reached, is_model_time=is_model_time, refused=refused)


def _lamp(hop: int, found: Sequence[Span], took: float, reached: int, *, is_model_time: bool, refused: bool) -> Lamp:
    if hop != 1 and any(span["outcome"] != "ok" and span["outcome"] not in SOFT for span in found):
        return Lamp(hop, FAILED, took)
    if found or (hop == COMES_WITH_AUTHENTICATION and reached > hop):
        bounds = usual(hop)
        return Lamp(hop, DONE, took, is_model_time and bounds is not None and took > bounds[1] * 1.5)
    if hop == reached + 1 and not refused:
        return Lamp(hop, WAITING)
    if hop < reached:
        return Lamp(hop, SKIPPED)
    return Lamp(hop, AHEAD)
