"""The resources of a build in their order: no two with one identity (kustomize api/resmap, reswrangler.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.identity import CLUSTER, Id
from engine.kubectl.kustomize.resource import Resource


class Resources:
    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self.all: list[Resource] = []
        for resource in resources:
            self.append(resource)

    def __iter__(self) -> Iterator[Resource]:
        return iter(list(self.all))

    def append(self, resource: Resource) -> None:
        if any(resource.id.equals(other.id) for other in self.all):
            raise BuildError(f"may not add resource with an already registered id: {resource.id}")
        self.all.append(resource)

    def extend(self, resources: Iterable[Resource]) -> None:
        for resource in resources:
            self.append(resource)

    def drop_empty(self) -> None:
        self.all = [resource for resource in self.all if resource.obj]

    def by_any_id(self, wanted: Id) -> list[Resource]:
        return [r for r in self.all if r.obj and any(wanted.equals(known) for known in r.ids)]

    def one(self, wanted: Id) -> Resource:
        """The target of a patch."""
        found = self.by_any_id(wanted)
        if len(found) == 1:
            return found[0]
        problem = "multiple matches" if found else "no matches"
        raise BuildError(f"{problem} for Id {wanted}; failed to find unique target for patch {wanted}")

    def absorb(self, resource: Resource) -> None:
        """Take over what a generator made: new, or in place of or over what is there."""
        wanted = resource.id
        found = self.by_any_id(wanted)
        if not found:
            if resource.behavior in ("merge", "replace"):
                raise BuildError(f"id {wanted.go_text} does not exist; cannot merge or replace")
            self.append(resource)
            return
        if len(found) > 1:
            raise BuildError(f"found multiple objects {found} that could accept merge of {wanted}")
        old = found[0]
        if resource.behavior not in ("merge", "replace"):
            raise BuildError(
                f"id {wanted.go_text} exists; can not use behavior: '{resource.behavior}', "
                "behavior must be merge or replace"
            )
        _inherit(resource, old)
        self.all[self.all.index(old)] = resource

    def by_namespace(self, namespace_of: Callable[[Resource], Id]) -> dict[str, list[Resource]]:
        grouped: dict[str, list[Resource]] = {}
        for resource in self.all:
            grouped.setdefault(namespace_of(resource).effective_namespace, []).append(resource)
        grouped.pop(CLUSTER, None)
        return grouped


def _inherit(resource: Resource, old: Resource) -> None:
    for field in ("labels", "annotations"):
        resource.put_texts(field, {**old.texts(field), **resource.texts(field)})
    resource.name = old.name
    if old.namespace:
        resource.obj["metadata"]["namespace"] = old.namespace
    resource.earlier, resource.prefixes, resource.suffixes = old.earlier, old.prefixes, old.suffixes
    resource.variables, resource.origin, resource.changes = old.variables, old.origin, old.changes
    if resource.behavior == "merge":
        for field in ("data", "binaryData"):
            both = {**(old.obj.get(field) or {}), **(resource.obj.get(field) or {})}
            if both:
                resource.obj[field] = both
