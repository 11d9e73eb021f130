"""Fields that a transformer changes: which kinds have them, and the way to them through lists and maps.

Source of the behaviour: kustomize api/filters/fieldspec and api/types/fieldspec.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.identity import ANY, Gvk
from engine.kubectl.kustomize.resource import Resource

Set = Callable[[Any], Any]
_STEP = re.compile(r"(?:\\/|[^/])+")


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """`path` is `spec/template/metadata/labels`, with `\\/` for a slash in a key; `[]` marks a list."""

    path: str
    gvk: Gvk = ANY
    create: bool = False

    @property
    def steps(self) -> list[str]:
        return [step.replace("\\/", "/") for step in _STEP.findall(self.path)]

    @classmethod
    def read(cls, value: dict[str, Any]) -> FieldSpec:
        gvk = Gvk(value.get("group") or "", value.get("version") or "", value.get("kind") or "")
        return cls(value.get("path") or "", gvk, bool(value.get("create")))

    def merged_into(self, specs: list[FieldSpec]) -> list[FieldSpec]:
        """The specs with this one among them, once. Raises BuildError where another says otherwise."""
        for other in specs:
            if (other.path, other.gvk) == (self.path, self.gvk):
                if other.create != self.create:
                    raise BuildError("conflicting fieldspecs")
                return specs
        return [*specs, self]


def merged(specs: Iterable[FieldSpec], more: Iterable[FieldSpec]) -> list[FieldSpec]:
    result = list(specs)
    for spec in more:
        result = spec.merged_into(result)
    return result


def change(resource: Resource, spec: FieldSpec, change: Set, *, new: Callable[[], Any] | None = None) -> None:
    """Let `change` say the value of each field at the spec's path; `new` makes one that is missing, where one may."""
    if not resource.gvk.selected_by(spec.gvk):
        return
    walk = _Walk(change, new if spec.create else None)
    try:
        walk.at(resource.obj, spec.steps)
    except BuildError as error:
        raise BuildError(f"considering field '{spec.path}' of object {resource.id}: {error}") from error


class _Walk:
    def __init__(self, change: Set, new: Callable[[], Any] | None) -> None:
        self._change = change
        self._new = new

    def at(self, node: Any, steps: list[str]) -> Any:
        if not steps:
            return self._change(node)
        if node is None:
            return None
        if isinstance(node, list):
            for index, item in enumerate(node):
                node[index] = self.at(item, steps)
        elif isinstance(node, dict):
            self._field(node, steps)
        else:
            raise BuildError("expected sequence or mapping node")
        return node

    def _field(self, node: dict[str, Any], steps: list[str]) -> None:
        name, is_list = steps[0].removesuffix("[]"), steps[0].endswith("[]")
        if node.get(name) is None:
            if self._new is None or is_list:
                if name in node and len(steps) == 1:
                    node[name] = self._change(None)
                return
            node[name] = self._new() if len(steps) == 1 else {}
        node[name] = self.at(node[name], steps[1:])
