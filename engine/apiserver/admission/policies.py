"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy: rules in CEL, bound to parameters and requests.

What both kinds have in common: which policies, bindings and parameters a request is for. Source: apiserver
pkg/admission/plugin/policy/generic (policy_dispatcher.go, policy_matcher.go).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NamedTuple

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import Definitions
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, Object
from engine.apiserver.admission.attributes import Attributes, Plugin
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.matching import Criteria, Matcher
from engine.apiserver.admission.requests import request_of, shown_as
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.caches import WatchCaches

if TYPE_CHECKING:  # loaded with the first policy
    from engine.apiserver.admission.expressions import Expressions

_GROUP = "admissionregistration.k8s.io"
# Questions that a cluster lives by (pkg/kubeapiserver/admission/exclusion).
_EXCLUDED = frozenset(
    f"{name}reviews.{group}.k8s.io"
    for group, names in {
        "authentication": ("selfsubject", "token"),
        "authorization": ("localsubjectaccess", "selfsubjectaccess", "selfsubjectrules", "subjectaccess"),
    }.items()
    for name in names
)


class Sources(NamedTuple):
    """Where policies, bindings and parameters come from."""

    caches: WatchCaches
    resources: ResourceRegistry
    matcher: Matcher
    definitions: Definitions
    authorizer: UnionAuthorizer


class Bound(NamedTuple):
    """A policy, one of its bindings and one of the binding's parameters, for a request that all of them match."""

    policy: Object
    binding: Object
    resource: ResourceInfo
    expressions: Expressions

    @property
    def ignores_failures(self) -> bool:
        return bool(self.policy["spec"].get("failurePolicy") == "Ignore")

    @property
    def named(self) -> str:
        return f"'{self.policy['metadata']['name']}' with binding '{self.binding['metadata']['name']}'"


class Undecided(NamedTuple):
    """A policy that could not be asked, and refuses therefore; one whose failure policy is Ignore is not heard of."""

    named: str
    why: str


class Policies(Plugin):
    kind = ""
    patches = False

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

    async def _bound(self, attributes: Attributes) -> AsyncIterator[Bound | Undecided]:
        """All that is to be decided about a request; a refusal where that cannot be found out."""
        if attributes.resource.gvr.group_resource in _EXCLUDED:
            return
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
    ) -> AsyncIterator[Bound | Undecided]:
        match = binding["spec"].get("matchResources")
        if match is not None:
            criteria = Criteria.of_resources(match)
            if not criteria.rules:
                criteria = criteria._replace(rules=[_EVERYTHING])
            if await self._sources.matcher.match(attributes, criteria) is None:
                return
        ignored = policy["spec"].get("failurePolicy") == "Ignore"
        named = f"'{policy['metadata']['name']}' with binding '{binding['metadata']['name']}'"
        try:
            found = await self._params(attributes, policy, binding)
        except ExpressionError as error:
            if not ignored:
                yield Undecided(named, f"failed to configure binding: {error}")
            return
        for params in found:
            expressions = await self._expressions(attributes, policy, resource, params)
            try:
                if await expressions.unmet(policy["spec"].get("matchConditions") or ()):
                    continue
            except ExpressionError as error:
                if not ignored:
                    yield Undecided(named, str(error))
                continue
            expressions.declare(policy["spec"].get("variables") or ())
            yield Bound(policy, binding, resource, expressions)

    async def _expressions(
        self, attributes: Attributes, policy: Object, resource: ResourceInfo, params: Object | None
    ) -> Expressions:
        from engine.api.cel.admission import Scope
        from engine.apiserver.admission.expressions import Expressions, values_of
        from engine.apiserver.admission.questions import asker

        values = values_of(
            obj=shown_as(attributes, resource, attributes.object),
            old=shown_as(attributes, resource, attributes.old),
            request=request_of(attributes, resource, uid=""),
        )
        values |= {"params": params, "namespaceObject": await self._sources.matcher.namespace(attributes)}
        scope = Scope(params=policy["spec"].get("paramKind") is not None, authorizer=True, patches=self.patches)
        return Expressions(values, scope, asker(self._sources.authorizer, attributes.user))

    async def _params(self, attributes: Attributes, policy: Object, binding: Object) -> list[Object | None]:
        """The parameters of a binding: None for a policy that takes none. Raises ExpressionError."""
        kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if kind is None or reference is None:
            return [None]
        group, _, version = kind["apiVersion"].rpartition("/")
        info = self._sources.resources.by_kind(GVK(group, version, kind["kind"]))
        if info is None:
            raise ExpressionError("failed to find resource referenced by paramKind: "
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
        raise ExpressionError("no params found for policy binding with `Deny` "
                              "parameterNotFoundAction")  # fmt: skip


_EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*", "*/*"], "scope": "*"}


def _referred(obj: Object, reference: Object) -> bool:
    if reference.get("name"):
        return bool(obj["metadata"]["name"] == reference["name"])
    return LabelSelector.from_object(reference.get("selector") or {}).matches(obj["metadata"].get("labels") or {})
