"""EventRateLimit: who tells too many events is told to wait (plugin/pkg/admission/eventratelimit)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from engine.api.errors import ApiError, aggregated
from engine.api.types import EVENTS, Object
from engine.api.validation.problems import Problems
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin
from engine.clock import Clock

API_VERSION, KIND = "eventratelimit.admission.k8s.io/v1alpha1", "Configuration"
_SIZE = 4096  # how many keys of a limit are remembered, unless it says else
_SOURCE, _OBJECT = ("component", "host"), ("kind", "namespace", "name", "uid", "apiVersion")


def _whence_and_what(attributes: Attributes) -> str:
    event = attributes.object or {}
    source, of = event.get("source") or {}, event.get("involvedObject") or {}
    return "".join([*(source.get(field, "") for field in _SOURCE), *(of.get(field, "") for field in _OBJECT)])


_KEYS: dict[str, Callable[[Attributes], str]] = {
    "Server": lambda attributes: "",
    "Namespace": lambda attributes: attributes.namespace,
    "User": lambda attributes: attributes.user.name,
    "SourceAndObject": _whence_and_what,
}


def limit_problems(configuration: Object) -> Problems:
    """What is wrong with a Configuration of limits."""
    problems, limits = Problems(), configuration.get("limits")
    if not limits:
        problems.invalid("limits", limits, "must not be empty")
    for position, limit in enumerate(limits or ()):
        path = f"limits[{position}]"
        if limit.get("type", "") not in _KEYS:
            problems.not_supported(f"{path}.type", limit.get("type", ""), sorted(_KEYS))
        for field in ("burst", "qps"):
            if (value := limit.get(field, 0)) <= 0:
                problems.invalid(f"{path}.{field}", value, "must be positive")
        if limit.get("type") != "Server" and (size := limit.get("cacheSize", 0)) < 0:
            problems.invalid(f"{path}.cacheSize", size, "must not be negative")
    return problems


class EventRateLimit(Plugin):
    name = "EventRateLimit"
    operations = WRITES
    default = False

    def __init__(self, clock: Clock, limits: Iterable[Object] = ()) -> None:
        """`limits` as in the `limits` of a Configuration without problems."""
        self._limits = [_Limit(clock, limit) for limit in limits]

    async def validate(self, attributes: Attributes) -> None:
        """Every limit counts each event, also one that another refuses; what is stored nowhere counts for none. Raises
        ApiError 429."""
        if attributes.resource.gvr != EVENTS or attributes.operation is Operation.DELETE or attributes.dry_run:
            return
        reached = [limit for limit in self._limits if not limit.accepts(attributes)]
        if reached:
            texts = (f"limit reached on type {limit.type} for key {limit.key(attributes)}" for limit in reached)
            raise ApiError(429, "TooManyRequests", f"Too many requests: {aggregated(texts)}")


class _Limit:
    """A bucket of a key holds `burst` tokens and gets `qps` of them a second; what was used the longest ago is
    forgotten first."""

    def __init__(self, clock: Clock, limit: Object) -> None:
        self.type: str = limit["type"]
        self.key = _KEYS[self.type]
        self._clock = clock
        self._qps, self._burst = float(limit["qps"]), float(limit["burst"])
        self._size: int = limit.get("cacheSize") or _SIZE
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # the tokens at a time

    def accepts(self, attributes: Attributes) -> bool:
        key, now = self.key(attributes), self._clock.monotonic()
        tokens, since = self._buckets.pop(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._qps)
        accepted = tokens >= 1
        self._buckets[key] = (tokens - 1 if accepted else tokens, now)
        if len(self._buckets) > self._size:
            self._buckets.popitem(last=False)
        return accepted
