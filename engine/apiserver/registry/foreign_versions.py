"""What a custom object is in the versions that others own fields in, asked of the webhook that converts it.

Who owns what is worked out at once and waits for nothing: a conversion that is lacking breaks it off, and it is done
again with the answer. Upstream calls the webhook in the midst of it, by way of the version that is stored (apimachinery
managedfields, versionconverter.go).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.api.apply.scope import UnconvertedError
from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.schema import Schema
from engine.api.types import GVK, Object
from engine.apiserver.backend import Backend

T = TypeVar("T")


class _UnaskedError(Exception):
    """An object whose conversion nobody has asked for yet."""

    def __init__(self, obj: Object, target: GVK) -> None:
        super().__init__(target.api_version)
        self.obj = obj
        self.target = target


class ForeignVersions:
    """Of the resource of one write."""

    def __init__(self, backend: Backend, info: ResourceInfo) -> None:
        self._definitions = backend.definitions
        self._info = info
        self._converter = backend.storage.converter
        self._answers: list[tuple[Object, GVK, Object | str]] = []

    def schema(self, gvk: GVK) -> Schema | None:
        """Of a version of the kind, also of one that is not served any more."""
        found = self._definitions.kind(gvk)
        if found is None and self._info.extension is not None and gvk[::2] == self._info.gvk[::2]:
            return self._info.extension.schema_of(gvk.version)
        return found

    @property
    def _asks(self) -> bool:
        return self._converter is not None and self._converter.asks(self._info)

    @property
    def convert(self) -> Callable[[Object, GVK], Object] | None:
        """For `engine.api.apply`, within `settled`."""
        return self._converted if self._asks else None

    async def settled(self, work: Callable[[], Awaitable[T]]) -> T:
        """What the work comes to, which is begun anew after each conversion that it lacked."""
        while True:
            try:
                return await work()
            except _UnaskedError as question:
                self._answers.append((question.obj, question.target, await self._asked(question)))

    def _converted(self, obj: Object, target: GVK) -> Object:
        """A webhook is not shown who owns what."""
        metadata = dict(obj.get("metadata") or {})
        owners = metadata.pop("managedFields", None)
        bare = {**obj, "metadata": metadata}
        known = (answer for asked, version, answer in self._answers if version == target and asked == bare)
        answer = next(known, None)
        if answer is None:
            raise _UnaskedError(bare, target)
        if isinstance(answer, str):
            raise UnconvertedError(answer)
        return answer if owners is None else {**answer, "metadata": {**answer["metadata"], "managedFields": owners}}

    async def _asked(self, question: _UnaskedError) -> Object | str:
        """The converted object, or why there is none."""
        assert self._converter is not None, "nobody asks where nobody converts"
        obj = question.obj
        try:
            for step in (self._info.storage_gvk, question.target):
                if obj.get("apiVersion") != step.api_version:
                    obj = await self._converter.convert(self._info, obj, step)
        except ApiError as error:
            return error.message
        return obj
