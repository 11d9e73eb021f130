"""The file of an audit policy: read, decoded and checked.

Source: apiserver pkg/audit/policy/reader.go, pkg/apis/audit/validation. Fields that there are not, or that come twice,
are no reason to refuse a file: a warning tells of them, and they count for nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from engine.api.errors import Cause, aggregated
from engine.api.golang.forms import BOOL, STRING, Struct, UnmarshalError, check, type_meta
from engine.api.golang.yaml import YamlError, load
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import dns_subdomain
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors
from engine.apiserver.audit.policy import API_VERSION, LEVELS, STAGES, AuditPolicy

log = logging.getLogger(__name__)

_KIND = "Policy"
_OF_NONE = f"audit.k8s.io/__internal, Kind={_KIND}"  # what is decoded into, where a file does not say what it is
_SCHEME = "k8s.io/apiserver/pkg/audit/scheme.go:31"
_RULE = Struct(
    "PolicyRule",
    {
        "level": STRING,
        "users": [STRING],
        "userGroups": [STRING],
        "verbs": [STRING],
        "resources": [Struct("GroupResources", {"group": STRING, "resources": [STRING], "resourceNames": [STRING]})],
        "namespaces": [STRING],
        "nonResourceURLs": [STRING],
        "omitStages": [STRING],
        "omitManagedFields": BOOL,
    },
)
_POLICY = Struct(
    _KIND,
    {
        "kind": STRING,
        "apiVersion": STRING,
        "metadata": Struct("ObjectMeta", {"name": STRING, "creationTimestamp": STRING}),
        "rules": [_RULE],
        "omitStages": [STRING],
        "omitManagedFields": BOOL,
    },
)


class AuditPolicyError(Exception):
    """The file is no policy that a server would start with."""


def load_policy(file: Path) -> AuditPolicy:
    """Raises AuditPolicyError."""
    try:
        text = file.read_bytes()
    except OSError as error:
        why = f"open {file}: {(error.strerror or str(error)).lower()}"
        raise AuditPolicyError(f'failed to read file path "{file}": {why}') from error
    try:
        policy = _decoded(text)
        if problems := _problems(policy):
            raise AuditPolicyError(aggregated(str(problem) for problem in problems))
        if not policy.get("rules"):
            raise AuditPolicyError("loaded illegal policy with 0 rules")
    except AuditPolicyError as error:
        raise AuditPolicyError(f"{error}: from file {file}") from error
    return AuditPolicy(policy)


def _decoded(text: bytes) -> Object:
    """Raises AuditPolicyError."""
    try:
        value = load(text)
        kind, version = type_meta(value)
        kind = kind or _KIND
        if (kind, version) == (_KIND, ""):
            raise AuditPolicyError(f"unknown group version field {_OF_NONE} in policy")
        if (kind, version) != (_KIND, API_VERSION):
            told = f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'
            raise AuditPolicyError(f"failed decoding: {told}")
        unknown = check(value, _POLICY)
    except YamlError as error:
        raise AuditPolicyError(f"failed decoding: {CONVERTING}{error}") from error
    except UnmarshalError as error:
        raise AuditPolicyError(f"failed decoding: {error}") from error
    twice = twice_in_yaml(text)
    strict = [*([unmarshal_errors(twice)] if twice else ()), *(f'unknown field "{path}"' for path in unknown)]
    if strict:
        told = f"strict decoding error: {', '.join(strict)}"
        log.warning("Audit policy contains errors, falling back to lenient decoding: %s", told)
    found: Object = value
    return found


# -- what is valid


def _problems(policy: Object) -> list[Cause]:
    problems = Problems()
    _check_stages("omitStages", policy.get("omitStages") or (), problems)
    for position, rule in enumerate(policy.get("rules") or ()):
        _check_rule(f"rules[{position}]", rule or {}, problems)
    return problems


def _check_rule(path: str, rule: Object, problems: Problems) -> None:
    level, urls = rule.get("level"), rule.get("nonResourceURLs") or ()
    if not level:
        problems.required(f"{path}.level")
    elif level not in LEVELS:
        problems.not_supported(f"{path}.level", level, list(LEVELS))
    for position, url in enumerate(urls):
        if url != "*":
            _check_url(f"{path}.nonResourceURLs[{position}]", url or "", problems)
    for each in rule.get("resources") or ():
        _check_resources(f"{path}.resources", each or {}, problems)
    _check_stages(f"{path}.omitStages", rule.get("omitStages") or (), problems)
    if urls and (rule.get("resources") or rule.get("namespaces")):
        text = "rules cannot apply to both regular resources and non-resource URLs"
        problems.invalid(f"{path}.nonResourceURLs", list(urls), text)


def _check_url(path: str, url: str, problems: Problems) -> None:
    if not url.startswith("/"):
        problems.invalid(path, url, "non-resource URL rules must begin with a '/' character")
    if "*" in url[:-1]:
        problems.invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule")


def _check_resources(path: str, listed: Object, problems: Problems) -> None:
    group = listed.get("group")
    if group and (wrong := dns_subdomain(group)):
        problems.invalid(f"{path}.group", group, ",".join(wrong))
    if listed.get("resourceNames") and not listed.get("resources"):
        text = "using resourceNames requires at least one resource"
        problems.invalid(f"{path}.resourceNames", listed["resourceNames"], text)


def _check_stages(path: str, stages: Sequence[str], problems: Problems) -> None:
    for position, stage in enumerate(stages):
        if stage not in STAGES:
            problems.invalid(f"{path}[{position}]", stage or "", f"allowed stages are {','.join(STAGES)}")
