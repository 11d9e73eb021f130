"""What refuses a token, whatever kind of token it is."""

from __future__ import annotations

from engine.api.errors import ApiError


class TokenError(Exception):
    """Why a token is not good, in the words that a TokenReview has for it."""


class RefusedTokenError(ApiError):
    """A token that an authenticator knows and refuses: 401, and for a TokenReview why."""

    def __init__(self, why: str) -> None:
        super().__init__(401, "Unauthorized", "Unauthorized")
        self.why = why
