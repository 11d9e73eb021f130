"""What /metrics says of clients' certificates: how long those that came are still good (apiserver
pkg/authentication/request/x509 x509.go). Alerts are made of it."""

from __future__ import annotations

from engine.metrics import Histogram

_HOUR, _DAY = 3600, 86400
_BUCKETS = (
    0,
    _HOUR / 2,
    _HOUR,
    2 * _HOUR,
    6 * _HOUR,
    12 * _HOUR,
    _DAY,
    2 * _DAY,
    4 * _DAY,
    7 * _DAY,
    30 * _DAY,
    90 * _DAY,
    180 * _DAY,
    360 * _DAY,
)


def certificate_lifetimes() -> Histogram:
    return Histogram(
        "apiserver_client_certificate_expiration_seconds",
        "[ALPHA] Distribution of the remaining lifetime on the certificate used to authenticate a request.",
        buckets=_BUCKETS,
    )
