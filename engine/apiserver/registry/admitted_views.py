"""As what an update of a subresource is shown to admission: as the object itself, but for a scale, which is one of its
own (pkg/registry/apps/deployment/storage, ScaleREST and its scaleUpdatedObjectInfo)."""

from __future__ import annotations

from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.registry.facet import Facet
from engine.apiserver.registry.facets import facet_of


class AdmittedView:
    def __init__(self, facet: Facet | None) -> None:
        self._facet = facet

    def show(self, obj: Object) -> Object:
        return obj if self._facet is None else (self._facet.start or self._facet.show)(obj)

    def taken(self, obj: Object, view: Object | None) -> Object:
        """The object with what admission has made of its view."""
        if self._facet is None or view is None or view == self.show(obj):
            return obj
        return self._facet.take(obj, view)


def admitted_view(info: ResourceInfo, subresource: str) -> AdmittedView:
    return AdmittedView(facet_of(info, subresource) if subresource == "scale" else None)
