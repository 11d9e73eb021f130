"""What /metrics says of tokens of other issuers (apiserver plugin/pkg/authenticator/token/oidc metrics.go)."""

from __future__ import annotations

from engine.apiserver.metrics.reload_metrics import hash_of
from engine.clock import Clock
from engine.metrics import Family, Gauge, Histogram

_NAME = "apiserver_authentication_jwt_authenticator"
_LABELS = ("jwt_issuer_hash", "apiserver_id_hash")


class JwtMetrics:
    """`identity` is the server's."""

    def __init__(self, identity: str) -> None:
        self._identity = hash_of(identity.encode())
        self._clock = Clock()
        self._latency = Histogram(
            f"{_NAME}_latency_seconds",
            "[ALPHA] Latency of jwt authentication operations in seconds. This is the time spent authenticating "
            "a token "
            "for cache miss only (i.e. when the token is not found in the cache).",
            "result",
            "jwt_issuer_hash",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self._fetched = Gauge(
            f"{_NAME}_jwks_fetch_last_timestamp_seconds",
            "[ALPHA] Timestamp of the last successful or failed JWKS fetch split by result, api server identity "
            "and jwt "
            "issuer for the JWT authenticator.",
            "result",
            *_LABELS,
        )
        self._key_sets: dict[str, bytes] = {}  # by the issuers' hashes

    def authenticated(self, issuer: str, seconds: float, *, succeeded: bool) -> None:
        self._latency.observe(seconds, "success" if succeeded else "failure", hash_of(issuer.encode()))

    def fetched(self, issuer: str, key_set: bytes | None) -> None:
        """The keys of an issuer; None where they could not be had."""
        known = hash_of(issuer.encode())
        if key_set is not None:
            self._key_sets[known] = key_set
        result = "success" if key_set is not None else "failure"
        self._fetched.set(result, known, self._identity, to=self._clock.posix())

    def families(self) -> tuple[Family, ...]:
        info = Gauge(
            f"{_NAME}_jwks_fetch_last_key_set_info",
            "[ALPHA] Information about the last JWKS fetched by the JWT authenticator with hash as label, split "
            "by api server identity and jwt issuer.",
            *_LABELS,
            "hash",
        )
        for issuer, key_set in self._key_sets.items():
            info.set(issuer, self._identity, hash_of(key_set), to=1)
        return self._latency, self._fetched, info
