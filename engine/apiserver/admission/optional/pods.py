"""Where Pods may go: PodNodeSelector, PodTolerationRestriction, ExtendedResourceToleration and
LimitPodHardAntiAffinityTopology.

Source: plugin/pkg/admission/podnodeselector, podtolerationrestriction, extendedresourcetoleration and antiaffinity.
What the first two ask of Pods their namespaces say in annotations, and a configuration for the whole cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
_FOR_ALL = "clusterDefaultNodeSelector"
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
    """Pods get the node selector of their namespace or, where it says none, of the cluster, and none that contradicts
    it, nor one that their namespace is not permitted. `selectors` are those that a configuration has, by namespace."""

    name = "PodNodeSelector"
    operations = CREATES
    default = False

    def __init__(self, lookup: Lookup, selectors: Mapping[str, str]) -> None:
        self._lookup = lookup
        self._selectors = selectors

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if attributes.key != "pods" or pod is None:
            return False
        wanted = await self._wanted(attributes, pod)
        if wanted:
            pod["spec"]["nodeSelector"] = {**wanted, **(pod["spec"].get("nodeSelector") or {})}
        self._check_permitted(attributes, pod)
        return bool(wanted)

    async def validate(self, attributes: Attributes) -> None:
        pod = attributes.object
        if attributes.key == "pods" and pod is not None:
            await self._wanted(attributes, pod)
            self._check_permitted(attributes, pod)

    async def _wanted(self, attributes: Attributes, pod: Object) -> dict[str, str]:
        """Raises ApiError 403 for a Pod that wants otherwise."""
        said = await _annotation(self._lookup, attributes, _SELECTOR)
        wanted = _labels(self._selectors.get(_FOR_ALL, "") if said is None else said)
        own = pod["spec"].get("nodeSelector") or {}
        if any(own.get(name, value) != value for name, value in wanted.items()):
            raise _refused(pod, "pod node label selector conflicts with its namespace node label selector")
        return wanted

    def _check_permitted(self, attributes: Attributes, pod: Object) -> None:
        """Raises ApiError 403 for a Pod that wants more than its namespace may."""
        permissible = _labels(self._selectors.get(attributes.namespace, ""))
        own: dict[str, str] = pod["spec"].get("nodeSelector") or {}
        if permissible and not own.items() <= permissible.items():
            raise _refused(pod, "pod node label selector labels conflict with its namespace whitelist")


def _refused(pod: Object, why: str) -> ApiError:
    return forbidden(PODS, pod["metadata"].get("name", ""), why)


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
    """Pods get the tolerations of their namespace, and may have only those that it permits. `defaults` and
    `permissible` hold where a namespace says nothing."""

    name = "PodTolerationRestriction"
    operations = WRITES
    default = False

    def __init__(self, lookup: Lookup, defaults: Sequence[Object], permissible: Sequence[Object]) -> None:
        self._lookup = lookup
        self._defaults = defaults
        self._permissible = permissible

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if attributes.key != "pods" or pod is None:
            return False
        given: Sequence[Object] = ()
        if attributes.operation is Operation.CREATE:
            own = await self._tolerations(attributes, _DEFAULTS)
            given = self._defaults if own is None else own
        if qos_class(pod) != "BestEffort":
            given = [*given, _PRESSURE]
        if given:
            found = merged(pod["spec"].get("tolerations") or (), given)
            pod["spec"]["tolerations"] = [copy_object(each) for each in found]
        await self._permit(attributes, pod)
        return bool(given)

    async def validate(self, attributes: Attributes) -> None:
        if attributes.key == "pods" and attributes.object is not None:
            await self._permit(attributes, attributes.object)

    async def _permit(self, attributes: Attributes, pod: Object) -> None:
        tolerations = pod["spec"].get("tolerations") or ()
        if not tolerations:
            return
        permissible, scope = await self._tolerations(attributes, _WHITELIST), "namespace"
        if permissible is None:
            permissible, scope = self._permissible, "cluster"
        if not permitted(tolerations, permissible):
            raise _plain(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
                f"{scope} whitelist"
            )

    async def _tolerations(self, attributes: Attributes, key: str) -> Sequence[Object] | None:
        """Those of the namespace; None where it says nothing of them."""
        text = await _annotation(self._lookup, attributes, key)
        if not text:
            return None if text is None else ()
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
