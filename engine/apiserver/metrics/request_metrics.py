"""What /metrics says of requests: how many there were, how long they took, how many are under way.

Source: apiserver pkg/endpoints/metrics (the names, the buckets, how verb and scope are written) and
pkg/server/filters/maxinflight.go. As there, only requests that reach a handler are counted: who is refused at the door
is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from engine.api.warnings import removed_in
from engine.api.wire import APPLY_PATCH
from engine.apiserver.call import DEPRECATED, Call
from engine.apiserver.request_info import LONG_RUNNING_SUBRESOURCES, RequestInfo
from engine.metric_text import metric
from engine.metrics import Counter, Distribution, Gauge, Histogram, Sample, exponential_buckets

_BUCKETS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
_OWN_BUCKETS = _BUCKETS[2:]
_SIZE_BUCKETS = exponential_buckets(1000, 10, 7)  # bytes
_BODY_BUCKETS = tuple(50_000 + 100_000 * step for step in range(31))
_WITH_BODIES = frozenset(("create", "update", "patch", "delete", "deletecollection"))
_SELF = "system:apiserver"
_CONNECT = LONG_RUNNING_SUBRESOURCES - {"log"}
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "CONNECT"))
_MOST_KNOWN = 10_000
_READ_ONLY = frozenset(("get", "list", "watch"))


class RequestKind(NamedTuple):
    """The labels that count and duration share."""

    verb: str
    dry_run: str
    group: str
    version: str
    resource: str
    subresource: str
    scope: str

    @classmethod
    def of(cls, call: Call) -> RequestKind:
        info = call.info
        dry_run = ",".join(sorted(set(call.request.query.get("dryRun", ()))))
        if not info.is_resource:
            return cls(_method(call), dry_run, "", "", "", info.path, "")
        return cls(_verb(call), dry_run, info.group, info.version, info.resource, info.subresource, scope_of(info))

    def labels(self) -> dict[str, str]:
        """In the order of their names, as Prometheus' own client writes them."""
        return dict(sorted({**self._asdict(), "component": "apiserver"}.items()))


class _Figures:
    """Of the requests of one kind: how many there were by the code of their answers, and how long they took. Those that
    differ in their dryRun alone share `own`, the time without waits, and `sizes`, the bytes of their answers."""

    __slots__ = ("answered", "durations", "own", "sizes")

    def __init__(self, own: Distribution, sizes: Distribution) -> None:
        self.answered: defaultdict[int, int] = defaultdict(int)
        self.durations = Distribution(_BUCKETS)
        self.own = own
        self.sizes = sizes


def scope_of(info: RequestInfo) -> str:
    """What a request is about: one object, a namespace of them, or all (CleanScope)."""
    if info.name or info.verb == "create":
        return "resource"
    return "namespace" if info.namespace else "cluster"


def _verb(call: Call) -> str:
    info = call.info
    if info.subresource in _CONNECT:
        return "CONNECT"
    if info.verb in ("list", "watch", "deletecollection"):
        return info.verb.upper()
    if call.request.method == "PATCH" and call.request.headers.get("content-type", "").startswith(APPLY_PATCH):
        return "APPLY"
    return _method(call)


def _method(call: Call) -> str:
    """As metrics have it: what else a client makes up is one (CanonicalVerb, cleanVerb)."""
    method = call.request.method
    return "GET" if method == "HEAD" else method if method in _METHODS else "other"


