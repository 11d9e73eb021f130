"""NodeDeclaredFeatureValidator: no Pod is changed into what its node does not say that it can do (KEP-5328).

Source: plugin/pkg/admission/nodedeclaredfeatures and component-helpers/nodedeclaredfeatures/features, of which these
are asked of updates: what else there is stands in fields that do not change.
"""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import NODES, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, denied
from engine.apiserver.lookup import Lookup

_SINCE = (1, 36)
_CHANGES = frozenset(("pods", "pods/resize"))
_ZERO = Quantity.parse("0")


class NodeDeclaredFeatureValidator(Plugin):
    name = "NodeDeclaredFeatureValidator"
    operations = WRITES
    resources = _CHANGES

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def validate(self, attributes: Attributes) -> None:
        pod, old = attributes.object, attributes.old
        if attributes.operation is not Operation.UPDATE or attributes.key not in _CHANGES:
            return
        if pod is None or old is None or attributes.resource.release < _SINCE:
            return
        name = pod["spec"].get("nodeName")
        if not name or pod["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        needed = _needed(pod, old)
        if not needed:
            return
        node = await self._lookup.find(NODES, "", name)
        if node is None:
            raise denied(attributes, f'node "{name}" not found')
        declared = (node.get("status") or {}).get("declaredFeatures") or ()
        if missing := [feature for feature in needed if feature not in declared]:
            why = f'pod update requires features {", ".join(missing)} which are not available on node "{name}"'
            raise denied(attributes, why)


def _needed(pod: Object, old: Object) -> list[str]:
    """In the order of their names."""
    needed = []
    if (old.get("status") or {}).get("qosClass") == "Guaranteed" and _cpu(pod) != _cpu(old):
        needed.append("GuaranteedQoSPodCPUResize")
    if _amounts(pod["spec"]) != _amounts(old["spec"]):
        needed.append("InPlacePodLevelResourcesVerticalScaling")
    return needed


def _cpu(pod: Object) -> list[Quantity]:
    """What each container requests."""
    return [
        _amounts(container).get("requests", {}).get("cpu", _ZERO) for container in pod["spec"].get("containers") or ()
    ]


def _amounts(holder: Object) -> dict[str, dict[str, Quantity]]:
    """Of a container or of a whole Pod."""
    resources = holder.get("resources") or {}
    return {
        part: {name: Quantity.parse(str(amount)) for name, amount in (resources.get(part) or {}).items()}
        for part in ("requests", "limits")
        if resources.get(part)
    }
