"""`vars`: `$(NAME)` in certain fields stands for a field of a resource.

Source of the behaviour: kustomize api/internal/accumulator (resaccumulator.go, refvartransformer.go, expansion) and
api/filters/refvar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec, change
from engine.kubectl.kustomize.identity import Gvk, Id, split_api_version
from engine.kubectl.kustomize.resources import Resources

_REFERENCE = re.compile(r"\$(\$|\([^)]*\))")


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    id: Id
    path: str
    given: str  # as error texts show what the kustomization says

    @property
    def shown(self) -> str:
        return f"{{{self.name} {self.id.gvk} {{{self.path}}}}}"

    @classmethod
    def read(cls, value: dict[str, Any]) -> Variable:
        ref = value.get("objref") or {}
        group, version = split_api_version(str(ref.get("apiVersion") or ""))
        gvk = Gvk(str(ref.get("group") or group), str(ref.get("version") or version), str(ref.get("kind") or ""))
        id_ = Id(gvk, str(ref.get("name") or ""), str(ref.get("namespace") or ""))
        path = str((value.get("fieldref") or {}).get("fieldPath") or "metadata.name")
        name, stated = str(value.get("name") or ""), str((value.get("fieldref") or {}).get("fieldPath") or "")
        plain = Gvk(str(ref.get("group") or ""), str(ref.get("version") or ""), gvk.kind)
        return cls(name, id_, path, f"{{{name} {plain} {{{stated}}}}}")


def added(known: list[Variable], more: list[Variable], resources: Resources) -> list[Variable]:
    """The variables with more of them; each must stand for something else. Raises BuildError."""
    result = list(known)
    for variable in more:
        if any(other.name == variable.name for other in result):
            raise BuildError(f"var '{variable.name}' already encountered")
        result.append(variable)
        for resource in resources:
            if any(known_id.selected_by(variable.id) for known_id in resource.ids):
                resource.variables.append(variable.name)
    return result


def resolve(resources: Resources, variables: list[Variable], specs: list[FieldSpec]) -> list[str]:
    """Put the values in the place of `$(NAME)`; returns the names that nothing refers to."""
    values = {variable.name: _value(resources, variable) for variable in variables}
    unused = set(values)

    def expanded(text: str) -> Any:
        whole = re.fullmatch(r"\$\(([^)]*)\)", text)
        if whole is not None and whole[1] in values:
            unused.discard(whole[1])
            return values[whole[1]]
        return _REFERENCE.sub(put, text)

    def put(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        name = match[1][1:-1]
        if name not in values:
            return match[0]
        unused.discard(name)
        value = values[name]
        return str(value).lower() if isinstance(value, bool) else str(value)

    def inside(value: Any) -> Any:
        if isinstance(value, str):
            return expanded(value)
        if isinstance(value, list):
            return [expanded(item) if isinstance(item, str) else item for item in value]
        if isinstance(value, dict):
            return {key: expanded(item) if isinstance(item, str) else item for key, item in value.items()}
        return value

    if values:
        for resource in resources:
            for spec in specs:
                change(resource, spec, inside)
    return sorted(unused)


def _value(resources: Resources, variable: Variable) -> Any:
    found = [r for r in resources if any(known.selected_by(variable.id) for known in r.ids)]
    if len(found) > 1:
        raise BuildError(f"found {len(found)} resId matches for var {variable.name} (unable to disambiguate)")
    if not found:
        raise BuildError(f"var '{variable.shown}' cannot be mapped to a field in the set of known resources")
    node: Any = found[0].obj
    for step in re.findall(r"[^.\[\]]+", variable.path):
        if isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        elif isinstance(node, dict) and step in node:
            node = node[step]
        else:
            raise BuildError(f"field specified in var '{variable.shown}' not found in corresponding resource")
    return node
