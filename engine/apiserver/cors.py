"""Cross-origin requests: which pages of other origins a browser lets read the answers (--cors-allowed-origins).

Source: apiserver pkg/server/filters/cors.go; pkg/server/options/server_run_options.go for what patterns there may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.api.crd.patterns import matches, what_is_wrong
from engine.api.wire import Request

_ALLOWED = {
    "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
    "access-control-allow-headers": "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, "
    "X-Requested-With, If-Modified-Since",
    "access-control-expose-headers": "Date",
    "access-control-allow-credentials": "true",
}
_UNPINNED = "regular expression does not pin to start/end of host in the origin header"


class CrossOrigin:
    """Knows the origins that are allowed, as regular expressions of RE2, which may match anywhere in the header."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = tuple(allowed)

    def headers(self, request: Request) -> dict[str, str]:
        """Those of the answer; none where no origin is named, or none that is allowed."""
        origin = request.headers.get("origin", "")
        if not origin or not any(matches(pattern, origin) for pattern in self._allowed):
            return {}
        return {"access-control-allow-origin": origin, **_ALLOWED}


def is_preflight(request: Request) -> bool:
    """Whether a browser only asks what it may ask."""
    return request.method == "OPTIONS"


def origin_errors(allowed: Sequence[str]) -> Iterator[str]:
    """What is wrong with patterns: one that does not say where a host begins and ends would allow others as well."""
    for pattern in allowed:
        if not pattern:
            yield "empty value in --cors-allowed-origins"
        elif why := what_is_wrong(pattern) or ("" if _is_pinned(pattern) else _UNPINNED):
            yield f"--cors-allowed-origins has an invalid regular expression: {why}"


def _is_pinned(pattern: str) -> bool:
    return any(mark in pattern for mark in ("^", "//")) and any(mark in pattern for mark in ("$", ":"))
