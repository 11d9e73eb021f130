"""Access to devices that others use is for namespaces of administrators (KEP-5018).

Source: pkg/registry/resource/utils.go. Upstream makes the check with the validation of claims and their templates; here
it stands with the validating plugins, unnamed.
"""

from __future__ import annotations

from engine.api.errors import field_forbidden, invalid
from engine.api.types import NAMESPACES, Object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin
from engine.apiserver.lookup import Lookup

_GROUP = "resource.k8s.io"
_CLAIMS = f"resourceclaims.{_GROUP}"
_TEMPLATES = f"resourceclaimtemplates.{_GROUP}"
_LABEL = "resource.kubernetes.io/admin-access"
_REFUSED = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"


class DeviceAdminAccess(Plugin):
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def validate(self, attributes: Attributes) -> None:
        """Raises ApiError 422."""
        path = _asked(attributes)
        if not path:
            return
        namespace = await self._lookup.find(NAMESPACES, "", attributes.namespace) or {}
        labels = (namespace.get("metadata") or {}).get("labels") or {}
        if labels.get(_LABEL) != "true":
            raise invalid(attributes.resource.gvk, attributes.name, [field_forbidden(path, _REFUSED)])


def _asked(attributes: Attributes) -> str:
    """The path of the first such access that the request asks for; no path for none."""
    obj, old = attributes.object, attributes.old
    if obj is None:
        return ""
    if attributes.key == f"{_CLAIMS}/status":
        return "" if _granted(old or {}) else _granted(obj)
    if attributes.operation is not Operation.CREATE or attributes.key not in (_CLAIMS, _TEMPLATES):
        return ""  # a spec never changes
    spec = obj["spec"] if attributes.key == _CLAIMS else obj["spec"].get("spec") or {}
    for position, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return f"spec.devices.requests[{position}].adminAccess"
    return ""


def _granted(claim: Object) -> str:
    devices = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
    for position, result in enumerate(devices.get("results") or ()):
        if result.get("adminAccess"):
            return f"status.allocation.devices.results[{position}].adminAccess"
    return ""
