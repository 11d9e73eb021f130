"""Which requests a webhook or a policy is for: rules, match policy, selectors.

Source: apiserver pkg/admission/plugin/webhook/generic (webhook.go ShouldCallHook), predicates/rules, predicates/
namespace and predicates/object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.selectors import LabelSelector
from engine.api.types import NAMESPACES, Object
from engine.apiserver.admission.attributes import Attributes, Operation
from engine.apiserver.lookup import Lookup

# What decides about admission is decided about by what is read from files alone: a broken webhook could never be taken
# away.
CONFIGURATION = frozenset(
    f"{name}.admissionregistration.k8s.io"
    for name in (
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)


class Criteria(NamedTuple):
    """`exclude` are rules that take out what `rules` take in."""

    rules: Iterable[Object]
    exclude: Iterable[Object] = ()
    equivalent: bool = True
    namespace_selector: Object | None = None
    object_selector: Object | None = None

    @classmethod
    def of_webhook(cls, webhook: Object) -> Criteria:
        return cls(
            webhook.get("rules") or (),
            (),
            webhook.get("matchPolicy", "Equivalent") == "Equivalent",
            webhook.get("namespaceSelector"),
            webhook.get("objectSelector"),
        )

    @classmethod
    def of_resources(cls, match: Object) -> Criteria:
        return cls(
            match.get("resourceRules") or (),
            match.get("excludeResourceRules") or (),
            match.get("matchPolicy", "Equivalent") == "Equivalent",
            match.get("namespaceSelector"),
            match.get("objectSelector"),
        )


class Matcher:
    def __init__(self, lookup: Lookup, resources: ResourceRegistry) -> None:
        self._lookup = lookup
        self._resources = resources

    async def match(self, attributes: Attributes, criteria: Criteria) -> ResourceInfo | None:
        """The resource as which the request matches, that of another version with the policy Equivalent; or None."""
        if not _selects_object(criteria.object_selector, attributes):
            return None
        found = self._by_rules(attributes, criteria.rules, equivalent=criteria.equivalent)
        if found is None or self._by_rules(attributes, criteria.exclude, equivalent=criteria.equivalent) is not None:
            return None
        if not await self._in_namespace(criteria.namespace_selector, attributes):
            return None
        return found

    def _by_rules(self, attributes: Attributes, rules: Iterable[Object], *, equivalent: bool) -> ResourceInfo | None:
        rules = list(rules)
        if any(_covers(rule, attributes, attributes.resource) for rule in rules):
            return attributes.resource
        if not equivalent or not rules:
            return None
        own = attributes.resource
        others = [one for one in self._resources if one.storage_prefix == own.storage_prefix and one.gvr != own.gvr]
        for rule in rules:  # earlier ones first
            for other in others:
                if _covers(rule, attributes, other):
                    return other
        return None

    async def _in_namespace(self, selector: Object | None, attributes: Attributes) -> bool:
        if not selector:
            return True
        labels = await self._namespace_labels(attributes)
        return labels is None or LabelSelector.from_object(selector).matches(labels)

    async def _namespace_labels(self, attributes: Attributes) -> Object | None:
        """The labels of the namespace that a request is about or within; None for what is in none."""
        if attributes.resource.gvr.group_resource == "namespaces":
            new = attributes.object if attributes.operation in (Operation.CREATE, Operation.UPDATE) else None
            own = new if new is not None and not attributes.subresource else attributes.old
            return ((own or {}).get("metadata") or {}).get("labels") or {}
        if not attributes.namespace:
            return None
        namespace = await self.namespace(attributes)
        return ((namespace or {}).get("metadata") or {}).get("labels") or {}

    async def namespace(self, attributes: Attributes) -> Object | None:
        """The one that a request is within; a Namespace is in none, though requests for it say itself."""
        if not attributes.namespace or attributes.resource.gvr.group_resource == "namespaces":
            return None
        return await self._lookup.find(NAMESPACES, "", attributes.namespace)


def _covers(rule: Object, attributes: Attributes, resource: ResourceInfo) -> bool:
    if not _one_of(rule.get("operations"), attributes.operation.value):
        return False
    if not _one_of(rule.get("apiGroups"), resource.gvr.group) or not _one_of(
        rule.get("apiVersions"), resource.gvr.version
    ):
        return False
    scope = rule.get("scope", "*")
    within = bool(attributes.namespace) and resource.gvr != NAMESPACES  # which say themselves as theirs
    if (scope == "Namespaced" and not within) or (scope == "Cluster" and within):
        return False
    names = rule.get("resourceNames")
    if names and attributes.name not in names:
        return False
    return any(
        _is_resource(pattern, resource.gvr.resource, attributes.subresource) for pattern in rule.get("resources") or ()
    )


def _one_of(values: Iterable[str] | None, value: str) -> bool:
    return any(each in ("*", value) for each in values or ())


def _is_resource(pattern: str, resource: str, subresource: str) -> bool:
    wanted, _, wanted_sub = pattern.partition("/")
    return wanted in ("*", resource) and wanted_sub in (("*", subresource) if wanted_sub else (subresource,))


def _selects_object(selector: Object | None, attributes: Attributes) -> bool:
    if not selector:
        return True
    found = LabelSelector.from_object(selector)
    for obj in (attributes.object, attributes.old):
        metadata = (obj or {}).get("metadata")
        if isinstance(metadata, dict) and found.matches(metadata.get("labels") or {}):
            return True
    return False
