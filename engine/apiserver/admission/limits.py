"""LimitRanger: defaults and bounds for what the containers of a namespace ask for.

Source: plugin/pkg/admission/limitranger/admission.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from engine.api.errors import aggregated
from engine.api.pod_amounts import amounts_without_overhead
from engine.api.quantity import Quantity
from engine.api.quota import Amounts, parsed
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, Watched, denied, version_of
from engine.apiserver.cacher.caches import WatchCaches

LIMIT_RANGES = GVR("", "v1", "limitranges")
ANNOTATION = "kubernetes.io/limit-ranger"
_CONTAINERS = ("containers", "initContainers")
_CREATE, _UPDATE = Operation.CREATE, Operation.UPDATE
# Containers keep their resources, but for those that `resize` changes.
_FILLED = frozenset({("pods", _CREATE), ("pods/resize", _UPDATE)})
_CLAIMS = "persistentvolumeclaims"
_BOUND = _FILLED | {(_CLAIMS, _CREATE), (_CLAIMS, _UPDATE)}


class LimitRanger(Plugin):
    name = "LimitRanger"
    operations = WRITES
    resources = frozenset(key for key, _ in _BOUND)

    def __init__(self, caches: WatchCaches, ranges: ResourceInfo | None) -> None:
        self._caches = caches
        self._ranges = ranges

    async def mutate(self, attributes: Attributes) -> bool:
        obj = attributes.object
        if not _handles(attributes, _FILLED) or obj is None:
            return False
        changed = False
        for limits in await self._limits(attributes.namespace):
            said: list[str] = []
            for limit in limits:
                if limit.get("type") == "Container":
                    said += _fill(obj, limit)
            if said and not attributes.subresource:  # `resize` leaves metadata as they are
                annotations = obj["metadata"].setdefault("annotations", {})
                annotations[ANNOTATION] = f"LimitRanger plugin set: {'; '.join(said)}"
            changed = changed or bool(said)
        return changed

    async def validate(self, attributes: Attributes) -> None:
        """Tells what is wrong by the first of a namespace's ranges that anything is wrong by."""
        obj = attributes.object
        if not _handles(attributes, _BOUND) or obj is None:
            return
        for limits in await self._limits(attributes.namespace):
            if problems := list(_wrong(limits, obj)):
                raise denied(attributes, aggregated(problems))

    async def ground(self, attributes: Attributes) -> Hashable:
        return tuple(version_of(found) for found in await self._found(attributes.namespace))

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        cache = self._caches.of(self._ranges) if self._ranges is not None else None
        return (cache,) if cache is not None else None

    async def _limits(self, namespace: str) -> Iterable[list[Object]]:
        return [(found.get("spec") or {}).get("limits") or [] for found in await self._found(namespace)]

    async def _found(self, namespace: str) -> Iterable[Object]:
        if self._ranges is None:
            return ()
        return (await self._caches.started(self._ranges)).objects(namespace)


def _handles(attributes: Attributes, what: frozenset[tuple[str, Operation]]) -> bool:
    """What is going is let be."""
    if (attributes.key, attributes.operation) not in what:
        return False
    return attributes.old is None or "deletionTimestamp" not in attributes.old["metadata"]


def _fill(pod: Object, limit: Object) -> list[str]:
    """Give containers what they leave out; says what was given, in the words of the annotation."""
    said = []
    for field in _CONTAINERS:
        for container in pod["spec"].get(field) or ():
            who = f"{'init ' if field == 'initContainers' else ''}container {container.get('name', '')}"
            resources = container.setdefault("resources", {})
            for part, title, source in (("requests", "request", "defaultRequest"), ("limits", "limit", "default")):
                missing = {
                    name: amount
                    for name, amount in (limit.get(source) or {}).items()
                    if name not in (resources.get(part) or {})
                }
                if missing:
                    resources[part] = {**(resources.get(part) or {}), **missing}
                    said.append(f"{', '.join(sorted(missing))} {title} for {who}")
    return said


def _wrong(limits: list[Object], obj: Object) -> Iterator[str]:
    spec = obj.get("spec") or {}
    for limit in limits:
        match limit.get("type"):
            case "Container":
                for field in _CONTAINERS:
                    for container in spec.get(field) or ():
                        resources = container.get("resources") or {}
                        yield from _problems(limit, parsed(resources.get("requests")), parsed(resources.get("limits")))
            case "Pod" if "containers" in spec:
                most = (amounts_without_overhead(spec, part) for part in ("requests", "limits"))
                yield from _problems(limit, *most)
            case "PersistentVolumeClaim" if "containers" not in spec:
                yield from _claim_problems(limit, parsed((spec.get("resources") or {}).get("requests")))


def _problems(limit: Object, requests: Amounts, ceilings: Amounts) -> Iterator[str]:
    kind = limit["type"]
    for name, bound in _bounds(limit, "min"):
        yield from _below(name, kind, bound, request=requests.get(name), ceiling=ceilings.get(name))
    for name, bound in _bounds(limit, "max"):
        yield from _above(name, kind, bound, request=requests.get(name), ceiling=ceilings.get(name))
    for name, bound in _bounds(limit, "maxLimitRequestRatio"):
        yield from _ratio(name, kind, bound, request=requests.get(name), ceiling=ceilings.get(name))


def _claim_problems(limit: Object, requests: Amounts) -> Iterator[str]:
    """Of a claim its requests alone are bounded."""
    kind = limit["type"]
    for name, bound in _bounds(limit, "min"):
        yield from _below(name, kind, bound, request=requests.get(name), ceiling=None)
    for name, bound in _bounds(limit, "max"):
        text, request = f"maximum {name} usage per {kind} is {bound}", requests.get(name)
        if request is None:
            yield f"{text}.  No request is specified"
        elif request > bound:
            yield f"{text}, but request is {request}"


def _bounds(limit: Object, field: str) -> list[tuple[str, Quantity]]:
    return sorted(parsed(limit.get(field)).items(), key=lambda each: each[0])


def _below(name: str, kind: str, bound: Quantity, *, request: Quantity | None, ceiling: Quantity | None) -> list[str]:
    text = f"minimum {name} usage per {kind} is {bound}"
    if request is None:
        return [f"{text}.  No request is specified"]
    if request < bound:
        return [f"{text}, but request is {request}"]
    return [f"{text}, but limit is {ceiling}"] if ceiling is not None and ceiling < bound else []


def _above(name: str, kind: str, bound: Quantity, *, request: Quantity | None, ceiling: Quantity | None) -> list[str]:
    text = f"maximum {name} usage per {kind} is {bound}"
    if ceiling is None:
        return [f"{text}.  No limit is specified"]
    if ceiling > bound:
        return [f"{text}, but limit is {ceiling}"]
    return [f"{text}, but request is {request}"] if request is not None and request > bound else []


def _ratio(name: str, kind: str, bound: Quantity, *, request: Quantity | None, ceiling: Quantity | None) -> list[str]:
    text = f"{name} max limit to request ratio per {kind} is {bound}"
    if request is None or not request.milli:
        return [f"{text}, but no request is specified or request is 0"]
    if ceiling is None or not ceiling.milli:
        return [f"{text}, but no limit is specified or limit is 0"]
    observed = ceiling.milli / request.milli
    return [f"{text}, but provided ratio is {observed:.6f}"] if observed > bound.milli / 1000 else []
