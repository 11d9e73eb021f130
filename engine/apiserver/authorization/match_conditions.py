"""CEL about what an authorizer is asked: which questions are for a webhook (apiserver pkg/authorization/cel)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from engine.api.cel.environment import Environment, Program
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import BOOL, STRING, STRINGS, list_of, map_of, struct
from engine.api.errors import aggregated
from engine.api.types import Object

_REQUEST, _RESOURCE = struct("kubernetes.SubjectAccessReviewSpec"), struct("kubernetes.ResourceAttributes")
_PATH, _REQUIREMENT = struct("kubernetes.NonResourceAttributes"), struct("kubernetes.SelectorRequirement")
_FIELDS, _LABELS = struct("kubernetes.FieldSelectorAttributes"), struct("kubernetes.LabelSelectorAttributes")
_SELECTOR = {"rawSelector": STRING, "requirements": list_of(_REQUIREMENT)}
_TEXTS = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
_STRUCTS = {
    _REQUEST.name: {
        "resourceAttributes": _RESOURCE,
        "nonResourceAttributes": _PATH,
        "user": STRING,
        "groups": STRINGS,
        "extra": map_of(STRING, STRINGS),
        "uid": STRING,
    },
    _RESOURCE.name: {**dict.fromkeys(_TEXTS, STRING), "fieldSelector": _FIELDS, "labelSelector": _LABELS},
    _FIELDS.name: _SELECTOR,
    _LABELS.name: _SELECTOR,
    _REQUIREMENT.name: {"key": STRING, "operator": STRING, "values": STRINGS},
    _PATH.name: {"path": STRING, "verb": STRING},
}
_UNLIMITED = 1 << 62


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment({"request": _REQUEST}, structs=_STRUCTS)


@lru_cache(maxsize=256)
def compiled(expression: str) -> Program:
    """Raises CompileError."""
    program = _environment().compile(expression)
    if program.result != BOOL:
        raise CompileError(f"must evaluate to bool but got {program.result}")
    return program


class ConditionError(Exception):
    """Conditions fail, and none of them says no."""


class MatchConditions:
    def __init__(self, expressions: Iterable[str]) -> None:
        """Of expressions that have been found valid."""
        self._programs: Sequence[tuple[str, Program]] = [(each, compiled(each)) for each in expressions]

    def __bool__(self) -> bool:
        return bool(self._programs)

    def match(self, spec: Object) -> bool:
        """Whether all say yes of a SubjectAccessReview's spec. Raises ConditionError."""
        values = {"request": _shown(spec)}
        errors = []
        for expression, program in self._programs:
            outcome = program.run(values, limit=_UNLIMITED)
            if outcome.error:
                told = f"expression '{expression}' resulted in error: {outcome.error}"
                errors.append(f"cel evaluation error: {told}")
            elif outcome.value is not True:
                return False
        if errors:
            raise ConditionError(aggregated(errors))
        return True


def _shown(spec: Object) -> Object:
    """With all texts, also empty ones."""
    shown: Object = {"user": spec.get("user", ""), "uid": spec.get("uid", "")}
    shown |= {"groups": spec.get("groups") or [], "extra": spec.get("extra") or {}}
    if (resource := spec.get("resourceAttributes")) is not None:
        selectors = {name: resource[name] for name in ("fieldSelector", "labelSelector") if name in resource}
        shown["resourceAttributes"] = {**{name: resource.get(name, "") for name in _TEXTS}, **selectors}
    if (path := spec.get("nonResourceAttributes")) is not None:
        shown["nonResourceAttributes"] = {name: path.get(name, "") for name in ("path", "verb")}
    return shown
