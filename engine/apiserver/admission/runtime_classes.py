"""RuntimeClass: a Pod gets the overhead, node selector and tolerations of its class, which must exist.

Source: plugin/pkg/admission/runtimeclass and pkg/util/tolerations (MergeTolerations).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.quantity import Quantity, QuantityError
from engine.api.tolerations import merged
from engine.api.types import GVR, Object, copy_object
from engine.api.validation import text
from engine.apiserver.admission.attributes import CREATES, Attributes, Operation, Plugin, Watched, denied, version_of
from engine.apiserver.lookup import Lookup

RUNTIME_CLASSES = GVR("node.k8s.io", "v1", "runtimeclasses")
_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClass(Plugin):
    name = "RuntimeClass"
    operations = CREATES
    resources = frozenset(("pods",))

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, attributes: Attributes) -> bool:
        pod = _new_pod(attributes)
        if pod is None:
            return False
        found = await self._class(attributes, pod)
        if found is None:
            return False
        changed = _set_overhead(attributes, pod["spec"], found)
        return _set_scheduling(attributes, pod["spec"], found.get("scheduling")) or changed

    async def ground(self, attributes: Attributes) -> Hashable:
        pod = _new_pod(attributes)
        found = await self._class(attributes, pod) if pod is not None else None
        return version_of(found) if found is not None else ()

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        pod = _new_pod(attributes)
        return () if pod is not None and pod["spec"].get("runtimeClassName") is None else None

    async def validate(self, attributes: Attributes) -> None:
        pod = _new_pod(attributes)
        if pod is None:
            return
        found = await self._class(attributes, pod)
        wanted = ((found or {}).get("overhead") or {}).get("podFixed")
        overhead = pod["spec"].get("overhead")
        if found is not None and found.get("overhead") is not None:
            if not _same(wanted, overhead):
                raise denied(attributes, _MISMATCH)
        elif overhead is not None:
            raise denied(
                attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            )

    async def _class(self, attributes: Attributes, pod: Object) -> Object | None:
        name = pod["spec"].get("runtimeClassName")
        if name is None:
            return None
        if not name:  # upstream's plugin asks with a client, which sends no request that names nothing
            raise ApiError(500, "", "resource name may not be empty")
        if wrong := text.path_segment(name):  # nor one with a name that is no part of a path
            raise ApiError(500, "", f"invalid resource name {quoted(name)}: [{' '.join(wrong)}]")
        found = await self._lookup.find(RUNTIME_CLASSES, "", name)
        if found is None:
            raise denied(attributes, f'pod rejected: RuntimeClass "{name}" not found')
        return found


def _new_pod(attributes: Attributes) -> Object | None:
    if attributes.key != "pods" or attributes.operation is not Operation.CREATE:
        return None
    return attributes.object


def _set_overhead(attributes: Attributes, spec: Object, found: Object) -> bool:
    if found.get("overhead") is None:
        return False
    wanted = found["overhead"].get("podFixed")
    if spec.get("overhead") is not None and not _same(wanted, spec["overhead"]):
        raise denied(attributes, _MISMATCH)
    if wanted is None:
        return False
    spec["overhead"] = dict(wanted)
    return True


def _set_scheduling(attributes: Attributes, spec: Object, scheduling: Object | None) -> bool:
    if scheduling is None:
        return False
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            raise denied(
                attributes,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    if found := merged(spec.get("tolerations") or (), scheduling.get("tolerations") or ()):
        spec["tolerations"] = [copy_object(toleration) for toleration in found]
    return True


def _same(one: Object | None, other: Object | None) -> bool:
    """Whether two resource lists are equal as amounts, however they are written; an empty one is as none."""
    one, other = one or {}, other or {}
    try:
        return one.keys() == other.keys() and all(
            Quantity.parse(str(value)) == Quantity.parse(str(other[name])) for name, value in one.items()
        )
    except QuantityError:
        return one == other
