"""Nobody has a policy read for them what they cannot read: who names parameters must be allowed to get them.

Source: authz.go of the policies and their bindings in pkg/registry/admissionregistration. Upstream makes the checks
with the validation of the four kinds, of objects that are well-formed; here they stand with the validating plugins,
unnamed.
"""

from __future__ import annotations

from engine.api.errors import field_forbidden, invalid
from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin
from engine.apiserver.authentication.user import SYSTEM_MASTERS, UserInfo
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict
from engine.apiserver.authorization.rules import ALL
from engine.apiserver.lookup import Lookup

_GROUP = "admissionregistration.k8s.io"
_POLICIES = frozenset(f"{kind}admissionpolicies.{_GROUP}" for kind in ("validating", "mutating"))
_BINDINGS = {
    f"{kind}admissionpolicybindings.{_GROUP}": f"{kind}admissionpolicies" for kind in ("validating", "mutating")
}


class PolicyParameters(Plugin):
    resources = _POLICIES | frozenset(_BINDINGS)

    def __init__(self, lookup: Lookup, resources: ResourceRegistry, authorizer: UnionAuthorizer) -> None:
        self._lookup = lookup
        self._resources = resources
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Raises ApiError 422."""
        if attributes.key not in _POLICIES and attributes.key not in _BINDINGS:
            return
        if attributes.operation is Operation.DELETE or attributes.object is None:
            return
        if SYSTEM_MASTERS in attributes.user.groups:
            return
        spec, before = attributes.object["spec"], (attributes.old or {}).get("spec") or {}
        if attributes.key in _POLICIES:
            field, refused = "paramKind", await self._policy(attributes.user, spec, before)
        else:
            field, refused = "paramRef", await self._binding(attributes, spec, before)
        if refused:
            causes = [field_forbidden(f"spec.{field}", refused)]
            raise invalid(attributes.resource.gvk, attributes.object["metadata"].get("name", ""), causes)

    async def _policy(self, user: UserInfo, spec: Object, before: Object) -> str:
        kind = spec.get("paramKind")
        if kind is None or kind == before.get("paramKind"):
            return ""
        group, version, resource = self._resource(kind)
        question = Question(user, "get", group, version, resource or ALL, namespace=ALL, name=ALL)
        if await self._allowed(question):
            return ""
        shown = f"(kind={kind['kind']}, apiVersion={kind['apiVersion']})"
        return f'user {_shown(user)} must have "get" permission on all objects of the referenced paramKind {shown}'

    async def _binding(self, attributes: Attributes, spec: Object, before: Object) -> str:
        reference, name = spec.get("paramRef"), spec.get("policyName", "")
        if reference is None or (reference == before.get("paramRef") and name == before.get("policyName", "")):
            return ""
        policies = attributes.resource.gvr._replace(resource=_BINDINGS[attributes.key])
        policy = await self._lookup.find(policies, "", name)
        kind = policy["spec"].get("paramKind") if policy is not None else None
        group, version, resource = self._resource(kind) if kind is not None else (ALL, ALL, ALL)
        verb = "get" if reference.get("name") else "list"
        place = reference.get("namespace", "")
        question = Question(
            attributes.user, verb, group, version, resource or ALL, namespace=place, name=reference.get("name", "")
        )
        if await self._allowed(question):
            return ""
        user = _shown(attributes.user)
        if policy is None:
            unknown = f"get policy {name}"
        elif kind is not None and not resource:
            unknown = f"resolve paramKind &{{{kind['apiVersion']} {kind['kind']}}}"
        else:
            return f'user {user} does not have "{verb}" permission on the object referenced by paramRef'
        lacks = f'user {user} does not have "{verb}" permission for all groups, versions and resources'
        return f"unable to {unknown} to determine minimum required permissions and {lacks}"

    def _resource(self, kind: Object) -> tuple[str, str, str]:
        """The group, the version and, unless nothing is known of the kind, the resource of a kind of parameters."""
        group, _, version = kind["apiVersion"].rpartition("/")
        info = self._resources.by_kind(GVK(group, version, kind["kind"]))
        return group, version, info.gvr.resource if info is not None else ""

    async def _allowed(self, question: Question) -> bool:
        return (await self._authorizer.authorize(question)).decision.verdict is Verdict.ALLOW


def _shown(user: UserInfo) -> str:
    """A user as Go prints the struct."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
