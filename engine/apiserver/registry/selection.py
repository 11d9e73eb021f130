"""Which objects a list, watch or deletecollection is for: namespace, label and field selector.

Source of the texts: apiserver pkg/registry/generic matcher.go and each kind's field label conversion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.api.errors import bad_request
from engine.api.resources import ResourceInfo
from engine.api.selectable import field_of, selectable_fields, unknown_field_text
from engine.api.selectors import FieldRequirement, FieldSelector, LabelSelector
from engine.api.types import Object
from engine.api.validation.text import dns_label, path_segment
from engine.api.wire import Request
from engine.apiserver.cacher.watch_cache import WatchCache

_CHEAP = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    info: ResourceInfo
    namespace: str
    labels: LabelSelector
    fields: FieldSelector
    node: str | None  # of Pods: the node that the field selector names, which is an index

    @property
    def selective(self) -> bool:
        """Whether the namespace alone does not decide."""
        return not (self.labels.empty and self.fields.empty)

    @property
    def name(self) -> str | None:
        """The one name that the field selector asks for."""
        return self.fields.exact("metadata.name")

    @property
    def key(self) -> str | None:
        """The one key that can be selected (store.go ListPredicate, MatchesSingle)."""
        name = self.name
        if not name or path_segment(name) or (self.info.namespaced and not self.namespace):
            return None
        return self.info.key(self.namespace, name)

    @property
    def prefix(self) -> str:
        """What the keys begin with that can be selected."""
        if (key := self.key) is not None:
            return key
        return self.info.key(self.namespace, "") if self.namespace else f"{self.info.storage_prefix}/"

    @property
    def index(self) -> str:
        """What upstream calls the index that is looked into, "" for none."""
        return "" if self.key is not None or self.node is None else "f:spec.nodeName"

    def candidates(self, cache: WatchCache) -> Iterable[Object]:
        """What of a cache has to be looked at."""
        if (key := self.key) is None:
            return cache.objects(self.namespace, self.node)
        known = cache.get(key)
        return () if known is None else (known,)

    def contains(self, obj: Object) -> bool:
        """Whether an object, of whatever namespace, is selected."""
        if self.namespace and obj["metadata"].get("namespace") != self.namespace:
            return False
        return self.wants(obj)

    def wants(self, obj: Object) -> bool:
        """Whether an object of the namespace is selected."""
        return not self.selective or self.matches(obj)

    def matches(self, obj: Object) -> bool:
        """Whether the selectors match; the namespace is looked at elsewhere."""
        metadata = obj["metadata"]
        if not self.labels.empty and not self.labels.matches(metadata.get("labels")):
            return False
        if self.fields.empty:
            return True
        if all(requirement.field in _CHEAP for requirement in self.fields.requirements):
            found = {"metadata.name": metadata["name"], "metadata.namespace": metadata.get("namespace", "")}
            return self.fields.matches(found)
        return self.fields.matches(selectable_fields(self.info, obj))


def select(info: ResourceInfo, namespace: str, request: Request, *, name: str = "") -> Selection:
    """The selection of a request; `name` is the one that its path or its field selector is for.

    Raises ApiError 400 for a selector that is malformed, names an unknown field, or selects something else.
    """
    labels = LabelSelector.parse(request.parameter("labelSelector"))
    fields = FieldSelector.parse(request.parameter("fieldSelector"))
    if not fields.empty:
        fields = _known_fields(info, fields)
        if name and fields.exact("metadata.name") != name:
            raise bad_request("fieldSelector metadata.name doesn't match requested name")
    elif name:
        fields = FieldSelector([FieldRequirement("metadata.name", "=", name)])
    if not info.namespaced:
        namespace = ""  # of a path like /api/v1/watch/namespaces/NAME, which stands for the object itself
    elif not namespace:
        namespace = _selected_namespace(fields)
    node = fields.exact("spec.nodeName") if info.gvr.resource == "pods" and not info.gvr.group else None
    return Selection(info, namespace, labels, fields, node)


def _selected_namespace(fields: FieldSelector) -> str:
    """The one namespace that can be selected, which narrows a list or watch of all (MatchesSingleNamespace)."""
    namespace = fields.exact("metadata.namespace") or ""
    return "" if dns_label(namespace) else namespace


def _known_fields(info: ResourceInfo, fields: FieldSelector) -> FieldSelector:
    """The selector by the fields that its labels mean. Raises ApiError 400 for a label that means none."""
    known = []
    for requirement in fields.requirements:
        field = field_of(info, requirement.field)
        if field is None:
            raise bad_request(unknown_field_text(info, requirement.field))
        known.append(requirement._replace(field=field))
    return FieldSelector(known)
