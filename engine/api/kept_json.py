"""JSON that is kept for long.

orjson hands out its work buffer whole, which is many times as long as what is in it: harmless in what is sent and
forgotten, but a store of such texts takes several times the memory that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson


def kept_json(value: Any, *, option: int = 0, default: Callable[[Any], Any] | None = None) -> bytes:
    """A value as JSON, in memory of its own length; `option` and `default` are orjson's."""
    return bytes(memoryview(orjson.dumps(value, default, option)))
