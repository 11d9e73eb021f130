"""LimitRanger: defaults and bounds for what the containers of a namespace ask for.

Source: plugin/pkg/admission/limitranger/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.quantity import Quantity
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, denied
from engine.apiserver.caches import WatchCaches

LIMIT_RANGES = GVR("", "v1", "limitranges")
ANNOTATION = "kubernetes.io/limit-ranger"
_CONTAINERS = ("containers", "initContainers")
_KINDS = ("pods", "persistentvolumeclaims")

Amounts = dict[str, Quantity]


class LimitRanger(Plugin):
    name = "LimitRanger"

    def __init__(self, caches: WatchCaches, ranges: ResourceInfo | None) -> None:
        self._caches = caches
        self._ranges = ranges

    async def mutate(self, attributes: Attributes) -> bool:
        obj = attributes.object
        if attributes.key != "pods" or attributes.operation is not Operation.CREATE or obj is None:
            return False
        said: list[str] = []
        for limits in await self._limits(attributes.namespace):
            for limit in limits:
                if limit.get("type") == "Container":
                    said += _fill(obj, limit)
        if said:
            annotations = obj["metadata"].setdefault("annotations", {})
            annotations[ANNOTATION] = f"LimitRanger plugin set: {'; '.join(said)}"
        return bool(said)

    async def validate(self, attributes: Attributes) -> None:
        obj = attributes.object
        if attributes.key not in _KINDS or obj is None or attributes.operation is Operation.DELETE:
            return
        if attributes.key == "pods" and attributes.operation is Operation.UPDATE:
            return  # its resources do not change, or through `resize` alone
        problems: list[str] = []
        for limits in await self._limits(attributes.namespace):
            for limit in limits:
                for requests, ceilings in _measured(attributes.key, obj, limit.get("type", "")):
                    problems += _problems(limit, requests, ceilings)
        problems = list(dict.fromkeys(problems))  # as an aggregate of errors says each text once
        if problems:
            raise denied(attributes, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")

    async def _limits(self, namespace: str) -> Iterable[list[Object]]:
        if self._ranges is None:
            return ()
        cache = await self._caches.started(self._ranges)
        return [(found.get("spec") or {}).get("limits") or [] for found in cache.objects(namespace)]


def _fill(pod: Object, limit: Object) -> list[str]:
    """Give containers what they leave out; says what was given, in the words of the annotation."""
    said = []
    for field in _CONTAINERS:
        for container in pod["spec"].get(field) or ():
            who = f"{'init ' if field == 'initContainers' else ''}container {container['name']}"
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


def _amounts(resources: Object, part: str) -> Amounts:
    return {name: Quantity.parse(amount) for name, amount in (resources.get(part) or {}).items()}


def _measured(key: str, obj: Object, kind: str) -> Iterator[tuple[Amounts, Amounts]]:
    """Requests and limits of each thing that a limit of that type is about."""
    spec = obj.get("spec") or {}
    if key == "persistentvolumeclaims":
        if kind == "PersistentVolumeClaim":
            yield _amounts(spec.get("resources") or {}, "requests"), {}
        return
    every = [[container.get("resources") or {} for container in spec.get(field) or ()] for field in _CONTAINERS]
    if kind == "Container":
        for resources in (*every[0], *every[1]):
            yield _amounts(resources, "requests"), _amounts(resources, "limits")
    elif kind == "Pod":
        yield _total(every[0], every[1], "requests"), _total(every[0], every[1], "limits")


def _total(containers: list[Object], init: list[Object], part: str) -> Amounts:
    """The sum of the containers, or what one init container asks for if that is more."""
    total: Amounts = {}
    for resources in containers:
        for name, amount in _amounts(resources, part).items():
            total[name] = total[name] + amount if name in total else amount
    for resources in init:
        for name, amount in _amounts(resources, part).items():
            if name not in total or amount > total[name]:
                total[name] = amount
    return total


def _problems(limit: Object, requests: Amounts, ceilings: Amounts) -> list[str]:
    kind = limit.get("type", "")
    problems = []
    for name, text in sorted((limit.get("min") or {}).items()):
        problems += _below(name, kind, Quantity.parse(text), request=requests.get(name), ceiling=ceilings.get(name))
    for name, text in sorted((limit.get("max") or {}).items()):
        problems += _above(name, kind, Quantity.parse(text), request=requests.get(name), ceiling=ceilings.get(name))
    for name, text in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
        problems += _ratio(name, kind, Quantity.parse(text), request=requests.get(name), ceiling=ceilings.get(name))
    return problems


def _below(name: str, kind: str, bound: Quantity, *, request: Quantity | None, ceiling: Quantity | None) -> list[str]:
    text = f"minimum {name} usage per {kind} is {bound}"
    if request is None:
        return [f"{text}.  No request is specified"]
    if request < bound:
        return [f"{text}, but request is {request}"]
    return [f"{text}, but limit is {ceiling}"] if ceiling is not None and ceiling < bound else []


def _above(name: str, kind: str, bound: Quantity, *, request: Quantity | None, ceiling: Quantity | None) -> list[str]:
    text = f"maximum {name} usage per {kind} is {bound}"
    if kind == "PersistentVolumeClaim":
        return [f"{text}, but request is {request}"] if request is not None and request > bound else []
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
