"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy: rules in CEL, bound to parameters and requests.

Source: apiserver pkg/admission/plugin/policy: validating/dispatcher.go, mutating/dispatcher.go, generic/
policy_dispatcher.go and policy_matcher.go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import orjson

from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, forbidden
from engine.api.patch import json_patch, strategic_merge_patch
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import Definitions
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, Object, copy_object
from engine.apiserver.admission.attributes import Attributes, Plugin
from engine.apiserver.admission.expressions import ExpressionError, evaluate, unmet, values_of, with_variables
from engine.apiserver.admission.literals import plain_literals
from engine.apiserver.admission.matching import Criteria, Matcher
from engine.apiserver.admission.requests import read_back, request_of, shown_as
from engine.apiserver.caches import WatchCaches

_GROUP = "admissionregistration.k8s.io"
_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}


class Sources(NamedTuple):
    """Where policies, bindings and parameters come from."""

    caches: WatchCaches
    resources: ResourceRegistry
    matcher: Matcher
    definitions: Definitions


class Bound(NamedTuple):
    """A policy, one of its bindings and one of the binding's parameters, for a request that all of them match."""

    policy: Object
    binding: Object
    resource: ResourceInfo
    values: Object

    @property
    def named(self) -> str:
        return f"'{self.policy['metadata']['name']}' with binding '{self.binding['metadata']['name']}'"


