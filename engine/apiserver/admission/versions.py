"""The objects of a request in the version of the resource that a webhook or policy has matched.

Source: apiserver pkg/admission/conversion.go (VersionedAttributes), which converts an object once for each version.
"""

from __future__ import annotations

from engine.api.nil_lists import with_nils
from engine.api.resources import ResourceInfo
from engine.api.types import Object, copy_object
from engine.apiserver.admission.attributes import Attributes, Operation
from engine.apiserver.registry.conversion import from_storage, to_storage
from engine.apiserver.storage import Storage


class Versions:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def shown(self, attributes: Attributes, resource: ResourceInfo, obj: Object | None) -> Object | None:
        """An object of the request as the resource has it, and as Go writes it. Raises ApiError 500, in the words of a
        conversion that fails."""
        if obj is None or attributes.operation is Operation.CONNECT:
            return obj
        return with_nils(await self._converted(attributes, obj, attributes.resource, resource))

    async def read_back(self, attributes: Attributes, resource: ResourceInfo, obj: Object) -> Object:
        """What was shown, and somebody changed, in the version of the request. Raises ApiError 500."""
        return await self._converted(attributes, obj, resource, attributes.resource)

    async def _converted(
        self, attributes: Attributes, obj: Object, source: ResourceInfo, target: ResourceInfo
    ) -> Object:
        """What a subresource has of another kind, a Scale, is the same in all versions."""
        if source.gvr == target.gvr or obj.get("kind") != source.gvk.kind:
            return obj
        if target.extension is None:
            return from_storage(target, to_storage(source, obj))
        converter = self._storage.converter
        if converter is None or not converter.asks(target):
            return {**obj, "apiVersion": target.gvk.api_version}
        for gvr, before, after in attributes.conversions:
            if gvr == target.gvr and before == obj:
                return after
        made = await converter.convert(target, obj, target.gvk)
        attributes.conversions.append((target.gvr, copy_object(obj), made))
        return made
