"""What one line of the Flow screen says, and how equal lines fold into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from ktui.models.exchange import Exchange, Span
from ktui.models.words import (
    API_SERVER,
    CLIENT,
    ETCD,
    LANES,
    METHODS,
    component_name,
    name_of,
    resource_of,
    response_code,
)
from ktui.trace_tree import verb_of

LAMPS = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"
SPANS_KEPT = 64  # of a folded row


class Kind(Enum):
    REQUEST = auto()  # solid arrow to the api-server
    CHAIN = auto()  # the verdicts of hops 2 to 6
    STORE = auto()  # solid arrow to etcd
    RESPONSE = auto()  # solid arrow back to the client
    WATCH = auto()  # dotted arrow to those that it wakes
    STEP = auto()  # inside a lane


@dataclass(slots=True, eq=False)
class FlowRow:
    """One line. `label` and `name` stand on the arrow or beside the lane, `note` behind the arrow's head."""

    kind: Kind
    source: int
    target: int
    label: str
    trace_id: str
    name: str = ""
    note: str = ""
    outcome: str = "ok"
    wall_ms: float = 0.0
    model_ms: float = 0.0
    hops: list[int] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    count: int = 1
    woken: dict[int, list[str]] = field(default_factory=dict)  # lane → who, of a watch event
    revisions: tuple[int, int] | None = None  # the first and the last
    quiet: bool = False  # a reconcile that had nothing to do
    touched: float = 0.0  # when it last changed, on the reader's clock
    judged: tuple[tuple[Any, ...], bool] = ((), True)  # as what it was held against the filter, and whether it met it

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def lamps(self) -> str:
        hops = sorted(set(self.hops))
        if len(hops) > 3:
            return f"{LAMPS[hops[0] - 1]}-{LAMPS[hops[-1] - 1]}"
        return "".join(LAMPS[hop - 1] for hop in hops)

    @property
    def text(self) -> str:
        """The whole of what the line says of its object."""
        joint = " " if self.kind is Kind.STEP else "/"
        name = f"{joint}{self.name}" if self.name else ""
        times = f" ×{self.count}" if self.count > 1 else ""
        return f"{self.label}{name}{times}"

    @property
    def revision_text(self) -> str:
        if not self.revisions:
            return ""
        low, high = self.revisions
        return f"rev {low}" if low == high else f"rev {low}-{high}"

    @property
    def looks(self) -> tuple[object, ...]:
        """Whatever can be seen of it: two rows with the same are drawn the same."""
        return (
            self.kind, self.source, self.target, self.label, self.name, self.note, self.outcome, self.wall_ms,
            self.model_ms, self.count, self.quiet, *self.hops, *self.woken,
        )  # fmt: skip

    def take(self, span: Span) -> None:
        """Count a span in."""
        self.hops.append(span["hop"])
        self.hops[:] = sorted(set(self.hops))
        self.wall_ms += span["wall_ms"]
        self.model_ms += span["model_ms"]
        self.spans.append(span["id"])
        del self.spans[:-SPANS_KEPT]
        if span["outcome"] != "ok":
            self.outcome = span["outcome"]
        if span["revision"] and span["hop"] in (7, 8):
            low, high = self.revisions or (span["revision"], span["revision"])
            self.revisions = min(low, span["revision"]), max(high, span["revision"])

    def repeat(self, name: str) -> None:
        """The same again, on an object of that name."""
        self.count += 1
        if name != self.name:
            self.name = ""


@dataclass(slots=True, eq=False)
class Block:
    """Rows that stay together: a request's, or a single one. `noise` names what hides it, "" for nothing."""

    at: float
    fold_key: tuple[Any, ...]
    rows: list[FlowRow]
    noise: str = ""
    request: FlowRow | None = None
    chain: FlowRow | None = None
    store: FlowRow | None = None
    response: FlowRow | None = None
    from_client: bool = False
    asked: str = ""  # the user and the user agent of a request, which no line has room for

    def shown(self, *, chains: bool) -> list[FlowRow]:
        if chains or self.from_client or self.chain is None:
            return self.rows
        return [row for row in self.rows if row is not self.chain]


def request_block(exchange: Exchange, noise: str, fold_key: tuple[Any, ...]) -> Block:
    """The block of a request that has just begun."""
    source = exchange.source
    kind = Kind.STEP if source == API_SERVER else Kind.REQUEST  # from itself to itself there is no arrow
    row = FlowRow(kind, source, API_SERVER, method_label(exchange), exchange.trace_id)
    if source not in (CLIENT, API_SERVER):
        row.note = exchange.who
    agent = exchange.links[0]["detail"].get("userAgent", "") if exchange.links else ""
    asked = f"{exchange.user} {agent}"
    return Block(exchange.at, fold_key, [row], noise, request=row, from_client=source == CLIENT, asked=asked)


def dry_run_note(exchange: Exchange) -> str:
    """What stands behind the arrow of a request that is only tried."""
    return "dry run" if exchange.source == CLIENT else f"{exchange.who}, dry run"


