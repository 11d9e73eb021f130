"""MutatingAdmissionPolicy: changes to objects, by JSON patches and apply configurations that are written in CEL.

Source: apiserver pkg/admission/plugin/policy/mutating (dispatcher.go, patch/), policy/generic (policy_dispatcher.go).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from engine.api.apply.overlay import OverlayError, overlaid
from engine.api.errors import ApiError, unavailable
from engine.api.patch import json_patch
from engine.api.types import Object
from engine.apiserver.admission.attributes import Attributes, denied
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.metrics import error_type
from engine.apiserver.admission.policies import Bound, Concerned, Policies, Undecided
from engine.apiserver.admission.reinvocation import Reinvocation
from engine.apiserver.admission.requests import fill, kind_of, retyped, take_over
from engine.clock import wall

_TEST_FAILED = ": test failed"  # how evanphx/json-patch tells of an operation `test` that has found something else


class _Failure(NamedTuple):
    """Of a policy that cannot be configured, without a reason, or of one of its mutations."""

    text: str
    reason: str = ""


class _Applied(NamedTuple):
    """Whether a policy `made` any of its mutations, for which plugins are called once more, and whether the object is
    another for it."""

    made: bool = False
    changed: bool = False


class MutatingAdmissionPolicy(Policies):
    """Changes objects by JSON patches and apply configurations that are written as CEL literals."""

    name = "MutatingAdmissionPolicy"
    kind = "mutatingadmission"
    patches = True

    async def ground(self, attributes: Attributes) -> Hashable:
        return () if self._idle() else None

    async def mutate(self, attributes: Attributes) -> bool:
        """All policies are gone through; then the first failure refuses, and names the others as causes."""
        if self._idle():
            return False
        fill(attributes)
        concerned = list[Concerned]()  # which they are is decided of the object as it was before any of them
        failures = list[_Failure]()
        async for each in self._concerned(attributes):
            if isinstance(each, Undecided):
                failures.append(_Failure(_told(each.policy, each.binding, each.why)))
            else:
                concerned.append(each)
        changed = bool(concerned) and await self._round(attributes, concerned, failures)
        if failures:
            raise _refused(attributes, failures)
        return changed

    async def _round(self, attributes: Attributes, concerned: list[Concerned], failures: list[_Failure]) -> bool:
        rounds = attributes.rounds.setdefault(self.name, Reinvocation())
        if attributes.reinvoked:
            rounds.begin(attributes.object)
        made_any = changed_any = False
        try:
            for each in concerned:
                bound = await self._bound(attributes, each)
                if isinstance(bound, Undecided):
                    failures.append(_Failure(_told(bound.policy, bound.binding, bound.why), "Invalid"))
                elif bound is not None and (not attributes.reinvoked or rounds.is_due(each.key)):
                    made, changed = await self._apply(attributes, bound, failures)
                    made_any, changed_any = made_any or made, changed_any or changed
                    if changed:
                        rounds.require()
                    if each.policy["spec"].get("reinvocationPolicy") == "IfNeeded":
                        rounds.add(each.key)
            if made_any:
                rounds.require()
                attributes.wants_reinvocation = True
        finally:
            rounds.end(attributes.object)
        return changed_any

    async def _apply(self, attributes: Attributes, bound: Bound, failures: list[_Failure]) -> _Applied:
        """A mutation that fails leaves those before it as they are, and those after it are made. Raises ApiError for
        what no failure policy is asked about."""
        obj, applied, versions = attributes.object, _Applied(), self._sources.versions
        if obj is None:
            return applied
        for mutation in bound.policy["spec"].get("mutations") or ():
            shown = await versions.shown(attributes, bound.resource, obj)
            assert shown is not None
            bound.expressions.change(object=shown)
            bound.expressions.renew()
            began = wall()
            try:
                made = await self._mutated(attributes, mutation, shown, bound)
                self._checked(bound, began, "no_error")
            except ApiError:
                self._checked(bound, began, "invalid_error")
                raise
            except ExpressionError as error:
                self._checked(bound, began, error_type(str(error)))
                if not bound.ignores_failures:
                    failures.append(_Failure(_told(bound.policy, bound.binding, str(error)), "Invalid"))
                continue
            if made is not None:
                made = await versions.read_back(attributes, bound.resource, made)
            changed = made is not None and take_over(attributes, obj, made)
            applied = _Applied(made=True, changed=applied.changed or changed)
        return applied

    def _checked(self, bound: Bound, began: float, how: str) -> None:
        names = bound.policy["metadata"]["name"], bound.binding["metadata"]["name"]
        self._sources.metrics.mutations.checked(wall() - began, *names, how)

    async def _mutated(self, attributes: Attributes, mutation: Object, shown: Object, bound: Bound) -> Object | None:
        """The object as one mutation makes it; None if that does not want to. Raises ExpressionError, ApiError."""
        gvk = kind_of(attributes, bound.resource)
        schema = self._sources.definitions.kind(gvk)
        if schema is None:
            raise unavailable(
                f"Resource kind {gvk.group}/{gvk.version}, Kind={gvk.kind} not found. There can be a delay between "
                "when CustomResourceDefinitions are created and when they are available."
            )
        if mutation.get("patchType") == "JSONPatch":
            patched = await _patched(mutation["jsonPatch"]["expression"], shown, bound)
            return None if patched is None else retyped(self._sources.definitions, gvk, patched, strict=True)
        applied = await _configuration(mutation["applyConfiguration"]["expression"], bound)
        typed = {**applied, "apiVersion": gvk.api_version, "kind": gvk.kind}
        try:
            return retyped(self._sources.definitions, gvk, overlaid(schema, shown, typed), strict=False)
        except OverlayError as error:
            raise ExpressionError(f"error applying patch: {error}") from None


async def _patched(expression: str, shown: Object, bound: Bound) -> Object | None:
    """None if a test of the patch fails."""
    from engine.apiserver.admission.patch_values import operations_of

    operations = await bound.expressions.evaluate(expression)
    if not isinstance(operations, list):
        raise ExpressionError("type mismatch: JSONPatchType.expression should evaluate to array")
    try:
        return json_patch(shown, operations_of(operations, expression))
    except ApiError as error:
        why = str(error.__cause__ or error.message)
        if why.endswith(_TEST_FAILED):
            return None
        raise ExpressionError(f"JSON Patch: {why}") from None


async def _configuration(expression: str, bound: Bound) -> Object:
    from engine.apiserver.admission.expressions import check_object, plain

    made = await bound.expressions.evaluate(expression)
    check_object(made)
    applied = plain(made)
    if not isinstance(applied, dict):
        raise ExpressionError(f"unsupported return type from ApplyConfiguration expression: {type(made).__name__}")
    return applied


def _told(policy: Object, binding: Object | None, why: str) -> str:
    name = policy["metadata"]["name"]
    if binding is None:
        return f'policy "{name}" denied request: {why}'
    return f"policy '{name}' with binding '{binding['metadata']['name']}' denied request: {why}"


def _refused(attributes: Attributes, failures: list[_Failure]) -> ApiError:
    """403 whatever the reason, which is that of the first failure."""
    error = denied(attributes, "admission request denied by policy")
    error.message, error.reason = failures[0].text, failures[0].reason or error.reason
    error.details = {**(error.details or {}), "causes": [{"message": each.text} for each in failures]}
    return error
