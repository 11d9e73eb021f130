"""The expressions of policies, match conditions and device selectors: whether they compile, to what, at what cost.

Sources: pkg/apis/admissionregistration/validation, pkg/apis/resource/validation (validateCELSelector).
"""

from __future__ import annotations

from engine.api.cel import admission, devices, types
from engine.api.cel.admission import Scope
from engine.api.cel.library.patches import JSON_PATCH, OBJECT
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import Type, list_of
from engine.api.validation.problems import Problems

_STRING_OR_NULL = (types.STRING, types.NULL)
_TOO_COMPLEX = "too complex, exceeds cost limit"


def condition(expression: str, path: str, problems: Problems, *, params: bool) -> None:
    """Of a webhook or a policy: whether it is for a request."""
    trimmed = expression.strip()
    _compile(trimmed, path, problems, Scope(params=params, authorizer=True), (types.BOOL,), told=trimmed)


def _compile(
    expression: str, path: str, problems: Problems, scope: Scope, wanted: tuple[Type, ...], *, told: str
) -> Type | None:
    """`told` is the expression as the error has it. Some of upstream's are trimmed first, and some are not."""
    scope = scope._replace(release=problems.expressions.release_of(told))
    try:
        return admission.compiled(expression, scope, wanted).result
    except CompileError as error:
        problems.invalid(path, told, str(error))
        return None


class Expressions:
    """Those of one policy, which may speak of its variables."""

    def __init__(self, problems: Problems, *, params: bool, patches: bool) -> None:
        self._problems = problems
        self._scope = Scope(params=params, authorizer=True, patches=patches, variables=())

    def variable(self, name: str, expression: str, path: str) -> None:
        found = _compile(expression, path, self._problems, self._scope, (), told=expression)
        self._scope = self._scope.knowing(name, found)

    def validation(self, expression: str, path: str) -> None:
        _compile(expression, path, self._problems, self._scope, (types.BOOL,), told=expression)

    def message(self, expression: str, path: str) -> None:
        scope = self._scope._replace(authorizer=False)
        _compile(expression, path, self._problems, scope, (types.STRING,), told=expression)

    def annotation(self, expression: str, path: str) -> None:
        _compile(expression.strip(), path, self._problems, self._scope, _STRING_OR_NULL, told=expression)

    def patch(self, expression: str, path: str, *, json: bool) -> None:
        wanted = list_of(JSON_PATCH) if json else OBJECT
        _compile(expression.strip(), path, self._problems, self._scope, (wanted,), told=expression)


def device_selector(expression: str, path: str, problems: Problems) -> None:
    """What comes to any type is let be where it is an attribute, not where it is `dyn`."""
    try:
        release = problems.expressions.release_of(expression)
        program = devices.compiled(expression, (types.BOOL, types.ANY), release)
    except CompileError as error:
        problems.invalid(path, expression, str(error))
        return
    if devices.cost(program) > devices.COST_LIMIT:
        problems.forbidden(path, _TOO_COMPLEX)
