"""The Flow screen's model: ended spans in, lines between the lanes out, in the order in which things began.

Rows are kept in blocks, one a request or step; a block stands where its first span began, and a block that is the same
as a near one folds into it. Background traffic is kept too, but only shown when it is asked for.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from ktui.models.exchange import FIRST_LINK, Exchange, Exchanges, Span, ended, started
from ktui.models.flow_filter import FlowFilter
from ktui.models.flow_rows import (
    Block,
    FlowRow,
    Kind,
    chain_text,
    dry_run_note,
    method_label,
    request_block,
    response_row,
    step_row,
    store_row,
    wake,
    watch_row,
)
from ktui.models.story import Tally
from ktui.models.words import API_SERVER, CLIENT, READS, controller_name, kind_of, name_of, requester

BLOCKS_KEPT = 6_000
TRIM = 500
SPANS_KEPT = 30_000
TRACES_KEPT = 2_000
PASSING_KEPT = 500  # of those, such as begin with what goes on all the time
FOLD_BACK = 16  # how many blocks back an equal one is looked for
SORT_BACK = 600
APPLY_SECONDS = 1.5
NOISES = ("reads", "events", "heartbeats", "idle reconciles")
SETTER_UP = "kubeadm"  # gives a new cluster what it comes with: nobody's story
READERS = frozenset({"ktui", "kube-apiserver"})  # the screen, and the API server that looks after its own Service
WRITES = frozenset({"create", "update", "patch", "delete", "apply"})


class _Write(NamedTuple):
    """A client's."""

    at: float
    trace_id: str
    is_delete: bool
    is_refused: bool