class RequestMetrics:
    """Durations are this machine's, as spans have them: simulated latencies are the model's, and not in them."""

    def __init__(self) -> None:
        self._figures: dict[RequestKind, _Figures] = {}
        self._own: dict[RequestKind, Distribution] = {}  # of kinds without their dryRun
        self._known: dict[tuple[str | bool, ...], _Figures] = {}
        self._sizes: dict[RequestKind, Distribution] = {}  # likewise
        self._terminated: dict[tuple[RequestKind, int], int] = {}
        self._deprecated = Gauge(
            "apiserver_requested_deprecated_apis",
            "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, "
            "subresource, and removed_release.",
            *("group", "version", "resource", "subresource", "removed_release"),
        )
        self._reading = self._writing = 0  # in flight
        self._validations = set[str]()  # what was asked for by fieldValidation
        self._own_requests = Counter(
            "apiserver_selfrequest_total",
            "[ALPHA] Counter of apiserver self-requests broken out for each verb, API resource and subresource.",
            *("verb", "group", "resource", "subresource"),
        )
        self._bodies = Histogram(
            "apiserver_request_body_size_bytes",
            "[ALPHA] Apiserver request body size in bytes broken out by resource and verb.",
            *("group", "resource", "verb"),
            buckets=_BODY_BUCKETS,
        )

    def began(self, info: RequestInfo) -> None:
        if info.verb in _READ_ONLY:
            self._reading += 1
        else:
            self._writing += 1

    def ended(self, info: RequestInfo) -> None:
        if info.verb in _READ_ONLY:
            self._reading -= 1
        else:
            self._writing -= 1

    def record(self, call: Call, code: int, seconds: float, *, own: float) -> None:
        """One that a handler has answered; of a watch the time says nothing, and is left out. `own` is what it took
        without waiting for its turn or for webhooks."""
        figures = self._of(call)
        figures.answered[code] += 1
        if DEPRECATED in call.annotations and (resource := call.resource) is not None:
            removed, gvr = removed_in(resource), resource.gvr
            if removed is not None:
                self._deprecated.set(gvr.group, gvr.version, gvr.resource, call.info.subresource, removed, to=1)
        info, query = call.info, call.request.query
        self._validations.add(_field_validation(query) if "fieldValidation" in query else "")
        if call.user.name == _SELF and info.is_resource:
            self._own_requests.add(_verb(call), info.group, info.resource, info.subresource)
        if info.verb in _WITH_BODIES and info.is_resource and isinstance(call.request.body, bytes):
            verb = "delete_collection" if info.verb == "deletecollection" else info.verb
            self._bodies.observe(len(call.request.body), info.group, info.resource, verb)
        if info.long_running:
            return
        figures.durations.observe(seconds)
        figures.own.observe(own)

    def _of(self, call: Call) -> _Figures:
        """The figures of a request's kind: of one that says all that counts in its path they are found by that."""
        info, request = call.info, call.request
        if not info.is_resource or request.query or request.method == "PATCH":
            return self._of_kind(RequestKind.of(call))
        key = (request.method, info.verb, info.group, info.version, info.resource, info.subresource, bool(info.name),
               bool(info.namespace))  # fmt: skip
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._of_kind(RequestKind.of(call))
        return found

    def _of_kind(self, kind: RequestKind) -> _Figures:
        found = self._figures.get(kind)
        if found is None:
            plain = kind._replace(dry_run="")
            own = self._own.setdefault(plain, Distribution(_OWN_BUCKETS))
            sizes = self._sizes.setdefault(plain, Distribution(_SIZE_BUCKETS))
            found = self._figures[kind] = _Figures(own, sizes)
        return found

    def sizes(self, call: Call) -> Callable[[int], None] | None:
        """Who is to be told the size of an answer: of reads alone, and only where it is written to a socket."""
        if call.request.in_process or call.request.method != "GET" or call.info.long_running:
            return None
        return self._of(call).sizes.observe

    def dropped(self, call: Call) -> None:
        """One for which there was no room (RecordDroppedRequest)."""
        self._of(call).answered[429] += 1

    def terminated(self, call: Call, code: int) -> None:
        """One that was given up because it took too long (RecordRequestTermination)."""
        key = RequestKind.of(call)._replace(dry_run=""), code
        self._terminated[key] = self._terminated.get(key, 0) + 1

    def lines(self) -> Iterator[str]:
        yield from metric(
            "apiserver_request_total",
            "counter",
            [
                _with_code(kind, code, count)
                for kind, figures in sorted(self._figures.items(), key=_kind)
                for code, count in sorted(figures.answered.items())
            ],
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
            "scope, component, and HTTP response code.",
        )
        yield from metric(
            "apiserver_request_duration_seconds",
            "histogram",
            [
                each
                for kind, figures in sorted(self._figures.items(), key=_kind)
                if figures.durations.seen
                for each in figures.durations.samples(kind.labels())
            ],
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
            "subresource, scope and component.",
        )
        yield from metric(
            "apiserver_request_sli_duration_seconds",
            "histogram",
            [
                each
                for kind, found in sorted(self._own.items(), key=_kind)
                if found.seen
                for each in found.samples(_without(kind))
            ],
            "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait "
            "times) in seconds for each verb, group, version, resource, subresource, scope and component.",
        )
        yield from metric(
            "apiserver_response_sizes",
            "histogram",
            [
                each
                for kind, found in sorted(self._sizes.items(), key=_kind)
                if found.seen
                for each in found.samples(_without(kind))
            ],
            "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope "
            "and component.",
        )
        yield from metric(
            "apiserver_request_terminations_total",
            "counter",
            [
                Sample(dict(sorted({**_without(kind), "code": str(code)}.items())), count)
                for (kind, code), count in sorted(self._terminated.items())
            ],
            "[ALPHA] Number of requests which apiserver terminated in self-defense.",
        )
        nothing = Distribution(_OWN_BUCKETS)  # upstream names the values that were asked for, and observes nothing
        yield from metric(
            "field_validation_request_duration_seconds",
            "histogram",
            [each for value in sorted(self._validations) for each in nothing.samples({"field_validation": value})],
            "[ALPHA] Response latency distribution in seconds for each field validation value",
        )
        for family in (self._deprecated, self._own_requests, self._bodies):
            yield from metric(family.name, family.kind, list(family.samples()), family.help)
        yield from metric(
            "apiserver_current_inflight_requests",
            "gauge",
            [Sample({"request_kind": "mutating"}, self._writing), Sample({"request_kind": "readOnly"}, self._reading)],
            "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in "
            "last second.",
        )


def _field_validation(query: Mapping[str, list[str]]) -> str:
    values = query["fieldValidation"]
    known = len(values) == 1 and values[0] in ("", "Ignore", "Warn", "Strict")
    return values[0] if known else "invalid"


def _kind(pair: tuple[RequestKind, object]) -> RequestKind:
    return pair[0]


def _without(kind: RequestKind) -> dict[str, str]:
    """The labels of what does not tell dry runs apart."""
    labels = kind.labels()
    del labels["dry_run"]
    return labels


def _with_code(kind: RequestKind, code: int, count: int) -> Sample:
    return Sample(dict(sorted({**kind.labels(), "code": str(code)}.items())), count)
