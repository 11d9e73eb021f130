"""What /metrics says of the tokens of service accounts that came (pkg/serviceaccount/metrics.go)."""

from __future__ import annotations

from engine.metrics import Counter, Family


class TokenMetrics:
    """A token of the TokenRequest API is counted where its holder was to come again for another: `valid` before that
    time, `stale` after it."""

    def __init__(self) -> None:
        self.legacy = _counter("legacy_tokens", "legacy service account")
        self.stale = _counter("stale_tokens", "stale projected service account")
        self.manual = _counter("legacy_manual_token_uses", "manually created legacy")
        self.automatic = _counter("legacy_auto_token_uses", "auto-generated legacy")
        self.invalid = _counter("invalid_legacy_auto_token_uses", "invalid auto-generated legacy")
        self.valid = _counter("valid_tokens", "valid projected service account")

    def families(self) -> tuple[Family, ...]:
        return (self.legacy, self.stale, self.manual, self.automatic, self.invalid, self.valid)


def _counter(name: str, what: str) -> Counter:
    return Counter(f"serviceaccount_{name}_total", f"[ALPHA] Cumulative {what} tokens used")
