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

    def asks_as(self, other: Policy) -> bool:
        """Whether both ask the same: of what is privileged the version does not matter."""
        pairs = zip(self, other, strict=True)
        return all(one == two or one.level == two.level == PRIVILEGED for one, two in pairs)


_NOTHING = Policy()


def is_version(text: str) -> bool:
    return text == LATEST or _VERSION.fullmatch(text) is not None


def policy_of(labels: Mapping[str, str] | None, defaults: Policy = _NOTHING) -> tuple[Policy, list[Cause]]:
    """What is enforced, audited and warned of, and what is wrong with the labels. `defaults` holds where they say
    nothing. A level that is none counts as the strictest for enforcement and as none for the others; a namespace that
    enforces also warns, unless it says else."""
    labels = labels or {}
    problems: list[Cause] = []
    policy = Policy(
        _mode(labels, "enforce", defaults.enforce, problems),
        _mode(labels, "audit", defaults.audit, problems),
        _mode(labels, "warn", defaults.warn, problems),
    )
    stated = labels.get(f"{PREFIX}enforce") in LEVELS  # a level that is none warns nobody
    if stated and f"{PREFIX}warn" not in labels and policy.enforce.strictness > policy.warn.strictness:
        version = policy.warn.version if f"{PREFIX}warn-version" in labels else policy.enforce.version
        policy = policy._replace(warn=LevelVersion(policy.enforce.level, version))
    return policy, problems


def _mode(labels: Mapping[str, str], mode: str, default: LevelVersion, problems: list[Cause]) -> LevelVersion:
    level, version = (
        labels.get(f"{PREFIX}{mode}", default.level),
        labels.get(f"{PREFIX}{mode}-version", default.version),
    )
    if level not in LEVELS:
        problems.append(field_invalid(f"metadata.labels[{PREFIX}{mode}]", level, f"must be one of {', '.join(LEVELS)}"))
        level = RESTRICTED if mode == "enforce" else PRIVILEGED
    if not is_version(version):
        problems.append(
            field_invalid(f"metadata.labels[{PREFIX}{mode}-version]", version, 'must be "latest" or "v1.x"')
        )
        version = LATEST
    return LevelVersion(level, version)
