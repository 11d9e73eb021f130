"""What refuses a token, whatever kind of token it is."""

from __future__ import annotations


class TokenError(Exception):
    """Why a token is not good, in the words that a TokenReview has for it."""
