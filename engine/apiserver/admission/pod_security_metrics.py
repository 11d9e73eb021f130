"""What /metrics says of PodSecurity: how Pods and what makes Pods were judged.

Allowed is told of enforcement alone, once for each Pod that is looked at; audits and warnings are told where there was
something to tell. Source: pod-security-admission metrics/metrics.go, admission/admission.go.
"""

from __future__ import annotations

from engine.api.pod_security import LevelVersion
from engine.api.pod_security.policy import LATEST
from engine.apiserver.admission.attributes import Attributes, Operation
from engine.metrics import Counter, Family

ENFORCE, AUDIT, WARN = "enforce", "audit", "warn"
_OPERATIONS = {each: each.value.lower() for each in Operation}
_REQUEST = ("request_operation", "resource", "subresource")


class PodSecurityMetrics:
    def __init__(self) -> None:
        self._evaluations = Counter(
            "pod_security_evaluations_total",
            "[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests.",
            *("decision", "policy_level", "policy_version", "mode"),
            *_REQUEST,
        )
        self._exemptions = Counter(
            "pod_security_exemptions_total",
            "[ALPHA] Number of exempt requests, not counting ignored or out of scope requests.",
            *_REQUEST,
        )
        self._errors = Counter(
            "pod_security_errors_total",
            "[ALPHA] Number of errors preventing normal evaluation. Non-fatal errors may result in the latest "
            "restricted profile being used for evaluation.",
            "fatal",
            *_REQUEST,
        )

        self._labels: dict[tuple[LevelVersion, str, bool, Operation, str, tuple[int, int]], tuple[str, ...]] = {}

    def evaluated(self, attributes: Attributes, policy: LevelVersion, mode: str, *, allowed: bool) -> None:
        key = (policy, mode, allowed, attributes.operation, attributes.key, attributes.resource.release)
        labels = self._labels.get(key)
        if labels is None:
            version, decision = _version(policy, attributes.resource.release), "allow" if allowed else "deny"
            labels = self._labels[key] = (decision, policy.level, version, mode, *_request(attributes))
        self._evaluations.add(*labels)

    def exempted(self, attributes: Attributes) -> None:
        self._exemptions.add(*_request(attributes))

    def failed(self, attributes: Attributes) -> None:
        """The labels of the namespace say no policy; another one was evaluated."""
        self._errors.add("false", *_request(attributes))

    def families(self) -> tuple[Family, ...]:
        return self._evaluations, self._exemptions, self._errors


def _request(attributes: Attributes) -> tuple[str, str, str]:
    resource = "pod" if attributes.resource.gvr.group_resource == "pods" else "controller"
    return _OPERATIONS[attributes.operation], resource, attributes.subresource


def _version(policy: LevelVersion, release: tuple[int, int]) -> str:
    if policy.version == LATEST:
        return LATEST
    minor = int(policy.version.removeprefix("v1."))
    return policy.version if (1, minor) <= release else "future"
