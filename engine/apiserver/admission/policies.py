"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy: rules in CEL, bound to parameters and requests.

What both kinds have in common: which policies, bindings and parameters a request is for. Source: apiserver
pkg/admission/plugin/policy/generic (policy_dispatcher.go, policy_matcher.go).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.api.errors import ApiError
from engine.api.excluded_resources import EXCLUDED
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import Definitions
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, Object
from engine.apiserver.admission.attributes import Attributes, Plugin, Watched
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.manifests.loading import Loaded
from engine.apiserver.admission.manifests.source import Manifests
from engine.apiserver.admission.matching import CONFIGURATION, Criteria, Matcher
from engine.apiserver.admission.metrics import VALIDATE, AdmissionMetrics
from engine.apiserver.admission.requests import request_of
from engine.apiserver.admission.versions import Versions
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.cacher.caches import WatchCaches

if TYPE_CHECKING:  # loaded with the first policy
    from engine.apiserver.admission.expressions import Expressions

_GROUP = "admissionregistration.k8s.io"


class Sources(NamedTuple):
    """Where policies, bindings and parameters come from."""

    caches: WatchCaches
    resources: ResourceRegistry
    matcher: Matcher
    definitions: Definitions
    authorizer: UnionAuthorizer
    metrics: AdmissionMetrics
    versions: Versions


class Bound(NamedTuple):
    """A policy, one of its bindings and one of the binding's parameters, for a request that all of them match."""

    policy: Object
    binding: Object
    resource: ResourceInfo
    expressions: Expressions

    @property
    def ignores_failures(self) -> bool:
        return ignores_failures(self.policy)


class Undecided(NamedTuple):
    """A policy that could not be asked, and refuses therefore; one whose failure policy is Ignore is not heard of.

    `binding` is None where the policy itself is at fault. What its conditions fail by is `asked`: one more verdict.
    """

    policy: Object
    binding: Object | None
    why: str
    asked: bool = False


class Concerned(NamedTuple):
    """A policy, one of its bindings and one of the binding's parameters that are for a request: whose conditions are
    not asked yet."""

    policy: Object
    binding: Object
    resource: ResourceInfo
    params: Object | None

    @property
    def key(self) -> str:
        """Tells it from all others."""
        metadata = (self.params or {}).get("metadata") or {}
        names = self.policy["metadata"]["name"], self.binding["metadata"]["name"]
        return " ".join((*names, metadata.get("namespace", ""), metadata.get("name", "")))


def ignores_failures(policy: Object) -> bool:
    return bool(policy["spec"].get("failurePolicy") == "Ignore")


