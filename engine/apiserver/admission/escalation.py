"""Nobody grants what they do not have: the checks of the RBAC registry on roles and bindings.

Source: pkg/registry/rbac/role/policybased, rolebinding/policybased and component-helpers auth/rbac/validation. Upstream
makes them inside the storage of the four kinds, of what mutating plugins have left and before it is validated; here
they stand with the mutating plugins, as the last.
"""

from __future__ import annotations

from engine.api.errors import ApiError, bad_request, forbidden
from engine.api.golang.text import quoted
from engine.api.rbac import uncovered
from engine.api.types import Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Plugin
from engine.apiserver.authentication.user import SYSTEM_MASTERS, UserInfo
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict
from engine.apiserver.authorization.rbac import RBACAuthorizer, Resolved
from engine.apiserver.authorization.rules import ALL

_GROUP = "rbac.authorization.k8s.io"
_RESOURCES = {"ClusterRole": "clusterroles", "Role": "roles"}
_ROLES = frozenset((f"roles.{_GROUP}", f"clusterroles.{_GROUP}"))
_BINDINGS = frozenset((f"rolebindings.{_GROUP}", f"clusterrolebindings.{_GROUP}"))


_EVERYTHING: list[Object] = [
    {"verbs": [ALL], "apiGroups": [ALL], "resources": [ALL]},
    {"verbs": [ALL], "nonResourceURLs": [ALL]},
]
_AGGREGATION = "must have cluster-admin privileges to use the aggregationRule"
_COLLECTION = ("ownerReferences", "finalizers", "selfLink", "managedFields")


class RBACEscalation(Plugin):
    operations = WRITES
    resources = _ROLES | _BINDINGS

    def __init__(self, rbac: RBACAuthorizer, authorizer: UnionAuthorizer) -> None:
        self._rbac = rbac
        self._authorizer = authorizer

    async def mutate(self, attributes: Attributes) -> bool:
        """Raises ApiError 403, 404 for a binding to a role that there is not and that one may not bind unseen, and 500
        for one to what is no role."""
        if SYSTEM_MASTERS in attributes.user.groups or attributes.object is None:
            return False
        if attributes.key in _ROLES:
            await self._role(attributes, attributes.object)
        elif attributes.key in _BINDINGS:
            await self._binding(attributes, attributes.object)
        return False

    async def _role(self, attributes: Attributes, role: Object) -> None:
        old = attributes.old
        if old is not None and _only_for_collection(role, old):
            return
        name = "" if attributes.verb == "create" else attributes.name  # as the path has it, which of a new one has none
        if await self._may(attributes, "escalate", attributes.resource.gvr.resource, name):
            return
        self._check_held(attributes, role.get("rules") or [])
        aggregates = any(
            ((each or {}).get("aggregationRule") or {}).get("clusterRoleSelectors") for each in (role, old)
        )
        held = self._rbac.resolve(attributes.user, attributes.namespace)
        if aggregates and _missing(held, _EVERYTHING):  # it may gather anything
            raise forbidden(attributes.resource.gvr, attributes.name, _AGGREGATION)

    async def _binding(self, attributes: Attributes, binding: Object) -> None:
        if attributes.old is not None and _only_for_collection(binding, attributes.old):
            return
        reference = binding.get("roleRef") or {}
        kind, name = reference.get("kind", ""), reference.get("name", "")
        if kind not in _RESOURCES:
            raise ApiError(500, "", f"unsupported role reference kind: {quoted(kind)}")
        resource = _RESOURCES[kind]
        if await self._may(attributes, "bind", resource, name):
            return
        if resource == "roles" and not attributes.namespace:
            raise bad_request("Namespace parameter required.")
        rules = self._rbac.role_rules(kind, attributes.namespace, name)
        if rules is None:
            raise ApiError(
                404,
                "NotFound",
                f'{resource}.{_GROUP} "{name}" not found',
                details={"name": name, "group": _GROUP, "kind": resource},
            )
        self._check_held(attributes, rules)

    async def _may(self, attributes: Attributes, verb: str, resource: str, name: str) -> bool:
        question = Question(attributes.user, verb, _GROUP, "v1", resource, namespace=attributes.namespace, name=name)
        answer = await self._authorizer.authorize(question)
        return answer.decision.verdict is Verdict.ALLOW

    def _check_held(self, attributes: Attributes, rules: list[Object]) -> None:
        resolved = self._rbac.resolve(attributes.user, attributes.namespace)
        missing = _missing(resolved, rules)
        if missing:
            shown = "\n".join(sorted({_shown(rule) for rule in _compact(missing)}))
            unknown = f"; resolution errors: [{resolved.storage_error}]" if resolved.absent else ""
            why = (
                f"{_who(attributes.user)} is attempting to grant RBAC permissions not currently held:\n{shown}{unknown}"
            )
            raise forbidden(attributes.resource.gvr, attributes.name, why)


def _missing(resolved: Resolved, rules: list[Object]) -> list[Object]:
    """Of the rules, each taken apart, what the user's own do not cover."""
    return uncovered([grant.rule for grant in resolved.grants], rules)


def _only_for_collection(new: Object, old: Object) -> bool:
    """Whether only what the garbage collector looks at has changed (IsOnlyMutatingGCFields)."""

    def rest(obj: Object) -> Object:
        metadata = {name: value for name, value in obj["metadata"].items() if name not in _COLLECTION and value}
        others = {name: value for name, value in obj.items() if value and name not in ("apiVersion", "kind")}
        return {**others, "metadata": metadata}

    return rest(new) == rest(old)


def _compact(simple: list[Object]) -> list[Object]:
    """Verbs on the same thing together; URLs stay apart (CompactRules)."""
    others = [rule for rule in simple if "nonResourceURLs" in rule]
    found: dict[tuple[str, ...], Object] = {}
    for rule in simple:
        if "nonResourceURLs" not in rule:
            key = (rule["apiGroups"][0], rule["resources"][0], *rule.get("resourceNames", ()))
            kept = found.setdefault(key, {**rule, "verbs": []})
            kept["verbs"] += [verb for verb in rule["verbs"] if verb not in kept["verbs"]]
    return others + list(found.values())


def _who(user: UserInfo) -> str:
    return f"user {quoted(user.name)} (groups=[{' '.join(map(quoted, user.groups))}])"


def _shown(rule: Object) -> str:
    """A rule as CompactString writes it."""
    parts = []
    for field, title in (
        ("apiGroups", "APIGroups"),
        ("resources", "Resources"),
        ("nonResourceURLs", "NonResourceURLs"),
        ("resourceNames", "ResourceNames"),
        ("verbs", "Verbs"),
    ):
        values = rule.get(field)
        if values:
            parts.append(f"{title}:[{' '.join(map(quoted, values))}]")
    return "{" + ", ".join(parts) + "}"
