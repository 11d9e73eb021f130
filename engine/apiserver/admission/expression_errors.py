"""How expressions fail. Apart from what runs them, which is loaded with the first policy or match condition."""

from __future__ import annotations


class ExpressionError(Exception):
    """The expression did not compile, or failed."""


class OutOfBudget(ExpressionError):
    """Nothing more is evaluated."""
