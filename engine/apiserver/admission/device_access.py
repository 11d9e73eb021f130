"""Who may have devices that others use, and who may say what of a claim.

Access to devices that others use is for namespaces of administrators. From 1.36 on, what is allocated is the
scheduler's to say, and what is told of a device its driver's, for which they need rights of their own.

Source: pkg/registry/resource/utils.go. Upstream makes the checks with the validation of claims and their templates;
here they stand with the validating plugins, unnamed.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import Cause, field_forbidden, invalid
from engine.api.types import NAMESPACES, Object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, Watched
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict
from engine.apiserver.authorization.union import forbidden
from engine.apiserver.lookup import Lookup

_GROUP = "resource.k8s.io"
_CLAIMS = f"resourceclaims.{_GROUP}"
_TEMPLATES = f"resourceclaimtemplates.{_GROUP}"
_LABEL = "resource.kubernetes.io/admin-access"
_REFUSED = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
_GRANULAR = (1, 36)
_NODE_NAME = "authentication.kubernetes.io/node-name"


class DeviceAccess(Plugin):
    def __init__(self, lookup: Lookup, authorizer: UnionAuthorizer) -> None:
        self._lookup = lookup
        self._authorizer = authorizer

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        return ()

    async def validate(self, attributes: Attributes) -> None:
        """Raises ApiError 422."""
        if attributes.resource.gvr.group != _GROUP or attributes.object is None:
            return
        causes: list[Cause] = []
        if path := _asked(attributes):
            causes += await self._admin(attributes, path)
        if attributes.key == f"{_CLAIMS}/status" and attributes.resource.release >= _GRANULAR:
            causes += await self._status(attributes, attributes.object, attributes.old or {})
        if causes:
            raise invalid(attributes.resource.gvk, attributes.name, causes)

    async def _admin(self, attributes: Attributes, path: str) -> list[Cause]:
        namespace = await self._lookup.find(NAMESPACES, "", attributes.namespace) or {}
        labels = (namespace.get("metadata") or {}).get("labels") or {}
        return [] if labels.get(_LABEL) == "true" else [field_forbidden(path, _REFUSED)]

    async def _status(self, attributes: Attributes, claim: Object, old: Object) -> list[Cause]:
        status, before, causes = claim.get("status") or {}, old.get("status") or {}, []
        verb = attributes.verb or "update"
        if any((status.get(field) or None) != (before.get(field) or None) for field in ("allocation", "reservedFor")):
            question = Question(attributes.user, verb, _GROUP, "v1", "resourceclaims", "binding")
            if refused := await self._refused([question]):
                needed = f'requires resource="resourceclaims/binding", verb="{verb}" permission'
                detail = f"changing status.allocation or status.reservedFor {needed}: {refused}"
                causes.append(field_forbidden("status", detail))
        local = _on_node(attributes.user, _only_node(status.get("allocation") or {}))
        verbs = [f"{kind}-node:{verb}" for kind in (("associated", "arbitrary") if local else ("arbitrary",))]
        for driver in _told_otherwise(status, before):
            questions = [
                Question(attributes.user, each, _GROUP, "v1", "resourceclaims", "driver", attributes.namespace, driver)
                for each in verbs
            ]
            if refused := await self._refused(questions):
                needed = f'requires resource="resourceclaims/driver", verb="[{" ".join(verbs)}]" permission'
                causes.append(field_forbidden("status.devices", f"changing status.devices {needed}: {refused}"))
        return causes

    async def _refused(self, questions: Sequence[Question]) -> str:
        """Why none of the questions is allowed: what is said of the first."""
        reasons = []
        for question in questions:
            decision = (await self._authorizer.authorize(question)).decision
            if decision.verdict is Verdict.ALLOW:
                return ""
            reasons.append(decision.reason)
        return forbidden(questions[0], reasons[0]).message


def _asked(attributes: Attributes) -> str:
    """The path of the first access of an administrator that the request asks for; no path for none."""
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
    for position, result in enumerate(_results(claim.get("status") or {})):
        if result.get("adminAccess"):
            return f"status.allocation.devices.results[{position}].adminAccess"
    return ""


def _results(status: Object) -> Sequence[Object]:
    return ((status.get("allocation") or {}).get("devices") or {}).get("results") or []


def _told_otherwise(status: Object, before: Object) -> list[str]:
    """The drivers of the devices of which something else is told than before. What goes with an allocation does not
    count: the server drops it."""
    new, old = _told(status.get("devices")), _told(before.get("devices"))
    kept, had = (
        _told(((each.get("allocation") or {}).get("devices") or {}).get("results")) for each in (status, before)
    )
    gone = had.keys() - kept.keys() - new.keys()
    return sorted({str(key[0]) for key in (old.keys() | new.keys()) - gone if new.get(key) != old.get(key)})


def _told(devices: Sequence[Object] | None) -> dict[tuple[str, str, str, str], Object]:
    return {
        (each.get("driver", ""), each.get("pool", ""), each.get("device", ""), each.get("shareID") or ""): each
        for each in devices or ()
    }


def _only_node(allocation: Object) -> str:
    """The one node that an allocation is for; no name if there is more to it."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    fields = terms[0].get("matchFields") or [] if len(terms) == 1 and not terms[0].get("matchExpressions") else []
    if len(fields) != 1 or fields[0].get("key") != "metadata.name" or fields[0].get("operator") != "In":
        return ""
    values = fields[0].get("values") or []
    return str(values[0]) if len(values) == 1 else ""


def _on_node(user: UserInfo, node: str) -> bool:
    """Whether a service account's token is of a Pod on the node."""
    return bool(node) and user.name.startswith(SERVICE_ACCOUNT_PREFIX) and dict(user.extra).get(_NODE_NAME) == (node,)
