"""What /metrics says of who asked and whether they were let: authentication and authorization by their results.

Source: apiserver pkg/endpoints/filters/metrics.go, pkg/authorization/metrics. Durations are this machine's.
"""

from __future__ import annotations

from engine.apiserver.authorization import Verdict
from engine.apiserver.authorization.attributes import Decision
from engine.metrics import Counter, Family, Histogram, exponential_buckets

_BUCKETS = exponential_buckets(0.001, 2, 15)
_RESULTS = {Verdict.ALLOW: "allowed", Verdict.DENY: "denied", Verdict.NO_OPINION: "no-opinion"}
# Users are told by a handful of names, lest each is a time series.
_KNOWN = frozenset(("admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"))
# The authorizers of --authorization-mode; what is allowed by a group that may do everything is not counted.
_MODES = frozenset(("AlwaysAllow", "AlwaysDeny", "Node", "RBAC"))


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

        self._succeeded, self._failed = (self._authentication.of(result) for result in ("success", "error"))
        self._decided = {verdict: self._authorization.of(result) for verdict, result in _RESULTS.items()}

    def authenticated(self, user: str | None, seconds: float) -> None:
        """`user` is None where a credential was refused."""
        if user is None:
            self._failed.observe(seconds)
        else:
            self._users.add(_compressed(user))
            self._succeeded.observe(seconds)

    def authorized(self, decision: Decision, seconds: float) -> None:
        self._decided[decision.verdict].observe(seconds)
        if decision.verdict is not Verdict.NO_OPINION and decision.authorizer in _MODES:
            self._decisions.add(decision.authorizer, decision.authorizer.lower(), _RESULTS[decision.verdict])

    def families(self) -> tuple[Family, ...]:
        """Attempts are as many as there are durations."""
        self._authentications.count(self._authentication)
        self._authorizations.count(self._authorization)
        return (
            self._users,
            self._authentications,
            self._authentication,
            self._authorizations,
            self._authorization,
            self._decisions,
        )


def _compressed(user: str) -> str:
    if user in _KNOWN:
        return user
    return "email_id" if "@" in user else "other"