class FlowModel:
    """`show` are the kinds of noise that are not hidden; `chains` shows the chain of components' requests too."""

    def __init__(self, *, show: Iterable[str] = (), chains: bool = False) -> None:
        self.spans: OrderedDict[str, Span] = OrderedDict()
        self.traces: OrderedDict[str, list[Span]] = OrderedDict()
        self.stories: OrderedDict[str, Tally] = OrderedDict()
        self.hidden: Counter[str] = Counter()
        self.seen = 0
        self.dropped = 0  # rows that went out at the far end
        self.lost = 0  # spans that came too fast for the connection
        self.skipped = 0  # spans that came too fast for this screen
        self.version = 0  # changes with everything that a reader could see
        self._writes: deque[_Write] = deque(maxlen=20)
        self._passing: OrderedDict[str, None] = OrderedDict()  # traces that began with a read or a heartbeat
        self.newest = 0.0  # when the last span ended, in the seconds of spans
        self.has_model_time = False
        self.show = set(show)
        self._filter = FlowFilter()
        self._labelled: frozenset[str] = frozenset()
        self._judgement = 0  # changes with what the lines must meet
        self.chains = chains
        self._exchanges = Exchanges()
        self._blocks: deque[Block] = deque()
        self._rows: list[FlowRow] = []
        self._rows_version = -1
        self._of_exchange: dict[int, Block] = {}
        self._of_client: OrderedDict[str, Block] = OrderedDict()  # hop-1 span's id → its request's block
        self._events: OrderedDict[str, FlowRow] = OrderedDict()  # id of a store or watch span → its event's row
        self._quiet_writes: OrderedDict[str, str] = OrderedDict()  # id of a store span of noise → which noise
        self._early_events: OrderedDict[str, Block] = OrderedDict()  # store span's id → an event that was told before
        self._writers: OrderedDict[str, str] = OrderedDict()  # id of a store span → the user whose write it was
        self._busy: OrderedDict[str, None] = OrderedDict()  # spans that made requests
        self._now = 0.0
        self.is_forbidden = False  # to who looks
        self.is_told = False  # until the engine has said all that happened before

    # -- what is shown

    @property
    def rows(self) -> list[FlowRow]:
        """The lines, oldest first."""
        if self._rows_version != self.version:
            self._rows_version = self.version
            self._rows = [
                row
                for block in self._blocks
                if not block.noise or block.noise in self.show
                for row in block.shown(chains=self.chains)
                if self._filter.empty or self._takes(row, block)
            ]
        return self._rows

    def toggle(self, noise: str) -> bool:
        """Show or hide a kind of noise; says whether it is shown now."""
        self.show ^= {noise}
        self.version += 1
        return noise in self.show

    @property
    def filter(self) -> FlowFilter:
        """What the lines must meet."""
        return self._filter

    @filter.setter
    def filter(self, filter: FlowFilter) -> None:
        self._filter = filter
        self._judge_again()

    @property
    def labelled(self) -> frozenset[str]:
        """The objects, as spans name them, that have the labels of the filter; who shows the lines finds them."""
        return self._labelled

    @labelled.setter
    def labelled(self, objects: frozenset[str]) -> None:
        self._labelled = objects
        self._judge_again()

    def _judge_again(self) -> None:
        self._judgement += 1
        self.version += 1

    def _takes(self, row: FlowRow, block: Block) -> bool:
        """Asked of all lines for each picture, and worked out once for each change of one."""
        looks = (self._judgement, row.count, len(row.spans), row.touched, row.label, row.name, row.note, row.outcome)
        if row.judged[0] != looks:
            said = f"{row.text} {row.note} {row.outcome if not row.ok else ''} {block.asked}".lower()
            takes = self._filter.says(said) and self._filter.fits(self.spans_of(row), self._labelled)
            row.judged = (looks, takes)
        return row.judged[1]

    def toggle_chains(self) -> bool:
        self.chains = not self.chains
        self.version += 1
        return self.chains

    @property
    def story(self) -> str:
        """The trace of a client's newest write, also of one that was refused; of those of one apply, or of one delete,
        the one that moves most."""
        if not self._writes:
            return ""
        newest = self._writes[-1]
        if newest.is_refused:
            return newest.trace_id
        since = newest.at - APPLY_SECONDS
        near = [each.trace_id for each in self._writes if each.at > since and each.is_delete is newest.is_delete]
        return max(near, key=lambda trace: len(self.traces.get(trace, ())))

    def spans_of(self, row: FlowRow) -> list[Span]:
        return [self.spans[id] for id in row.spans if id in self.spans]

    def writer(self, cause: str) -> str:
        """Whose write a traceparent of the store stands for, as far as it is still known."""
        user = self._writers.get(cause.split("-")[2] if cause.count("-") == 3 else "", "")
        return requester(user)[1] if user else ""

    # -- spans in

    def add(self, spans: Iterable[dict[str, Any]], *, now: float = 0.0) -> None:
        """Take spans in the order in which they ended; `now` is when, on the reader's clock."""
        self._now = now
        for span in spans:
            if "id" not in span:
                self.lost = span.get("dropped", self.lost)
                continue
            if span["id"] in self.spans:
                continue  # told again after a connection was lost
            self.seen += 1
            self.newest = max(self.newest, ended(span))
            self._remember(span)
            self._place(span)
        self.version += 1
        if len(self._blocks) > BLOCKS_KEPT:
            self._trim()

    def _remember(self, span: Span) -> None:
        self.spans[span["id"]] = span
        if len(self.spans) > SPANS_KEPT:
            self.spans.popitem(last=False)
        if span["traceId"] not in self.traces and _passes_by(span):
            self._passing[span["traceId"]] = None
            if len(self._passing) > PASSING_KEPT:
                self._forget(self._passing.popitem(last=False)[0])
        trace = self.traces.setdefault(span["traceId"], [])
        if len(trace) < SPANS_KEPT:
            trace.append(span)
        if len(self.traces) > TRACES_KEPT:
            self._forget(next(iter(self.traces)))
        self.stories.setdefault(span["traceId"], Tally()).add(span)
        if span["model_ms"]:
            self.has_model_time = True

    def _forget(self, trace_id: str) -> None:
        self.traces.pop(trace_id, None)
        self.stories.pop(trace_id, None)

    def _place(self, span: Span) -> None:
        hop = span["hop"]
        if hop == 1:
            self._answer(span)
        elif hop <= 7:
            self._link(span)
        elif hop == 8:
            self._event(span)
        else:
            self._step(span)

    # -- requests

    def _link(self, span: Span) -> None:
        exchange, is_new = self._exchanges.add(span)
        if is_new and span["hop"] != FIRST_LINK:
            return  # its beginning was skipped: who asked is not known
        block = self._begin(exchange) if is_new else self._of_exchange.get(id(exchange))
        if block is not None:
            self._extend(block, exchange, span)
        if exchange.is_over:
            self._of_exchange.pop(id(exchange), None)

    def _begin(self, exchange: Exchange) -> Block:
        if exchange.parent:
            _put(self._busy, exchange.parent, None, SPANS_KEPT)
        noise = _noise_of_request(exchange)
        whose = exchange.trace_id if exchange.parent else exchange.user
        key = ("request", whose, exchange.source, exchange.verb, kind_of(exchange.object))
        block = None if exchange.source == CLIENT else self._find(key)
        if block is None or block.request is None:
            block = request_block(exchange, noise, key)
            self._insert(block)
        else:
            block.request.repeat(_name(exchange))
            block.request.note = _joined(block.request.note, exchange.who)
            self._count_hidden(block)
        self._of_exchange[id(exchange)] = block
        if exchange.source == CLIENT and exchange.parent:
            _put(self._of_client, exchange.parent, block, TRACES_KEPT)
        return block

    def _extend(self, block: Block, exchange: Exchange, span: Span) -> None:
        request = block.request
        assert request is not None
        request.touched = self._now
        if request.count == 1:
            request.name = _name(exchange)
            request.label = method_label(exchange)
        if span["hop"] == 7:
            self._store(block, exchange, span)
            return
        self._chain(block, exchange, span)
        if exchange.is_dry_run:
            request.note = dry_run_note(exchange)
        if block.from_client:
            request.spans.append(span["id"])
            request.hops = [1]
        else:
            request.take(span)
        if span["outcome"] != "ok":
            self._refuse(block, exchange)

    def _chain(self, block: Block, exchange: Exchange, span: Span) -> None:
        if block.chain is None:
            block.chain = FlowRow(Kind.CHAIN, API_SERVER, API_SERVER, "", span["traceId"])
            block.rows.insert(1, block.chain)
        block.chain.take(span)
        block.chain.label = chain_text([link for link in exchange.links if link["hop"] != 7])
        block.chain.touched = self._now

    def _refuse(self, block: Block, exchange: Exchange) -> None:
        """Nothing that fails is hidden, but for reads of what is not there."""
        if not (exchange.is_read and exchange.outcome == "NotFound"):
            block.noise = ""
        if block.request is not None:
            block.request.outcome = exchange.outcome

    def _store(self, block: Block, exchange: Exchange, span: Span) -> None:
        _put(self._writers, span["id"], exchange.user, SPANS_KEPT)
        if block.store is None:
            block.store = store_row(span)
            index = block.rows.index(block.response) if block.response in block.rows else len(block.rows)
            block.rows.insert(index, block.store)
        else:
            block.store.count += 1
        block.store.take(span)
        block.store.note = block.store.revision_text
        block.store.touched = self._now
        if span["outcome"] != "ok":
            block.noise = ""
        elif block.noise:
            _put(self._quiet_writes, span["id"], block.noise, TRACES_KEPT)
            if (event := self._early_events.pop(span["id"], None)) is not None and not event.noise:
                event.noise = block.noise
                self._count_hidden(event)

    def _answer(self, root: Span) -> None:
        block = self._of_client.pop(root["id"], None)
        is_write = root["verb"] in WRITES and not kind_of(root["object"]).endswith("review")
        if is_write and root["component"] != SETTER_UP:
            is_refused = root["outcome"] != "ok"
            self._writes.append(_Write(started(root), root["traceId"], root["verb"] == "delete", is_refused))
        if block is None:
            return  # its links came before this model began to look
        block.response = response_row(root)
        block.response.touched = self._now
        block.rows.append(block.response)
        if block.request is not None:
            block.request.spans.insert(0, root["id"])

    # -- events and steps

    def _event(self, span: Span) -> None:
        row = watch_row(span)
        noise = self._quiet_writes.get(span["parent"]) or _noise_of_object(span["object"], span["verb"], "")
        key = ("watch", "" if noise else span["traceId"], row.label)
        block = self._find(key)
        if block is None:
            block = Block(started(span), key, [row], noise)
            self._insert(block)
            if span["parent"] and span["parent"] not in self.spans:
                _put(self._early_events, span["parent"], block, TRACES_KEPT)
        else:
            block.rows[0].repeat(row.name)
            block.rows[0].take(span)
            self._count_hidden(block)
        block.rows[0].touched = self._now
        for cause in (span["id"], span["parent"]):
            if cause:
                _put(self._events, cause, block.rows[0], TRACES_KEPT)

    def _step(self, span: Span) -> None:
        if (woke := self._events.get(span["parent"])) is not None:
            wake(woke, span)
            woke.touched = self._now
        row = step_row(span)
        row.quiet = span["hop"] == 9 and span["id"] not in self._busy and span["outcome"] == "ok"
        if row.quiet:
            row.note = "nothing to do"
        noise = "events" if kind_of(span["object"]) == "event" and span["outcome"] == "ok" else ""
        if row.quiet:
            noise = "idle reconciles"
        where = controller_name(span["component"]).partition(" ")[0]
        key = ("step", span["traceId"], where, span["verb"], span["outcome"], row.quiet)
        block = self._find(key)
        if block is None:
            # What runs on a node takes long and is told where it ends; what others do, where it begins.
            at = ended(span) if span["hop"] > 10 else started(span)
            self._insert(Block(at, key, [row], noise))
            row.touched = self._now
            return
        first = block.rows[0]
        first.repeat(row.name)
        first.take(span)
        if first.note != row.note:
            first.note = ""
        if row.label != first.label:
            first.label = f"{_common(first.label, row.label)}{span['verb']}"
        first.touched = self._now
        self._count_hidden(block)

    # -- the blocks

    def _find(self, key: tuple[Any, ...]) -> Block | None:
        """An equal block among the last ones."""
        for back in range(1, min(FOLD_BACK, len(self._blocks)) + 1):
            block = self._blocks[-back]
            if block.fold_key == key and all(row.ok for row in block.rows):
                return block
        return None

    def _insert(self, block: Block) -> None:
        self._count_hidden(block)
        place = len(self._blocks)
        while place and len(self._blocks) - place < SORT_BACK and self._blocks[place - 1].at > block.at:
            place -= 1
        self._blocks.insert(place, block)

    def _count_hidden(self, block: Block) -> None:
        if block.noise:
            self.hidden[block.noise] += 1

    def _trim(self) -> None:
        """Noise goes first, then what is oldest."""
        noisy = [block for block in self._blocks if block.noise]
        going = {id(block) for block in (noisy if len(noisy) > BLOCKS_KEPT // 3 else list(self._blocks))[:TRIM]}
        for block in self._blocks:
            if id(block) in going and (not block.noise or block.noise in self.show):
                self.dropped += len(block.shown(chains=self.chains))
        self._blocks = deque(block for block in self._blocks if id(block) not in going)


def _put(known: OrderedDict[str, Any], key: str, value: Any, most: int) -> None:
    known[key] = value
    if len(known) > most:
        known.popitem(last=False)


def _passes_by(span: Span) -> bool:
    """Whether a trace that begins so is of what goes on all the time, which a client's writes are kept longer than."""
    kind, verb = kind_of(span["object"]), span["verb"]
    return verb in READS or kind == "lease" or (kind == "node" and verb == "patch")


def _joined(names: str, name: str) -> str:
    return names if name in names.split(", ") else f"{names}, {name}"


def _name(exchange: Exchange) -> str:
    """A create has no name in its URL, and may get one on the way."""
    parts = exchange.object.split("/")
    named = exchange.verb not in ("create", "list", "watch", "deletecollection") or len(parts) > 2
    if not named:
        return ""
    name, sub = name_of(exchange.object), exchange.subresource
    return f"{name}/{sub}" if sub and not exchange.is_binding else name


def _common(one: str, other: str) -> str:
    """The component that two labels start with; "" where they are of two."""
    first = one.partition(" ")[0]
    return f"{first} " if first == other.partition(" ")[0] else ""


def _noise_of_request(exchange: Exchange) -> str:
    if exchange.is_read:
        is_own = exchange.agent.partition("/")[0] in READERS
        is_seen = exchange.source == CLIENT and not is_own and not exchange.object.startswith("/")
        return "" if is_seen else "reads"
    return _noise_of_object(exchange.object, exchange.verb, exchange.user if not exchange.parent else "")


def _noise_of_object(object: str, verb: str, user: str) -> str:
    match kind_of(object):
        case "event":
            return "events"
        case "lease":
            return "heartbeats"
        case "node" if verb == "patch" and user.startswith("system:node:"):
            return "heartbeats"
        case _:
            return ""
