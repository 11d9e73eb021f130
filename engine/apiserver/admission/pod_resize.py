"""PodResizeValidator: what no room of the node would hold is refused at once (KEP-1287).

Source: plugin/pkg/admission/podresize.
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.pod_amounts import pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import NODES, Object
from engine.apiserver.admission.attributes import UPDATES, Attributes, Operation, Plugin, denied
from engine.apiserver.lookup import Lookup

_SINCE = (1, 36)
_OS, _LINUX = "kubernetes.io/os", "linux"


class PodResizeValidator(Plugin):
    name = "PodResizeValidator"
    operations = UPDATES
    resources = frozenset(("pods/resize",))

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def validate(self, attributes: Attributes) -> None:
        pod, old = attributes.object, attributes.old
        if attributes.key != "pods/resize" or attributes.operation is not Operation.UPDATE or pod is None:
            return
        if attributes.resource.release < _SINCE:
            return
        name = pod["spec"].get("nodeName")
        if not name or old is None or old["metadata"].get("generation") == pod["metadata"].get("generation"):
            return
        node = await self._lookup.find(NODES, "", name)
        if node is None:
            raise denied(attributes, f'node "{name}" not found')
        system = (node["metadata"].get("labels") or {}).get(_OS, _LINUX)
        if system != _LINUX:
            why = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
            raise _because(denied(attributes, why), "UnsupportedPlatform")
        if excess := _excess(pod, (node.get("status") or {}).get("allocatable") or {}):
            why = f"node didn't have enough allocatable resources: {'; '.join(excess)}"
            raise _because(denied(attributes, why), "NodeCapacity")


def _because(error: ApiError, reason: str) -> ApiError:
    """With a cause by which an autoscaler tells one refusal from another; it says no more."""
    error.details = {**(error.details or {}), "causes": [{"reason": reason}]}
    return error


def _excess(pod: Object, allocatable: Object) -> list[str]:
    words, requests = [], pod_amounts(pod, "requests")
    for name in ("cpu", "memory"):
        scale = 1 if name == "cpu" else 1000  # thousandths of a CPU, bytes
        asked = -(-requests.get(name, Quantity()).milli // scale)
        room = -(-Quantity.parse(str(allocatable.get(name, "0"))).milli // scale)
        if asked > room:
            words.append(f"{name}, requested: {asked}, allocatable: {room}")
    return words
