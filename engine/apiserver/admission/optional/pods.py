"""Where Pods may go: PodNodeSelector, PodTolerationRestriction, ExtendedResourceToleration and
LimitPodHardAntiAffinityTopology.

Source: plugin/pkg/admission/podnodeselector, podtolerationrestriction, extendedresourcetoleration and antiaffinity.
The files that the first two can have for a whole cluster are left out: namespaces say it in their annotations.
"""

from __future__ import annotations

from engine.api.errors import ApiError, forbidden, not_found
from engine.api.golang.text import quoted
from engine.api.label_syntax import label_key_errors, label_value_errors
from engine.api.qos import qos_class
from engine.api.tolerations import merged, permitted
from engine.api.types import NAMESPACES, PODS, Object, copy_object
from engine.api.validation.annotated_json import Struct, decoded
from engine.api.validation.resources import is_extended_resource
from engine.apiserver.admission.attributes import CREATES, WRITES, Attributes, Operation, Plugin, denied
from engine.apiserver.lookup import Lookup

_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
_DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
_WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
_TOLERATION = Struct(
    "v1", "Toleration", dict.fromkeys(("key", "operator", "value", "effect"), "string") | {"tolerationSeconds": "int64"}
)
_HOSTNAME = "kubernetes.io/hostname"


async def _annotation(lookup: Lookup, attributes: Attributes, key: str) -> str | None:
    """Of the namespace that a Pod is in. Raises ApiError 404."""
    namespace = await lookup.find(NAMESPACES, "", attributes.namespace)
    if namespace is None:
        raise not_found(NAMESPACES, attributes.namespace)
    found: str | None = (namespace["metadata"].get("annotations") or {}).get(key)
    return found


def _plain(why: str) -> ApiError:
    """An error without a code of its own."""
    return ApiError(500, "", why)


class PodNodeSelector(Plugin):
    """Pods get the node selector of their namespace, and none that contradicts it."""

    name = "PodNodeSelector"
    operations = CREATES
    default = False

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, attributes: Attributes) -> bool:
        wanted = await self._wanted(attributes)
        if not wanted or attributes.object is None:
            return False
        spec = attributes.object["spec"]
        spec["nodeSelector"] = {**wanted, **(spec.get("nodeSelector") or {})}
        return True

    async def validate(self, attributes: Attributes) -> None:
        await self._wanted(attributes)

    async def _wanted(self, attributes: Attributes) -> dict[str, str]:
        """Raises ApiError 403 for a Pod that wants otherwise."""
        if attributes.key != "pods" or attributes.object is None:
            return {}
        wanted = _labels(await _annotation(self._lookup, attributes, _SELECTOR) or "")
        own = attributes.object["spec"].get("nodeSelector") or {}
        if any(own.get(name, value) != value for name, value in wanted.items()):
            why = "pod node label selector conflicts with its namespace node label selector"
            raise forbidden(PODS, attributes.object["metadata"].get("name", ""), why)
        return wanted


def _labels(selector: str) -> dict[str, str]:
    """`env=test,infra=fedora` as labels (labels.ConvertSelectorToLabelsMap). Raises ApiError 500."""
    found = {}
    for part in selector.split(",") if selector else ():
        pair = part.split("=")
        if len(pair) != 2:
            raise _plain(f"invalid selector: [{' '.join(pair)}]")
        key, value = pair[0].strip(), pair[1].strip()
        if wrong := label_key_errors(key):
            raise _plain(f"<nil>: Invalid value: {quoted(key)}: {'; '.join(wrong)}")
        if wrong := label_value_errors(value):
            raise _plain(f"[{key}]: Invalid value: {quoted(value)}: {'; '.join(wrong)}")
        found[key] = value
    return found


class PodTolerationRestriction(Plugin):
    """Pods get the tolerations of their namespace, and may have only those that it permits."""

    name = "PodTolerationRestriction"
    operations = WRITES
    default = False

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if attributes.key != "pods" or pod is None:
            return False
        given: list[Object] = []
        if attributes.operation is Operation.CREATE:
            given = await self._tolerations(attributes, _DEFAULTS) or []
        if qos_class(pod) != "BestEffort":
            given = merged(given, [_PRESSURE])
        if given:
            found = merged(given, pod["spec"].get("tolerations") or ())
            pod["spec"]["tolerations"] = [copy_object(each) for each in found]
        await self._permit(attributes, pod)
        return bool(given)

    async def validate(self, attributes: Attributes) -> None:
        if attributes.key == "pods" and attributes.object is not None:
            await self._permit(attributes, attributes.object)

    async def _permit(self, attributes: Attributes, pod: Object) -> None:
        tolerations = pod["spec"].get("tolerations") or ()
        if tolerations and not permitted(tolerations, await self._tolerations(attributes, _WHITELIST) or ()):
            raise _plain(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace "
                "whitelist"
            )

    async def _tolerations(self, attributes: Attributes, key: str) -> list[Object] | None:
        text = await _annotation(self._lookup, attributes, key)
        if not text:
            return None
        found = decoded(text, _TOLERATION, many=True)
        if isinstance(found, str):
            raise _plain(found)
        tolerations: list[Object] = found
        return tolerations


class ExtendedResourceToleration(Plugin):
    """Nodes with devices may be tainted by the devices' names: Pods that request them tolerate that."""

    name = "ExtendedResourceToleration"
    operations = WRITES
    default = False

    async def mutate(self, attributes: Attributes) -> bool:
        if attributes.key != "pods" or attributes.object is None:
            return False
        spec = attributes.object["spec"]
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        requests = {name for each in containers for name in (each.get("resources") or {}).get("requests") or ()}
        wanted = sorted(name for name in requests if is_extended_resource(name))
        for name in wanted:
            _tolerate(spec, {"key": name, "operator": "Exists", "effect": "NoSchedule"})
        return bool(wanted)


def _tolerate(spec: Object, toleration: Object) -> None:
    """In the place of those of the same key, operator, value and effect, or behind all others."""
    fields = ("key", "operator", "value", "effect")
    before: list[Object] = list(spec.get("tolerations") or ())
    same = [all((each.get(field) or "") == toleration.get(field, "") for field in fields) for each in before]
    found = [toleration if is_same else each for each, is_same in zip(before, same, strict=True)]
    spec["tolerations"] = found if any(same) else [*found, toleration]


class LimitPodHardAntiAffinityTopology(Plugin):
    """No Pod keeps others off more than its own node."""

    name = "LimitPodHardAntiAffinityTopology"
    operations = WRITES
    default = False

    async def validate(self, attributes: Attributes) -> None:
        if attributes.key != "pods" or attributes.object is None:
            return
        affinity = (attributes.object["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            if term.get("topologyKey") != _HOSTNAME:
                raise denied(
                    attributes,
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                    f"{term.get('topologyKey', '')} but only key {_HOSTNAME} is allowed",
                )
