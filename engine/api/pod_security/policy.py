"""The policy that the labels of a namespace choose (pod-security-admission api/helpers.go PolicyToEvaluate)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from engine.api.errors import Cause, field_invalid

PREFIX = "pod-security.kubernetes.io/"
PRIVILEGED, BASELINE, RESTRICTED = LEVELS = ("privileged", "baseline", "restricted")
LATEST = "latest"
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


class LevelVersion(NamedTuple):
    level: str = PRIVILEGED
    version: str = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    @property
    def strictness(self) -> int:
        return LEVELS.index(self.level)


class Policy(NamedTuple):
    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()


def policy_of(labels: Mapping[str, str] | None) -> tuple[Policy, list[Cause]]:
    """What is enforced, audited and warned of, and what is wrong with the labels. A level that is none counts as the
    strictest for enforcement and as none for the others; a namespace that enforces also warns, unless it says else."""
    labels = labels or {}
    problems: list[Cause] = []
    modes = {mode: _mode(labels, mode, problems) for mode in ("enforce", "audit", "warn")}
    policy = Policy(modes["enforce"], modes["audit"], modes["warn"])
    stated = labels.get(f"{PREFIX}enforce") in LEVELS  # a level that is none warns nobody
    if stated and f"{PREFIX}warn" not in labels and policy.enforce.strictness > policy.warn.strictness:
        version = policy.warn.version if f"{PREFIX}warn-version" in labels else policy.enforce.version
        policy = policy._replace(warn=LevelVersion(policy.enforce.level, version))
    return policy, problems


def _mode(labels: Mapping[str, str], mode: str, problems: list[Cause]) -> LevelVersion:
    level, version = labels.get(f"{PREFIX}{mode}", PRIVILEGED), labels.get(f"{PREFIX}{mode}-version", LATEST)
    if level not in LEVELS:
        problems.append(field_invalid(f"metadata.labels[{PREFIX}{mode}]", level, f"must be one of {', '.join(LEVELS)}"))
        level = RESTRICTED if mode == "enforce" else PRIVILEGED
    if version != LATEST and not _VERSION.fullmatch(version):
        problems.append(
            field_invalid(f"metadata.labels[{PREFIX}{mode}-version]", version, 'must be "latest" or "v1.x"')
        )
        version = LATEST
    return LevelVersion(level, version)
