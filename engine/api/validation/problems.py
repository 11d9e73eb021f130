"""The list that validators write their field errors into.

A validator gets the value, its path and the list, and adds what is wrong; nothing is raised, so that a client is told
everything at once. Paths are text, made where an element is entered; the path of a field is made only for an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.api import errors
from engine.api.errors import Cause
from engine.api.validation.new_expressions import STORED, NewExpressions
from engine.api.validation.text import domain_prefixed_path

NOT_NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
# How upstream shows the path of no field, a root without a name.
NO_FIELD = "[]"


class Problems(list[Cause]):
    """Field errors in the order found. Method names are those of apimachinery's field package."""

    def __init__(self, expressions: NewExpressions = STORED) -> None:
        super().__init__()
        self.expressions = expressions
        self.warned: list[str] = []
        """What would be wrong, had it not been so before."""

    def required(self, path: str, detail: str = "") -> None:
        self.append(errors.field_required(path, detail))

    def invalid(self, path: str, value: Any, detail: str) -> None:
        self.append(errors.field_invalid(path, value, detail))

    def all_invalid(self, path: str, value: Any, details: Iterable[str]) -> None:
        for detail in details:
            self.append(errors.field_invalid(path, value, detail))

    def not_supported(self, path: str, value: Any, supported: Sequence[str]) -> None:
        self.append(errors.field_not_supported(path, value, supported))

    def duplicate(self, path: str, value: Any, detail: str = "") -> None:
        self.append(errors.field_duplicate(path, value, detail))

    def forbidden(self, path: str, detail: str = "") -> None:
        self.append(errors.field_forbidden(path, detail))

    def not_found(self, path: str, value: Any, detail: str = "") -> None:
        self.append(errors.field_not_found(path, value, detail))

    def too_long(self, path: str, limit: int, unit: str = "bytes") -> None:
        self.append(errors.field_too_long(path, limit, unit))

    def too_many(self, path: str, actual: int, limit: int) -> None:
        self.append(errors.field_too_many(path, actual, limit))

    # -- rules that many fields share

    def not_negative(self, path: str, value: Any) -> None:
        if isinstance(value, int) and value < 0:
            self.invalid(path, value, NOT_NEGATIVE)

    def immutable(self, path: str, new: Any, old: Any) -> None:
        if new != old:
            self.invalid(path, new, IMMUTABLE)

    def unless_in(self, path: str, value: Any, supported: Sequence[str]) -> None:
        """One of a few words, if it is there at all."""
        if value is not None and value not in supported:
            self.not_supported(path, value, supported)

    def required_fields(self, obj: Mapping[str, Any], path: str, *fields: str) -> None:
        for name in fields:
            if not obj.get(name):
                self.required(f"{path}.{name}")

    def domain_prefixed_path(self, path: str, value: str) -> None:
        if not value:
            self.required(path)
        else:
            for part, why in domain_prefixed_path(value):
                self.invalid(path, part, why)

    def one_of(self, path: str, value: Any, supported: Sequence[str]) -> None:
        """Required, and one of a few words, which the error lists in the given order."""
        if not value:
            self.required(path)
        elif value not in supported:
            self.not_supported(path, value, supported)
