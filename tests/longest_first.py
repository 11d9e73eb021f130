"""The files of tests that take longest begin first: no process is left with one of them when the others have ended.

With --dist loadfile a process takes whole files in the order of their tests, and --no-loadscope-reorder keeps that
order; by itself pytest-xdist begins with the files that have most tests, and ends with those that have one long one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

LONGEST = ("kubectl/test_parity.py", "ktui/test_lifecycle.py", "conformance/test_every_kind.py")
_RANKS = {Path(__file__).parent / name: rank for rank, name in enumerate(LONGEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _RANKS.get(item.path, len(_RANKS)))
