"""What /metrics says of admission: how long its steps, plugins and webhooks took, and what policies came to.

Source: apiserver pkg/admission/metrics and pkg/admission/plugin/policy/{validating,mutating}/metrics. Durations are
this machine's, as those of requests. The summary of the steps, which upstream has besides their histogram, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.apiserver.admission.manifests.metrics import ManifestMetrics
from engine.apiserver.admission.pod_security_metrics import PodSecurityMetrics
from engine.metrics import Counter, Distribution, Family, Histogram

ADMIT, VALIDATE = "admit", "validate"  # the steps; webhooks that validate are `validating`
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_EXPRESSION_BUCKETS = (0.0000005, 0.001, 0.01, 0.1, 1.0)
_TYPES = "for each operation and API resource"
_MOST_CODE = 600
_CONDITIONS = (
    "broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate "
    "or admit)."
)
_CODES = "Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded."


class AdmissionMetrics:
    def __init__(self) -> None:
        self.pod_security = PodSecurityMetrics()
        self.manifests: ManifestMetrics | None = None  # of a server that reads admission from files
        self._unasked: list[Unasked] = []
        self._durations: dict[tuple[str, str, bool], Distribution] = {}  # of the steps
        self._steps = _histogram(
            "step_admission_duration_seconds",
            f"[STABLE] Admission sub-step latency histogram in seconds, broken out {_TYPES} and step type (validate or "
            "admit).",
            "type",
        )
        self._controllers = _histogram(
            "controller_admission_duration_seconds",
            f"[STABLE] Admission controller latency histogram in seconds, identified by name and broken out {_TYPES} "
            "and type (validate or admit).",
            "name",
            "type",
        )
        self._webhooks = _histogram(
            "webhook_admission_duration_seconds",
            f"[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out {_TYPES} and "
            "type (validate or admit).",
            "name",
            "type",
            buckets=(*_BUCKETS, 10, 25),
        )
        self.rejections = _counter(
            "webhook_rejection_count",
            "Admission webhook rejection count, identified by name and broken out for each admission type (validating "
            "or admit) and operation. Additional labels specify an error type (calling_webhook_error or "
            "apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection "
            "code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code "
            f"is greater or equal to 400). {_CODES}",
            *("name", "type", "operation", "error_type", "rejection_code"),
        )
        self.failed_open = _counter(
            "webhook_fail_open_count",
            "Admission webhook fail open count, identified by name and broken out for each admission type (validating "
            "or mutating).",
            *("name", "type"),
        )
        self._requests = _counter(
            "webhook_request_total",
            "Admission webhook request total, identified by name and broken out for each admission type (validating or "
            "mutating) and operation. Additional labels specify whether the request was rejected or not and an HTTP "
            f"status code. {_CODES}",
            *("name", "type", "operation", "code", "rejected"),
        )
        self.conditions = ConditionMetrics()
        self.validations = PolicyMetrics("validating", "Validation", "validation expressions", "enforcement_action")
        self.mutations = PolicyMetrics("mutating", "Mutation", "mutation expressions")

    def families(self) -> Iterator[Family]:
        for each in self._unasked:
            each.settle()
        yield from (self._steps, self._controllers, self._webhooks)
        yield from (self.rejections, self.failed_open, self._requests)
        yield from (*self.conditions.families, *self.validations.families, *self.mutations.families)
        yield from self.pod_security.families()
        if self.manifests is not None:
            yield from self.manifests.families()

    def step(self, kind: str, operation: str, seconds: float, *, rejected: bool = False) -> None:
        key = (kind, operation, rejected)
        durations = self._durations.get(key)
        if durations is None:
            durations = self._durations[key] = self._steps.of(kind, operation, _flag(rejected))
        durations.observe(seconds)

    def controller(self, name: str, kind: str, operation: str, *, rejected: bool = False) -> Distribution:
        """Where the durations of a plugin go."""
        return self._controllers.of(name, kind, operation, _flag(rejected))

    def unasked(self, durations: Sequence[Distribution]) -> Unasked:
        """Counts for plugins that a request has nothing to do with, whose durations go there."""
        self._unasked.append(found := Unasked(durations))
        return found

    def webhook(self, name: str, kind: str, operation: str, seconds: float, *, code: int, error: str = "") -> None:
        """One call. `error` is of which type it is that has refused the request; "" where none has."""
        shown, rejected = str(min(code, _MOST_CODE)), _flag(bool(error))
        self._requests.add(name, kind, operation, shown, rejected)
        self._webhooks.observe(seconds, name, kind, operation, rejected)
        if error:
            self.rejections.add(name, kind, operation, error, shown)


class Unasked:
    """Plugins that a request passes without being asked, which takes them no time: each request counts for all of them,
    of which they are told when somebody looks."""

    __slots__ = ("_durations", "_requests")

    def __init__(self, durations: Sequence[Distribution]) -> None:
        self._durations = durations
        self._requests = 0

    def add(self) -> None:
        self._requests += 1

    def settle(self) -> None:
        for durations in self._durations:
            durations.observe(0.0, times=self._requests)
        self._requests = 0


class ConditionMetrics:
    """Of match conditions, by what has them, of which kind that is, the step and the operation."""

    def __init__(self) -> None:
        labels = ("name", "kind", "type", "operation")
        what = "identified by name of resource containing the match condition and"
        self.errors = _counter(
            "match_condition_evaluation_errors_total",
            f"Admission match condition evaluation errors count, {what} {_CONDITIONS}",
            *labels,
        )
        self.exclusions = _counter(
            "match_condition_exclusions_total",
            f"Admission match condition evaluation exclusions count, {what} {_CONDITIONS}",
            *labels,
        )
        self.durations = Histogram(
            "apiserver_admission_match_condition_evaluation_seconds",
            "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each "
            "kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
            *labels,
            buckets=_BUCKETS,
        )
        self.families = (self.errors, self.durations, self.exclusions)


class PolicyMetrics:
    """Of the expressions of policies, by policy, binding and what kind of error they ended with."""

    def __init__(self, name: str, title: str, what: str, *more: str) -> None:
        stability = "[BETA]" if more else "[ALPHA]"
        labels = ("policy", "policy_binding", "error_type", *more)
        identified = "policy and further identified by binding" + (" and enforcement action taken" if more else "")
        by = "policy and further including binding and enforcement action taken" if more else "policy and binding"
        self._checks = Counter(
            f"apiserver_{name}_admission_policy_check_total",
            f"{stability} {title} admission policy check total, labeled by {identified}.",
            *labels,
        )
        self._durations = Histogram(
            f"apiserver_{name}_admission_policy_check_duration_seconds",
            f"{stability} {title} admission latency for individual {what} in seconds, labeled by {by}.",
            *labels,
            buckets=_EXPRESSION_BUCKETS,
        )
        self.families = (self._durations, self._checks)

    def checked(self, seconds: float, *labels: str) -> None:
        self._checks.add(*labels)
        self._durations.observe(seconds, *labels)


def error_type(failure: str) -> str:
    """Of an expression that failed, by what it says."""
    if failure.startswith("compilation"):
        return "compile_error"
    spent = failure.startswith("validation failed due to running out of cost budget")
    return "out_of_budget" if spent else "invalid_error"


def _histogram(name: str, help: str, *labels: str, buckets: tuple[float, ...] = _BUCKETS) -> Histogram:
    return Histogram(f"apiserver_admission_{name}", help, *labels, "operation", "rejected", buckets=buckets)


def _counter(name: str, help: str, *labels: str) -> Counter:
    return Counter(f"apiserver_admission_{name}", f"[ALPHA] {help}", *labels)


def _flag(value: bool) -> str:
    return "true" if value else "false"
