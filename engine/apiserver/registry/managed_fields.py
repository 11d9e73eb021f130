"""Who owns which fields of what is written: kept up to date before admission and strategy, for what the server changes
belongs to no manager.

Source of the behaviour: apiserver pkg/endpoints/handlers/fieldmanager and apimachinery pkg/util/managedfields.
"""

from __future__ import annotations

from engine.api.apply import track_update
from engine.api.types import GVK, Object
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.facet import Facet
from engine.apiserver.registry.foreign_versions import ForeignVersions
from engine.apiserver.registry.metadata import same_but_revision
from engine.apiserver.registry.options import WriteOptions


def tracked_new(backend: Backend, call: Call, obj: Object, options: WriteOptions) -> Object:
    """A new object, all of whose fields are its creator's."""
    return _tracked(backend, call.gvr_resource.gvk, obj, None, options=options, subresource="")


async def tracked_update(backend: Backend, call: Call, new: Object, old: Object, options: WriteOptions) -> Object:
    """`new`, and in its managedFields who changed what."""
    info, subresource = call.gvr_resource, call.info.subresource
    if "managedFields" not in new["metadata"] and "managedFields" in old["metadata"]:
        new["metadata"]["managedFields"] = old["metadata"]["managedFields"]
    if same_but_revision(new, old):
        return new
    versions = ForeignVersions(backend, info)

    async def tracked() -> Object:
        return _tracked(backend, info.gvk, new, old, options=options, subresource=subresource, versions=versions)

    return await versions.settled(tracked)


def view_taken(
    backend: Backend, call: Call, facet: Facet, old: Object, view: Object, *, live: Object, options: WriteOptions
) -> Object:
    """The object with a changed view taken back; a view of another kind has owners of its own, which go with it."""
    if facet.gvk != call.gvr_resource.gvk:
        view = _tracked(backend, facet.gvk, view, live, options=options, subresource=call.info.subresource)
    return facet.take(old, view)


def _tracked(
    backend: Backend,
    gvk: GVK,
    new: Object,
    old: Object | None,
    *,
    options: WriteOptions,
    subresource: str,
    versions: ForeignVersions | None = None,
) -> Object:
    """`new` with its managedFields kept up to date."""
    schema = backend.definitions.kind(gvk)
    if schema is None:
        return new
    return track_update(
        old,
        new,
        manager=options.manager,
        operation="Update",
        now=backend.world.clock.now(),
        schema=schema,
        subresource=subresource,
        api_version=gvk.api_version,
        schemas=versions.schema if versions is not None else backend.definitions.kind,
        convert=versions.convert if versions is not None else None,
    )
