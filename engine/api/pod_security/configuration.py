"""A PodSecurityConfiguration: what holds where a namespace's labels say nothing, and who is exempt
(pod-security-admission admission/api, its validation and load packages)."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.api.pod_security.policy import LATEST, LEVELS, PRIVILEGED, LevelVersion, Policy, is_version
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import dns_label, dns_subdomain

API_VERSIONS = tuple(f"pod-security.admission.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
KIND = "PodSecurityConfiguration"
_MODES = ("enforce", "warn", "audit")
FIELDS = {
    "defaults": frozenset(name for mode in _MODES for name in (mode, f"{mode}-version")),
    "exemptions": frozenset(("usernames", "namespaces", "runtimeClasses")),
}


class Configuration(NamedTuple):
    """Nothing is asked and nobody exempt, unless a file says else."""

    defaults: Policy = Policy()
    namespaces: frozenset[str] = frozenset()
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


def configuration_of(given: Object) -> Configuration:
    """Of a configuration without problems."""
    defaults, exemptions = given.get("defaults") or {}, given.get("exemptions") or {}
    modes = {mode: LevelVersion(_level(defaults, mode), _version(defaults, mode)) for mode in _MODES}
    names = (frozenset(exemptions.get(field) or ()) for field in ("namespaces", "usernames", "runtimeClasses"))
    return Configuration(Policy(modes["enforce"], modes["audit"], modes["warn"]), *names)


def problems_of(given: Object) -> Problems:
    problems = Problems()
    defaults, exemptions = given.get("defaults") or {}, given.get("exemptions") or {}
    for mode in _MODES:
        if (level := _level(defaults, mode)) not in LEVELS:
            problems.invalid(f"defaults.{mode}", level, f"must be one of {', '.join(LEVELS)}")
        if not is_version(version := _version(defaults, mode)):
            problems.invalid(f"defaults.{mode}-version", version, 'must be "latest" or "v1.x"')
    for field, rule in (("namespaces", dns_label), ("runtimeClasses", dns_subdomain), ("usernames", None)):
        seen: set[str] = set()
        for position, name in enumerate(exemptions.get(field) or ()):
            path = f"exemptions.{field}[{position}]"
            if rule is not None and (wrong := rule(name)):
                problems.invalid(path, name, ", ".join(wrong))
            elif not name:
                problems.required(path)
            elif name in seen:
                problems.duplicate(path, name)
            seen.add(name)
    return problems


def _level(defaults: Object, mode: str) -> Any:
    return defaults.get(mode) or PRIVILEGED


def _version(defaults: Object, mode: str) -> Any:
    return defaults.get(f"{mode}-version") or LATEST
