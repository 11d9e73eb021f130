"""The audit policy: how much of which requests is told.

Source: apiserver pkg/audit/policy (reader.go, checker.go), pkg/apis/audit/validation. The first rule that matches
decides; what none matches is not told of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import dns_subdomain
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
_LEVELS = {word: level for level, word in _WORDS.items()}


class AuditPolicyError(Exception):
    """The file is no policy that a server would start with."""


class Told(NamedTuple):
    """What the policy says of one request."""

    level: Level
    omit_stages: frozenset[str] = frozenset()
    omit_managed_fields: bool = False


class AuditPolicy:
    """`policy` is valid (see `load_policy`)."""

    def __init__(self, policy: Object) -> None:
        self._rules: Sequence[Object] = policy.get("rules") or ()
        self._omit_stages = frozenset(policy.get("omitStages") or ())
        self._omit_managed_fields = bool(policy.get("omitManagedFields"))

    def evaluate(self, user: UserInfo, info: RequestInfo) -> Told:
        for rule in self._rules:
            if _matches(rule, user, info):
                omit = rule.get("omitManagedFields")
                return Told(
                    _LEVELS[rule["level"]],
                    self._omit_stages | frozenset(rule.get("omitStages") or ()),
                    self._omit_managed_fields if omit is None else omit,
                )
        return Told(Level.NONE, self._omit_stages, self._omit_managed_fields)


def load_policy(file: Path) -> AuditPolicy:
    """Raises AuditPolicyError."""
    try:
        found = yaml.safe_load(file.read_bytes())
    except OSError as error:
        raise AuditPolicyError(f'failed to read file path "{file}": {error.strerror}') from error
    except yaml.YAMLError as error:
        raise AuditPolicyError(f"failed decoding: {error}: from file {file}") from error
    if not isinstance(found, dict) or found.get("kind") != "Policy" or found.get("apiVersion") != API_VERSION:
        kind = f"{found.get('apiVersion', '')}, Kind={found.get('kind', '')}" if isinstance(found, dict) else "/, Kind="
        raise AuditPolicyError(f"{file}: unable to recognize {kind}; an audit policy is {API_VERSION}, Kind=Policy")
    if problems := policy_problems(found):
        raise AuditPolicyError(f"{file}: {'; '.join(map(str, problems))}")
    if not found.get("rules"):
        raise AuditPolicyError(f"loaded illegal policy with 0 rules from file {file}")
    return AuditPolicy(found)


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
    return not resources or any(_in_group(each, info) for each in resources)


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


# -- what is valid


def policy_problems(policy: Object) -> Problems:
    problems = Problems()
    _stages("omitStages", policy.get("omitStages"), problems)
    for position, rule in enumerate(policy.get("rules") or ()):
        _rule(f"rules[{position}]", rule, problems)
    return problems


def _rule(path: str, rule: Any, problems: Problems) -> None:
    level = rule.get("level")
    if not level:
        problems.required(f"{path}.level")
    elif level not in _LEVELS:
        problems.not_supported(f"{path}.level", level, list(_LEVELS))
    urls = rule.get("nonResourceURLs") or ()
    for position, url in enumerate(urls):
        if url != "*":
            _url(f"{path}.nonResourceURLs[{position}]", url, problems)
    for group in rule.get("resources") or ():
        if group.get("group"):
            problems.all_invalid(f"{path}.resources.group", group["group"], dns_subdomain(group["group"]))
        if group.get("resourceNames") and not group.get("resources"):
            text = "using resourceNames requires at least one resource"
            problems.invalid(f"{path}.resources.resourceNames", group["resourceNames"], text)
    _stages(f"{path}.omitStages", rule.get("omitStages"), problems)
    if urls and (rule.get("resources") or rule.get("namespaces")):
        text = "rules cannot apply to both regular resources and non-resource URLs"
        problems.invalid(f"{path}.nonResourceURLs", list(urls), text)


def _url(path: str, url: str, problems: Problems) -> None:
    if not url.startswith("/"):
        problems.invalid(path, url, "non-resource URL rules must begin with a '/' character")
    if "*" in url[:-1]:
        problems.invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule")


def _stages(path: str, stages: Sequence[str] | None, problems: Problems) -> None:
    for position, stage in enumerate(stages or ()):
        if stage not in STAGES:
            problems.invalid(f"{path}[{position}]", stage, f"allowed stages are {','.join(STAGES)}")
