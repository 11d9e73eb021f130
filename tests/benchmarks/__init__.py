"""Benchmarks: each module here is one, named as the module; `python -m tests.benchmarks` runs them.

A module has a docstring, whose first line says what is measured, and `async def run() -> Result`. What `run` prints
says what it did.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import orjson


@dataclass(frozen=True, slots=True)
class Result:
    """`peer` is the same measured on another implementation in the same run, `ratio` how many times it we reach."""

    name: str
    value: float
    unit: str
    peer: float | None = None
    ratio: float | None = None

    def to_json(self) -> str:
        return orjson.dumps({name: value for name, value in asdict(self).items() if value is not None}).decode()


def benchmarks() -> dict[str, ModuleType]:
    """All benchmarks by name."""
    names = sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def describe(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]
