"""The token of a header `Authorization: Bearer` (apiserver pkg/authentication/request/bearertoken)."""

from __future__ import annotations

from engine.apiserver.authentication.remarks import Remarks

_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"


def bearer_token(authorization: str, remarks: Remarks) -> str:
    """The word after the scheme, whatever comes behind it; "" where there is none, or a space too many before it."""
    scheme, *words = authorization.strip().split(" ", 2)
    if scheme.lower() != "bearer" or not words:
        return ""
    if not words[0] and len(words) > 1:
        remarks.warnings.append(_SPACE)
    return words[0]
