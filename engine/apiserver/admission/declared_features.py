"""NodeDeclaredFeatureValidator: no Pod is changed into what its node does not say that it can do (KEP-5328).

Source: plugin/pkg/admission/nodedeclaredfeatures and component-helpers/nodedeclaredfeatures/features, of which these
are asked of updates: what else there is stands in fields that do not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.quantity import Quantity
from engine.api.types import NODES, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, Watched, denied
from engine.apiserver.lookup import Lookup

_SINCE = (1, 36)
_CHANGES = frozenset(("pods", "pods/resize"))


class NodeDeclaredFeatureValidator(Plugin):
    name = "NodeDeclaredFeatureValidator"
    operations = WRITES
    resources = _CHANGES

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched]:
        return ()  # nothing is asked of a new Pod

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
    if _amounts(pod["spec"]) != _amounts(old["spec"]):
        needed.append("InPlacePodLevelResourcesVerticalScaling")
    if _ending(pod) != _ending(old):
        needed.append("InPlacePodVerticalScalingInitContainers")
    return needed


def _ending(pod: Object) -> list[dict[str, dict[str, Quantity]]]:
    """What its init containers ask for that are no sidecars."""
    containers = pod["spec"].get("initContainers") or ()
    return [_amounts(container) for container in containers if container.get("restartPolicy") != "Always"]


def _amounts(holder: Object) -> dict[str, dict[str, Quantity]]:
    """Of a container or of a whole Pod."""
    resources = holder.get("resources") or {}
    return {
        part: {name: Quantity.parse(str(amount)) for name, amount in (resources.get(part) or {}).items()}
        for part in ("requests", "limits")
        if resources.get(part)
    }
