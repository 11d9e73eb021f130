"""RBAC: rules granted by Roles and ClusterRoles through bindings (plugin/pkg/auth/authorizer/rbac).

Fed by the watch caches of the four RBAC resources. What was resolved for a user in a namespace is kept until one of
these objects changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from engine.api.errors import aggregated
from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo
from engine.apiserver.authorization.attributes import Attributes, Decision, Verdict
from engine.apiserver.authorization.rules import covers_path, covers_resource, names_of


class ObjectSource(Protocol):
    """What RBAC needs of a watch cache: its objects, and a number that changes when they do."""

    @property
    def generation(self) -> int: ...

    def objects(self) -> Iterator[Object]: ...


class Grant(NamedTuple):
    """One rule that a subject has, and the words for why."""

    reason: str
    rule: Object


class Resolved:
    """All grants of one user in one namespace."""

    def __init__(self, grants: list[Grant], absent: list[tuple[str, str]]) -> None:
        self.grants = grants
        self.absent = absent  # why there may be more: the kinds and names of roles that there are not
        self._decided: dict[tuple[str, str, str, str], list[tuple[str, frozenset[str] | None]]] = {}

    @property
    def errors(self) -> list[str]:
        """As a lister tells them, which the authorizer asks."""
        return [f'{kind.lower()}.rbac.authorization.k8s.io "{name}" not found' for kind, name in self.absent]

    @property
    def error(self) -> str:
        return aggregated(self.errors) if self.absent else ""

    @property
    def storage_error(self) -> str:
        """As the storage of roles tells it, which is asked before rules are granted."""
        told = [f'{kind.lower()}s.rbac.authorization.k8s.io "{name}" not found' for kind, name in self.absent]
        return aggregated(told) if told else ""

    def why(self, attributes: Attributes) -> str:
        """The reason for which a request is allowed; "" if it is not."""
        if not attributes.is_resource:
            for grant in self.grants:
                if covers_path(grant.rule, verb=attributes.verb, path=attributes.path):
                    return grant.reason
            return ""
        key = (attributes.verb, attributes.group, attributes.resource, attributes.subresource)
        covering = self._decided.get(key)
        if covering is None:
            verb, group, resource, subresource = key
            covering = self._decided[key] = [
                (grant.reason, names_of(grant.rule))
                for grant in self.grants
                if covers_resource(grant.rule, verb=verb, group=group, resource=resource, subresource=subresource)
            ]
        for reason, names in covering:
            if names is None or attributes.name in names:
                return reason
        return ""


class RBACAuthorizer:
    name = "RBAC"

    def __init__(
        self,
        *,
        roles: ObjectSource,
        role_bindings: ObjectSource,
        cluster_roles: ObjectSource,
        cluster_role_bindings: ObjectSource,
    ) -> None:
        self._sources = (roles, role_bindings, cluster_roles, cluster_role_bindings)
        self._generation: tuple[int, ...] = ()
        self._rules: dict[tuple[str, str, str], list[Object]] = {}
        self._bindings: dict[str, list[Object]] = {}
        self._resolved: dict[tuple[UserInfo, str], Resolved] = {}

    async def authorize(self, attributes: Attributes) -> Decision:
        resolved = self.resolve(attributes.user, attributes.namespace)
        if reason := resolved.why(attributes):
            return Decision(Verdict.ALLOW, f"RBAC: allowed by {reason}", self.name)
        return Decision(Verdict.NO_OPINION, f"RBAC: {resolved.error}" if resolved.error else "")

    def role_rules(self, kind: str, namespace: str, name: str) -> list[Object] | None:
        """The rules of a Role or ClusterRole; None if there is none of that name."""
        self._refresh()
        return self._rules.get((kind, namespace if kind == "Role" else "", name))

    def resolve(self, user: UserInfo, namespace: str) -> Resolved:
        """Every rule that a user has in a namespace, those of the cluster included."""
        self._refresh()
        key = (user, namespace)
        resolved = self._resolved.get(key)
        if resolved is None:
            if len(self._resolved) > 10_000:
                self._resolved.clear()
            resolved = self._resolved[key] = self._resolve(user, namespace)
        return resolved

    def _refresh(self) -> None:
        generation = tuple(source.generation for source in self._sources)
        if generation == self._generation:
            return
        self._generation = generation
        roles, role_bindings, cluster_roles, cluster_role_bindings = self._sources
        self._resolved.clear()
        self._rules = {
            ("Role", role["metadata"]["namespace"], role["metadata"]["name"]): role.get("rules") or []
            for role in roles.objects()
        }
        for role in cluster_roles.objects():
            self._rules["ClusterRole", "", role["metadata"]["name"]] = role.get("rules") or []
        self._bindings = {"": list(cluster_role_bindings.objects())}
        for binding in role_bindings.objects():
            self._bindings.setdefault(binding["metadata"]["namespace"], []).append(binding)

    def _resolve(self, user: UserInfo, namespace: str) -> Resolved:
        grants: list[Grant] = []
        absent: list[tuple[str, str]] = []
        for scope in dict.fromkeys(("", namespace)):
            for binding in self._bindings.get(scope, ()):
                subject = _subject_for(binding, user, scope)
                if subject is None:
                    continue
                reference = binding["roleRef"]
                kind, name = reference["kind"], reference["name"]
                rules = self._rules.get((kind, scope if kind == "Role" else "", name))
                if rules is None:
                    absent.append((kind, name))
                    continue
                reason = _describe(binding, subject, scope)
                grants.extend(Grant(reason, rule) for rule in rules)
        return Resolved(grants, absent)


def _subject_for(binding: Object, user: UserInfo, scope: str) -> Mapping[str, str] | None:
    """The subject of a binding that a user is."""
    for subject in binding.get("subjects") or ():
        kind, name = subject.get("kind"), subject.get("name")
        if kind == "User":
            found = user.name == name
        elif kind == "Group":
            found = name in user.groups
        else:
            namespace = subject.get("namespace") or scope
            found = bool(namespace) and user.name == f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"
        if found:
            matched: Mapping[str, str] = subject
            return matched
    return None


def _describe(binding: Object, subject: Mapping[str, str], scope: str) -> str:
    kind = "RoleBinding" if scope else "ClusterRoleBinding"
    name = binding["metadata"]["name"] + (f"/{scope}" if scope else "")
    reference = binding["roleRef"]
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who += f"/{subject.get('namespace') or scope}"
    return (
        f"{kind} {quoted(name)} of {reference['kind']} {quoted(reference['name'])} to {subject['kind']} {quoted(who)}"
    )
