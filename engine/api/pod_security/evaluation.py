"""A Pod against a level: all checks of the level, and what they say (pod-security-admission policy/registry.go)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from engine.api.pod_security import baseline, restricted
from engine.api.pod_security.checks import Finding, has_own_users
from engine.api.pod_security.policy import BASELINE, LATEST, PRIVILEGED, LevelVersion
from engine.api.types import Object

Check = Callable[[Object, Object], Finding | None]


# From here on a Pod with users of its own may do more.
_OWN_USERS_SINCE = 35


class Result(NamedTuple):
    findings: tuple[Finding, ...]

    @property
    def allowed(self) -> bool:
        return not self.findings

    @property
    def reason(self) -> str:
        return ", ".join(finding.reason for finding in self.findings)

    @property
    def detail(self) -> str:
        return ", ".join(f"{f.reason} ({f.detail})" if f.detail else f.reason for f in self.findings)


def evaluate(wanted: LevelVersion, metadata: Object, spec: Object) -> Result:
    if wanted.level == PRIVILEGED:
        return Result(())
    minor = 10_000 if wanted.version == LATEST else int(wanted.version.removeprefix("v1."))
    found = [check(metadata, spec) for check in _checks(wanted.level, minor)]
    return Result(tuple(finding for finding in found if finding is not None))


def _checks(level: str, minor: int) -> list[Check]:
    """Baseline checks before restricted ones, each in the order of their names; a restricted check takes the place of
    the baseline one that it says more than."""
    strict = level != BASELINE
    checks: list[Check] = [baseline.app_armor_profile]
    if not strict or minor < 22:
        checks.append(baseline.capabilities)
    checks.append(baseline.host_namespaces)
    if not strict:
        checks.append(baseline.host_path_volumes)
    checks.append(baseline.host_ports)
    if minor >= 34:
        checks.append(baseline.host_probes)
    checks.append(baseline.privileged)
    checks.append(baseline.proc_mount if minor < _OWN_USERS_SINCE else _unless_own_users(baseline.proc_mount))
    checks += [partial(baseline.se_linux_options, minor=minor)]
    if not strict or minor < 19:
        checks.append(baseline.seccomp_profile)
    checks += [partial(baseline.sysctls, minor=minor), baseline.windows_host_process]
    if strict:
        checks += _restricted(minor)
    return checks


def _unless_own_users(check: Check) -> Check:
    return lambda metadata, spec: None if has_own_users(spec) else check(metadata, spec)


def _restricted(minor: int) -> list[Check]:
    checks: list[Check] = []
    if minor >= 8:
        checks.append(partial(restricted.privilege_escalation, minor=minor))
    if minor >= 22:
        checks.append(partial(restricted.capabilities, minor=minor))
    if minor >= _OWN_USERS_SINCE:  # besides that of the baseline level, so that both may tell of the same
        checks.append(baseline.proc_mount)
    checks.append(restricted.volume_types)
    root = [restricted.run_as_non_root, *([restricted.run_as_user] if minor >= 23 else [])]
    checks += map(_unless_own_users, root) if minor >= _OWN_USERS_SINCE else root
    if minor >= 19:
        checks.append(partial(restricted.seccomp_profile, minor=minor))
    return checks
