"""Placeholder replaced below."""

from __future__ import annotations

from typing import Any

from engine.api.crd.structural import MISSING, Structural
from engine.api.validation.problems import Problems


class Validator:
    @classmethod
    def of(cls, schema: Structural) -> Validator | None:
        return None

    def check(self, value: Any, old: Any, path: str, problems: Problems) -> None:
        assert old is MISSING
