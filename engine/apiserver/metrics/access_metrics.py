"""What /metrics says of who asked and whether they were let: authentication and authorization by their results.

Source: apiserver pkg/endpoints/filters/metrics.go, pkg/authorization/metrics. Durations are this machine's.
"""

from __future__ import annotations

from engine.apiserver.authorization import Verdict
from engine.apiserver.authorization.attributes import Decision
from engine.apiserver.authorization.modes import MODES
from engine.apiserver.authorization.union import PrivilegedGroups
from engine.metrics import Counter, Family, Histogram, exponential_buckets

_BUCKETS = exponential_buckets(0.001, 2, 15)
_FILTER_BUCKETS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0)
_MOST_TAKEN = 1000
_RESULTS = {Verdict.ALLOW: "allowed", Verdict.DENY: "denied", Verdict.NO_OPINION: "no-opinion"}
# Users are told by a handful of names, lest each is a time series.
_KNOWN = frozenset(("admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"))
# The authorizers of --authorization-mode; what is allowed by a group that may do everything is not counted.
_MODES = frozenset(MODES)


class AccessMetrics:
    def __init__(self) -> None:
        self._users = Counter(
            "authenticated_user_requests",
            "[ALPHA] Counter of authenticated requests broken out by username.",
            "username",
        )
        self._authentications = Counter(
            "authentication_attempts", "[ALPHA] Counter of authenticated attempts.", "result"
        )
        self._authentication = Histogram(
            "authentication_duration_seconds",
            "[ALPHA] Authentication duration in seconds broken out by result.",
            "result",
            buckets=_BUCKETS,
        )
        self._authorizations = Counter(
            "authorization_attempts_total",
            "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', "
            "'no-opinion' or 'error'.",
            "result",
        )
        self._authorization = Histogram(
            "authorization_duration_seconds",
            "[ALPHA] Authorization duration in seconds broken out by result.",
            "result",
            buckets=_BUCKETS,
        )
        self._decisions = Counter(
            "apiserver_authorization_decisions_total",
            "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and "
            "decision.",
            "type",
            "name",
            "decision",
        )

        self._filters = Histogram(
            "apiserver_request_filter_duration_seconds",
            "[ALPHA] Request filter latency distribution in seconds, for each filter type",
            "filter",
            buckets=_FILTER_BUCKETS,
        )
        self._taken: dict[str, list[float]] = {"authentication": [], "authorization": []}  # not told of yet
        self._error = self._authorization.of("error")
        self._succeeded, self._failed = (self._authentication.of(result) for result in ("success", "error"))
        self._decided = {verdict: self._authorization.of(result) for verdict, result in _RESULTS.items()}

    def authenticated(self, user: str | None, seconds: float) -> None:
        """`user` is None where a credential was refused."""
        self._filtered("authentication", seconds)
        if user is None:
            self._failed.observe(seconds)
        else:
            self._users.add(_compressed(user))
            self._succeeded.observe(seconds)

    def authorized(self, decision: Decision, seconds: float) -> None:
        self._filtered("authorization", seconds)
        if decision.error and decision.verdict is not Verdict.ALLOW:
            self._error.observe(seconds)
        else:
            self._decided[decision.verdict].observe(seconds)
        by = decision.authorizer
        if decision.verdict is Verdict.NO_OPINION or not by or by == PrivilegedGroups.name:
            return
        kind, name = (by, by.lower()) if by in _MODES else ("Webhook", by)
        self._decisions.add(kind, name, _RESULTS[decision.verdict])

    def _filtered(self, name: str, seconds: float) -> None:
        """Kept as it is until somebody looks, or there is much of it: each request has two of these."""
        taken = self._taken[name]
        taken.append(seconds)
        if len(taken) >= _MOST_TAKEN:
            self._tell()

    def _tell(self) -> None:
        for name, taken in self._taken.items():
            observe = self._filters.of(name).observe
            for seconds in taken:
                observe(seconds)
            taken.clear()

    def families(self) -> tuple[Family, ...]:
        """Attempts are as many as there are durations."""
        self._authentications.count(self._authentication)
        self._authorizations.count(self._authorization)
        self._tell()
        return (
            self._users,
            self._authentications,
            self._authentication,
            self._authorizations,
            self._authorization,
            self._decisions,
            self._filters,
        )


def _compressed(user: str) -> str:
    if user in _KNOWN:
        return user
    return "email_id" if "@" in user else "other"
