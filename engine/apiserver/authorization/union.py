"""The chain of authorizers and the text of its refusal (apiserver pkg/endpoints/handlers/responsewriters errors.go)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from engine.api.errors import ApiError, aggregated
from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.apiserver.authentication.user import SYSTEM_MASTERS
from engine.apiserver.authorization.attributes import Attributes, Authorizer, Decision, Verdict


class PrivilegedGroups:
    """Allows everything to members of a group, whatever the RBAC objects say, and gives no reason for it
    (authorizerfactory builtin.go)."""

    name = "SystemMasters"

    def __init__(self, *groups: str) -> None:
        self._groups = groups or (SYSTEM_MASTERS,)

    async def authorize(self, attributes: Attributes) -> Decision:
        for group in self._groups:
            if group in attributes.user.groups:
                return Decision(Verdict.ALLOW, authorizer=self.name, note=f"member of {group}")
        return Decision(Verdict.NO_OPINION)


class Authorization(NamedTuple):
    """The decision and what each authorizer asked on the way to it said."""

    decision: Decision
    verdicts: tuple[tuple[str, str], ...]


class UnionAuthorizer:
    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    async def authorize(self, attributes: Attributes) -> Authorization:
        verdicts: list[tuple[str, str]] = []
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer in self._authorizers:
            decision = await authorizer.authorize(attributes)
            verdicts.append((authorizer.name, str(decision.verdict)))
            if decision.verdict is not Verdict.NO_OPINION:
                return Authorization(decision, tuple(verdicts))
            if decision.reason:
                reasons.append(decision.reason)
            if decision.error:
                errors.append(decision.error)
        error = aggregated(errors) if errors else ""
        return Authorization(Decision(Verdict.NO_OPINION, "\n".join(reasons), error=error), tuple(verdicts))


class AccessDenied(ApiError):
    """403 of the authorizers."""


def _question(attributes: Attributes) -> str:
    """`User "jane" cannot list resource "pods" in API group "" in the namespace "default"`."""
    subject = f"User {quoted(attributes.user.name)} cannot {attributes.verb}"
    if not attributes.is_resource:
        return f"{subject} path {quoted(attributes.path)}"
    resource = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
    where = f"in the namespace {quoted(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    return f"{subject} resource {quoted(resource)} in API group {quoted(attributes.group)} {where}"


def forbidden(attributes: Attributes, reason: str = "") -> AccessDenied:
    """The 403 with the real text, in which what was asked for looks like no HTML."""
    why = escape(_question(attributes), quote=False) + (f": {reason}" if reason else "")
    if not attributes.is_resource:
        return AccessDenied(403, "Forbidden", f"forbidden: {why}", details={})
    subject = attributes.resource + (f".{attributes.group}" if attributes.group else "")
    details: Object = {}
    if attributes.name:
        subject += f" {quoted(attributes.name)}"
        details["name"] = attributes.name
    if attributes.group:
        details["group"] = attributes.group
    details["kind"] = attributes.resource
    return AccessDenied(403, "Forbidden", f"{subject} is forbidden: {why}", details=details)
