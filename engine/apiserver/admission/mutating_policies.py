"""MutatingAdmissionPolicy: changes to objects, by JSON patches and apply configurations that are written in CEL.

Source: apiserver pkg/admission/plugin/policy/mutating (dispatcher.go, patch/).
"""

from __future__ import annotations

from engine.api.errors import ApiError, forbidden
from engine.api.patch import json_patch, strategic_merge_patch
from engine.api.types import Object, copy_object
from engine.apiserver.admission.attributes import Attributes
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.policies import Bound, Policies, Undecided
from engine.apiserver.admission.requests import read_back, shown_as, take_over


class MutatingAdmissionPolicy(Policies):
    """Changes objects by JSON patches and apply configurations that are written as CEL literals."""

    name = "MutatingAdmissionPolicy"
    kind = "mutatingadmission"
    patches = True

    async def mutate(self, attributes: Attributes) -> bool:
        if attributes.object is None or self._idle():
            return False
        changed_any = False
        async for bound in self._bound(attributes):
            if isinstance(bound, Undecided):
                raise _refused(attributes, bound.named, bound.why)
            identity = f"policy {bound.named}"
            asks_again = bound.policy["spec"].get("reinvocationPolicy") == "IfNeeded"
            if attributes.reinvoked and not (asks_again and identity in attributes.reinvocable):
                continue
            changed = await self._apply(attributes, bound)
            if asks_again:
                attributes.reinvocable[identity] = ""
            if changed:
                attributes.wants_reinvocation = changed_any = True
        return changed_any

    async def _apply(self, attributes: Attributes, bound: Bound) -> bool:
        obj = attributes.object
        assert obj is not None
        try:
            changed = obj
            for mutation in bound.policy["spec"].get("mutations") or ():
                shown = shown_as(attributes, bound.resource, changed)
                assert shown is not None
                bound.expressions.change(object=shown)
                made = await self._mutated(mutation, shown, bound)
                changed = copy_object(read_back(attributes, bound.resource, made))
        except (ExpressionError, ApiError) as error:
            if bound.ignores_failures:
                return False
            raise _refused(attributes, bound.named, str(error)) from None
        return take_over(attributes, obj, changed)

    async def _mutated(self, mutation: Object, shown: Object, bound: Bound) -> Object:
        from engine.apiserver.admission.expressions import check_object, plain

        if mutation.get("patchType") == "JSONPatch":
            patch = plain(await bound.expressions.evaluate(mutation["jsonPatch"]["expression"]))
            if not isinstance(patch, list):
                raise ExpressionError("unexpected evaluation result: a list of JSONPatch is expected")
            return json_patch(shown, patch)
        made = await bound.expressions.evaluate(mutation["applyConfiguration"]["expression"])
        check_object(made)
        applied = plain(made)
        if not isinstance(applied, dict):
            raise ExpressionError("unexpected evaluation result: an Object is expected")
        schema = self._sources.definitions.kind(bound.resource.gvk)
        if schema is None:
            raise ExpressionError(f"no schema of {bound.resource.gvk}")
        return strategic_merge_patch(shown, applied, schema)


def _refused(attributes: Attributes, named: str, why: str) -> ApiError:
    return forbidden(attributes.resource.gvr, attributes.name, f"policy {named} denied request: {why}")