def method_label(exchange: Exchange) -> str:
    if exchange.is_binding:
        return "POST bindings"
    method = METHODS.get(exchange.verb, exchange.verb.upper())
    return f"{method} {resource_of(exchange.object)}"


def chain_text(spans: list[Span]) -> str:
    """`x509 ✓ RBAC ✓ 4 mutating ✓ schema ✓ 2 validating ✓`; of a refusal who refused comes first."""
    passed = " ".join(f"{_link(span)} ✓" for span in spans if span["outcome"] == "ok")
    refused = next((span for span in spans if span["outcome"] != "ok"), None)
    return passed if refused is None else f"{_refuser(refused)} ✖{_known(refused)} {passed}".rstrip()


def _refuser(span: Span) -> str:
    """The plugin, where it is admission that refused."""
    if span["hop"] == 2 and span["detail"].get("verdict") == "deny":
        return "RBAC"  # both links of a read are one span
    plugins = span["detail"].get("plugins") or ()
    return next((str(each["name"]) for each in plugins if each["verdict"] == "refused"), _link(span))


def _known(span: Span) -> str:
    """Who is known to ask where both links are one span."""
    return f" {_link(span).partition(' ')[0]} ✓" if _refuser(span) == "RBAC" and span["hop"] == 2 else ""


def _link(span: Span) -> str:
    detail = span["detail"]
    match span["hop"]:
        case 2:
            authenticator = detail.get("authenticator") or "authentication"
            authorizer = detail.get(
                "authorizer"
            )  # of reads, and of those whom no rule can stop, both are decided at once
            return f"{authenticator} ✓ {authorizer}" if authorizer else str(authenticator)
        case 3:
            return str(detail.get("authorizer") or "RBAC")
        case 4:
            return f"{len(detail.get('plugins', ())) or ''} mutating".strip()
        case 5:
            return "schema"
        case _:
            return f"{len(detail.get('plugins', ())) or ''} validating".strip()


def store_row(span: Span) -> FlowRow:
    return FlowRow(Kind.STORE, API_SERVER, ETCD, verb_of(span), span["traceId"])


def response_row(root: Span) -> FlowRow:
    """What the client was told; its times are those of the whole request."""
    outcome = root["outcome"]
    status = root["detail"].get("status")
    label = response_code(outcome, root["verb"])
    if outcome == "ok" and status:
        label = str(status)
    row = FlowRow(Kind.RESPONSE, API_SERVER, CLIENT, label, root["traceId"], outcome=outcome)
    row.wall_ms, row.model_ms, row.spans = root["wall_ms"], root["model_ms"], [root["id"]]
    return row


def watch_row(span: Span) -> FlowRow:
    detail = span["detail"]
    label = f"{detail.get('event', 'event')} {resource_of(span['object'])}"
    row = FlowRow(Kind.WATCH, API_SERVER, API_SERVER, label, span["traceId"])
    row.name = name_of(span["object"])
    watchers = detail.get("watchers", 0)
    row.note = f"{watchers} watching" if watchers else "nobody watches"
    row.take(span)
    return row


def wake(row: FlowRow, span: Span) -> None:
    """`span` was woken by the event of `row`."""
    who = component_name(span)
    names = row.woken.setdefault(LANES.index(span["lane"]), [])
    if who not in names:
        names.append(who)
    row.note = ", ".join(_together(name for lane in sorted(row.woken) for name in row.woken[lane]))


def _together(names: Iterable[str]) -> list[str]:
    """`kube-proxy node-1, kube-proxy node-2` is `kube-proxy ×2`."""
    counts = Counter(name.partition(" ")[0] for name in names)
    return [f"{name} ×{count}" if count > 1 else name for name, count in counts.items()]


def step_row(span: Span) -> FlowRow:
    lane = LANES.index(span["lane"])
    row = FlowRow(Kind.STEP, lane, lane, _step_label(span), span["traceId"])
    row.name = _step_name(span)
    row.note = _step_note(span)
    row.take(span)
    return row


def _step_label(span: Span) -> str:
    who, verb = component_name(span), span["verb"]
    match span["hop"]:
        case 9:
            return f"{who} {verb}s" if verb == "reconcile" else f"{who} {verb}"
        case 10:
            return str(verb)
        case _:
            return f"{who} {verb}"


def _step_name(span: Span) -> str:
    return name_of(span["object"])


def _step_note(span: Span) -> str:
    detail = span["detail"]
    match span["verb"]:
        case "schedule" if detail.get("node"):
            return f"{detail.get('feasibleNodes', '?')}/{detail.get('nodes', '?')} fit → {detail['node']}"
        case "schedule":
            return str(detail.get("message") or detail.get("result") or "")
        case "bind":
            return f"→ {detail.get('node', '')}"
        case "PullImage" if detail.get("bytes"):
            return f"{detail['bytes'] / 1e6:.0f} MB"
        case "CNI ADD":
            return str(detail.get("ip", ""))
        case "status":
            return str(detail.get("phase", ""))
        case "probe":
            return f"{detail.get('probe', '')} {detail.get('result', '')}"
        case "event":
            return str(detail.get("reason", ""))
        case _:
            return ""
