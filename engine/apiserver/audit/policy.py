"""The audit policy: how much of which requests is told.

Source: apiserver pkg/audit/policy/checker.go. The first rule that matches decides; what none matches is not told of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from engine.api.types import Object
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.authorization.rules import path_matches
from engine.apiserver.request_info import RequestInfo

API_VERSION = "audit.k8s.io/v1"
RECEIVED, STARTED, COMPLETE, PANIC = "RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"
STAGES = (RECEIVED, STARTED, COMPLETE, PANIC)


class Level(IntEnum):
    """How much is told; each tells all that the one before does."""

    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3

    @property
    def word(self) -> str:
        return _WORDS[self]


_WORDS = {
    Level.NONE: "None",
    Level.METADATA: "Metadata",
    Level.REQUEST: "Request",
    Level.REQUEST_RESPONSE: "RequestResponse",
}
LEVELS = {word: level for level, word in _WORDS.items()}


class Told(NamedTuple):
    """What the policy says of one request."""

    level: Level
    omit_stages: frozenset[str] = frozenset()
    omit_managed_fields: bool = False


class AuditPolicy:
    """`policy` is valid (see `policy_file`)."""

    def __init__(self, policy: Object) -> None:
        self._rules: Sequence[Object] = policy.get("rules") or ()
        self._omit_stages = frozenset(policy.get("omitStages") or ())
        self._omit_managed_fields = bool(policy.get("omitManagedFields"))

    def evaluate(self, user: UserInfo, info: RequestInfo) -> Told:
        for rule in self._rules:
            if _matches(rule, user, info):
                omit = rule.get("omitManagedFields")
                return Told(
                    LEVELS[rule["level"]],
                    self._omit_stages | frozenset(rule.get("omitStages") or ()),
                    self._omit_managed_fields if omit is None else omit,
                )
        return Told(Level.NONE, self._omit_stages, self._omit_managed_fields)


# -- what matches


def _matches(rule: Object, user: UserInfo, info: RequestInfo) -> bool:
    users, groups, verbs = (rule.get(field) or () for field in ("users", "userGroups", "verbs"))
    if users and user.name not in users:
        return False
    if groups and not any(group in groups for group in user.groups):
        return False
    if verbs and info.verb not in verbs:
        return False
    if rule.get("namespaces") or rule.get("resources"):
        return info.is_resource and _resource_matches(rule, info)
    if paths := rule.get("nonResourceURLs"):
        return not info.is_resource and any(path_matches(path, info.path) for path in paths)
    return True


def _resource_matches(rule: Object, info: RequestInfo) -> bool:
    namespaces = rule.get("namespaces")
    if namespaces and info.namespace not in namespaces:
        return False
    resources = rule.get("resources")
    return not resources or any(_in_group(each or {}, info) for each in resources)


def _in_group(listed: Object, info: RequestInfo) -> bool:
    if (listed.get("group") or "") != info.group:
        return False
    names = listed.get("resourceNames")
    resources = listed.get("resources")
    if not resources:
        return True
    if names and info.name not in names:
        return False
    whole = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    wanted = {whole, "*", f"{info.resource}/*"}
    if info.subresource:
        wanted.add(f"*/{info.subresource}")
    return any(resource in wanted for resource in resources)