class _Policies(Plugin):
    kind = ""
    denier = "policy"

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._policies = self._resource(f"{self.kind}policies")
        self._bindings = self._resource(f"{self.kind}policybindings")

    def _resource(self, name: str) -> ResourceInfo | None:
        for version in ("v1", "v1beta1"):
            if (found := self._sources.resources.get(_GROUP, version, name)) is not None:
                return found
        return None

    def _idle(self) -> bool:
        """Whether there is no policy at all, as in most clusters: then a write should not pay for more than this."""
        if self._policies is None:
            return True
        cache = self._sources.caches.of(self._policies)
        return cache is not None and not len(cache)

    async def _objects(self, info: ResourceInfo | None) -> list[Object]:
        if info is None:
            return []
        cache = await self._sources.caches.started(info)
        return sorted(cache.objects(), key=lambda each: str(each["metadata"]["name"]))

    async def _bound(self, attributes: Attributes) -> AsyncIterator[Bound | ApiError]:
        """All that is to be decided about a request; a refusal where that cannot be found out."""
        policies = await self._objects(self._policies)
        if not policies:
            return
        bindings = await self._objects(self._bindings)
        for policy in policies:
            name, spec = policy["metadata"]["name"], policy["spec"]
            mine = [each for each in bindings if each["spec"].get("policyName") == name]
            if not mine:
                continue
            criteria = Criteria.of_resources(spec.get("matchConstraints") or {})
            resource = await self._sources.matcher.match(attributes, criteria)
            if resource is None:
                continue
            for binding in mine:
                async for bound in self._with_binding(attributes, policy, binding, resource):
                    yield bound

    async def _with_binding(
        self, attributes: Attributes, policy: Object, binding: Object, resource: ResourceInfo
    ) -> AsyncIterator[Bound | ApiError]:
        match = binding["spec"].get("matchResources")
        if match is not None:
            criteria = Criteria.of_resources(match)
            if not criteria.rules:
                criteria = criteria._replace(rules=[_EVERYTHING])
            if await self._sources.matcher.match(attributes, criteria) is None:
                return
        try:
            for params in await self._params(attributes, policy, binding):
                values = await self._values(attributes, resource, params)
                if not unmet(policy["spec"].get("matchConditions") or (), values):
                    values = with_variables(values, policy["spec"].get("variables") or ())
                    yield Bound(policy, binding, resource, values)
        except ExpressionError as error:
            if policy["spec"].get("failurePolicy") != "Ignore":
                yield self._undecided(attributes, Bound(policy, binding, resource, {}), error)

    def _undecided(self, attributes: Attributes, bound: Bound, error: ExpressionError) -> ApiError:
        """A policy that cannot be asked refuses, unless its failure policy says otherwise."""
        text = f"{self.denier} {bound.named} denied request: {error}"
        return forbidden(attributes.resource.gvr, attributes.name, text)

    async def _values(self, attributes: Attributes, resource: ResourceInfo, params: Object | None) -> Object:
        values = values_of(
            obj=shown_as(attributes, resource, attributes.object),
            old=shown_as(attributes, resource, attributes.old),
            request=request_of(attributes, resource, uid=""),
        )
        return {**values, "params": params, "namespaceObject": await self._sources.matcher.namespace(attributes)}

    async def _params(self, attributes: Attributes, policy: Object, binding: Object) -> list[Object | None]:
        """The parameters of a binding: None for a policy that takes none. Raises ExpressionError."""
        kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if kind is None or reference is None:
            return [None]
        group, _, version = kind["apiVersion"].rpartition("/")
        info = self._sources.resources.by_kind(GVK(group, version, kind["kind"]))
        if info is None:
            raise ExpressionError(f"failed to configure binding: failed to find resource referenced by paramKind: "
                                  f"'{kind['apiVersion']}, Kind={kind['kind']}'")  # fmt: skip
        namespace = ""
        if info.namespaced:
            namespace = reference.get("namespace") or attributes.namespace
            if not namespace:
                raise ExpressionError("cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                                      "resources")  # fmt: skip
        cache = await self._sources.caches.started(info)
        found = [each for each in cache.objects(namespace) if _referred(each, reference)]
        if found:
            return list(found)
        if reference.get("parameterNotFoundAction") == "Allow":
            return []
        raise ExpressionError("failed to configure binding: no params found for policy binding with `Deny` "
                              "parameterNotFoundAction")  # fmt: skip


_EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*", "*/*"], "scope": "*"}


def _referred(obj: Object, reference: Object) -> bool:
    if reference.get("name"):
        return bool(obj["metadata"]["name"] == reference["name"])
    return LabelSelector.from_object(reference.get("selector") or {}).matches(obj["metadata"].get("labels") or {})


class ValidatingAdmissionPolicy(_Policies):
    name = "ValidatingAdmissionPolicy"
    kind = "validatingadmission"
    denier = "ValidatingAdmissionPolicy"

    async def validate(self, attributes: Attributes) -> None:
        if self._idle():
            return
        refusals: list[ApiError] = []
        failures: list[Object] = []
        async for bound in self._bound(attributes):
            if isinstance(bound, ApiError):
                refusals.append(bound)
            else:
                self._decide(attributes, bound, refusals, failures)
        if failures:
            key = "validation.policy.admission.k8s.io/validation_failure"
            attributes.annotations[key] = orjson.dumps(failures).decode()
        if refusals:
            raise refusals[0]

    def _decide(self, attributes: Attributes, bound: Bound, refusals: list[ApiError], failures: list[Object]) -> None:
        actions = bound.binding["spec"].get("validationActions") or ()
        for index, validation in enumerate(bound.policy["spec"].get("validations") or ()):
            message = _broken(validation, bound)
            if message is None:
                continue
            if "Deny" in actions:
                refusals.append(_refused(attributes, bound, validation, message))
            if "Warn" in actions:
                attributes.warnings.append(f"Validation failed for ValidatingAdmissionPolicy {bound.named}: {message}")
            if "Audit" in actions:
                failures.append(
                    {
                        "message": message,
                        "policy": bound.policy["metadata"]["name"],
                        "binding": bound.binding["metadata"]["name"],
                        "expressionIndex": index,
                        "validationActions": list(actions),
                    }
                )
        self._annotate(attributes, bound)

    @staticmethod
    def _annotate(attributes: Attributes, bound: Bound) -> None:
        for annotation in bound.policy["spec"].get("auditAnnotations") or ():
            try:
                value = evaluate(annotation["valueExpression"], bound.values)
            except ExpressionError:
                continue
            if isinstance(value, str) and value.strip():
                key = f"{bound.policy['metadata']['name']}/{annotation['key']}"
                attributes.annotations[key] = value.strip()


def _broken(validation: Object, bound: Bound) -> str | None:
    """What a validation says of a request that it does not let pass; None for one that it does."""
    expression = validation["expression"]
    try:
        if evaluate(expression, bound.values) is True:
            return None
    except ExpressionError as error:
        if bound.policy["spec"].get("failurePolicy") == "Ignore":
            return None
        return f"expression '{expression.strip()}' resulted in error: {error}"
    if validation.get("messageExpression"):
        try:
            text = evaluate(validation["messageExpression"], bound.values)
        except ExpressionError:
            text = None
        if isinstance(text, str) and text.strip() and "\n" not in text and len(text) <= 5120:
            return text.strip()
    return str(validation.get("message") or "").strip() or f"failed expression: {expression.strip()}"


def _refused(attributes: Attributes, bound: Bound, validation: Object, message: str) -> ApiError:
    text = f"ValidatingAdmissionPolicy {bound.named} denied request: {message}"
    reason = str(validation.get("reason") or "Invalid")
    error = forbidden(attributes.resource.gvr, attributes.name, text)
    details = {**(error.details or {}), "causes": [{"message": text}]}
    return ApiError(_CODES.get(reason, 422), reason, error.message, details=details)


class MutatingAdmissionPolicy(_Policies):
    """Changes objects by JSON patches and apply configurations that are written as CEL literals."""

    name = "MutatingAdmissionPolicy"
    kind = "mutatingadmission"

    async def mutate(self, attributes: Attributes) -> bool:
        if attributes.object is None or self._idle():
            return False
        changed_any = False
        async for bound in self._bound(attributes):
            if isinstance(bound, ApiError):
                raise bound
            identity = f"policy {bound.named}"
            asks_again = bound.policy["spec"].get("reinvocationPolicy") == "IfNeeded"
            if attributes.reinvoked and not (asks_again and identity in attributes.reinvocable):
                continue
            changed = self._apply(attributes, bound)
            if asks_again:
                attributes.reinvocable[identity] = ""
            if changed:
                attributes.wants_reinvocation = changed_any = True
        return changed_any

    def _apply(self, attributes: Attributes, bound: Bound) -> bool:
        obj = attributes.object
        assert obj is not None
        try:
            changed = obj
            for mutation in bound.policy["spec"].get("mutations") or ():
                shown = shown_as(attributes, bound.resource, changed)
                assert shown is not None
                values = {**bound.values, "object": shown}
                made = self._mutated(mutation, shown, values, bound.resource)
                changed = copy_object(read_back(attributes, bound.resource, made))
        except (ExpressionError, ApiError) as error:
            if bound.policy["spec"].get("failurePolicy") == "Ignore":
                return False
            raise forbidden(
                attributes.resource.gvr, attributes.name, f"policy {bound.named} denied request: {error}"
            ) from None
        if not attributes.subresource:
            apply_defaults(attributes.resource, changed)
        if changed == obj:
            return False
        obj.clear()
        obj.update(changed)
        return True

    def _mutated(self, mutation: Object, shown: Object, values: Object, resource: ResourceInfo) -> Object:
        if mutation.get("patchType") == "JSONPatch":
            patch: Any = evaluate(plain_literals(mutation["jsonPatch"]["expression"]), values)
            if not isinstance(patch, list):
                raise ExpressionError("unexpected evaluation result: a list of JSONPatch is expected")
            return json_patch(shown, patch)
        applied = evaluate(plain_literals(mutation["applyConfiguration"]["expression"]), values)
        if not isinstance(applied, dict):
            raise ExpressionError("unexpected evaluation result: an Object is expected")
        schema = self._sources.definitions.kind(resource.gvk)
        if schema is None:
            raise ExpressionError(f"no schema of {resource.gvk}")
        return strategic_merge_patch(shown, applied, schema)