class Policies(Plugin):
    kind = ""
    patches = False

    def __init__(self, sources: Sources, manifests: Manifests | None = None) -> None:
        self._sources = sources
        self._manifests = manifests
        self._policies = self._resource(f"{self.kind}policies")
        self._bindings = self._resource(f"{self.kind}policybindings")

    def _resource(self, name: str) -> ResourceInfo | None:
        for version in ("v1", "v1beta1"):
            if (found := self._sources.resources.get(_GROUP, version, name)) is not None:
                return found
        return None

    def _idle(self) -> bool:
        """Whether there is no policy at all, as in most clusters: then a write should not pay for more than this."""
        if self._manifests is not None and self._manifests.loaded.hooks:
            return False
        if self._policies is None:
            return True
        cache = self._sources.caches.of(self._policies)
        return cache is not None and not len(cache)

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        cache = self._sources.caches.of(self._policies) if self._policies is not None else None
        if cache is None or self._manifests is not None:
            return () if self._policies is None else None
        return None if len(cache) else (cache,)

    async def _objects(self, info: ResourceInfo | None) -> list[Object]:
        if info is None:
            return []
        cache = await self._sources.caches.started(info)
        return sorted(cache.objects(), key=lambda each: str(each["metadata"]["name"]))

    async def _with_bindings(self, attributes: Attributes) -> list[tuple[Object, list[Object]]]:
        """Policies that are bound. Those of files, which bindings of files bind and which alone are asked about the
        configuration of admission, come first."""
        loaded = self._manifests.loaded if self._manifests is not None else Loaded()
        sources: list[tuple[Iterable[Object], Iterable[Object]]] = [(loaded.hooks, loaded.bindings)]
        if attributes.resource.gvr.group_resource not in CONFIGURATION:
            policies = await self._objects(self._policies)
            sources.append((policies, await self._objects(self._bindings) if policies else ()))
        found = [
            (policy, [each for each in bindings if each["spec"].get("policyName") == policy["metadata"]["name"]])
            for policies, bindings in sources
            for policy in policies
        ]
        return [(policy, bindings) for policy, bindings in found if bindings]

    async def _concerned(self, attributes: Attributes) -> AsyncIterator[Concerned | Undecided]:
        """All that is to be decided about a request; a refusal where that cannot be found out."""
        if attributes.resource.gvr.group_resource in EXCLUDED:
            return
        for policy, mine in await self._with_bindings(attributes):
            spec = policy["spec"]
            criteria = Criteria.of_resources(spec.get("matchConstraints") or {})
            resource = await self._sources.matcher.match(attributes, criteria)
            if resource is None:
                continue
            if self._params_unknown(spec):
                if not ignores_failures(policy):
                    kind = spec["paramKind"]
                    shown = f"'{kind['apiVersion']}, Kind={kind['kind']}'"
                    why = f"failed to configure policy: failed to find resource referenced by paramKind: {shown}"
                    yield Undecided(policy, None, why)
                continue
            for binding in mine:
                async for concerned in self._with_binding(attributes, policy, binding, resource):
                    yield concerned

    def _params_unknown(self, spec: Object) -> bool:
        kind = spec.get("paramKind")
        return kind is not None and self._params_resource(kind) is None

    def _params_resource(self, kind: Object) -> ResourceInfo | None:
        group, _, version = kind["apiVersion"].rpartition("/")
        return self._sources.resources.by_kind(GVK(group, version, kind["kind"]))

    async def _with_binding(
        self, attributes: Attributes, policy: Object, binding: Object, resource: ResourceInfo
    ) -> AsyncIterator[Concerned | Undecided]:
        match = binding["spec"].get("matchResources")
        if match is not None:
            criteria = Criteria.of_resources(match)
            if not criteria.rules:
                criteria = criteria._replace(rules=[_EVERYTHING])
            if await self._sources.matcher.match(attributes, criteria) is None:
                return
        if self.patches and (why := await self._unconverted(attributes, resource)):
            if not ignores_failures(policy):
                yield Undecided(policy, None, f"failed to configure policy: {why}")
            return
        try:
            found = await self._params(attributes, policy, binding)
            if found and not self.patches and (why := await self._unconverted(attributes, resource)):
                raise ExpressionError(f"failed to convert object version: {why}")
        except ExpressionError as error:
            if not ignores_failures(policy):
                yield Undecided(policy, binding, f"failed to configure binding: {error}")
            return
        for params in found:
            yield Concerned(policy, binding, resource, params)

    async def _unconverted(self, attributes: Attributes, resource: ResourceInfo) -> str:
        """Why the request's objects cannot be shown as the resource has them; nothing where they can."""
        try:
            for obj in (attributes.object, attributes.old):
                await self._sources.versions.shown(attributes, resource, obj)
        except ApiError as error:
            return error.message
        return ""

    async def _bound(self, attributes: Attributes, concerned: Concerned) -> Bound | Undecided | None:
        """What is to be asked about the request as it is now; None where a condition says no, or fails unheard."""
        policy, binding, resource, params = concerned
        try:
            if await self._unmet(attributes, policy, resource, params):
                return None
        except ExpressionError as error:
            return None if ignores_failures(policy) else Undecided(policy, binding, str(error), asked=True)
        namespace = await self._sources.matcher.namespace(attributes)
        expressions = await self._expressions(attributes, policy, resource, params=params, namespace=namespace)
        expressions.declare(policy["spec"].get("variables") or ())
        return Bound(policy, binding, resource, expressions)

    async def _unmet(
        self, attributes: Attributes, policy: Object, resource: ResourceInfo, params: Object | None
    ) -> bool:
        """Whether a condition says no. Conditions have a budget of their own, and know neither variables nor the
        namespace. Raises ExpressionError."""
        conditions = policy["spec"].get("matchConditions")
        if not conditions:
            return False
        from engine.apiserver.admission.expressions import CONDITIONS_BUDGET

        expressions = await self._expressions(attributes, policy, resource, params=params, namespace=None)
        expressions.budget = CONDITIONS_BUDGET
        labels = policy["metadata"]["name"], "policy", VALIDATE, attributes.operation
        return await expressions.unmet(conditions, self._sources.metrics.conditions, labels)

    async def _expressions(
        self,
        attributes: Attributes,
        policy: Object,
        resource: ResourceInfo,
        *,
        params: Object | None,
        namespace: Object | None,
    ) -> Expressions:
        from engine.api.cel.admission import Scope
        from engine.apiserver.admission.expressions import Expressions, values_of
        from engine.apiserver.admission.questions import asker

        shown = self._sources.versions.shown
        values = values_of(
            obj=await shown(attributes, resource, attributes.object),
            old=await shown(attributes, resource, attributes.old),
            request=request_of(attributes, resource, uid=""),
        )
        values |= {"params": params, "namespaceObject": namespace}
        scope = Scope(params=policy["spec"].get("paramKind") is not None, authorizer=True, patches=self.patches)
        return Expressions(values, scope, asker(self._sources.authorizer, attributes.user))

    async def _params(self, attributes: Attributes, policy: Object, binding: Object) -> list[Object | None]:
        """The parameters of a binding: None for a policy that takes none. Raises ExpressionError."""
        kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if kind is None or reference is None:
            return [None]
        info = self._params_resource(kind)
        assert info is not None, "a policy whose parameters are unknown is not asked"
        namespace = ""
        if info.namespaced:
            namespace = reference.get("namespace") or attributes.namespace
            if not namespace:
                raise ExpressionError("cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                                      "resources")  # fmt: skip
        elif reference.get("namespace"):
            raise ExpressionError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
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
