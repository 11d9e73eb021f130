"""NamespaceAutoProvision makes a namespace that is missing, NamespaceExists refuses what is in one.

Source: plugin/pkg/admission/namespace/autoprovision and exists.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.api.errors import not_found
from engine.api.types import NAMESPACES
from engine.apiserver.admission.attributes import CHANGES, CREATES, Attributes, Plugin
from engine.apiserver.lookup import Lookup

Provide = Callable[[str], Awaitable[None]]


class NamespaceAutoProvision(Plugin):
    name = "NamespaceAutoProvision"
    operations = CREATES
    default = False

    def __init__(self, lookup: Lookup, provide: Provide) -> None:
        self._lookup = lookup
        self._provide = provide

    async def mutate(self, attributes: Attributes) -> bool:
        if not attributes.dry_run and await _is_missing(self._lookup, attributes):
            await self._provide(attributes.namespace)
        return False


class NamespaceExists(Plugin):
    name = "NamespaceExists"
    operations = CHANGES
    default = False

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def validate(self, attributes: Attributes) -> None:
        if await _is_missing(self._lookup, attributes):
            raise not_found(NAMESPACES, attributes.namespace)


async def _is_missing(lookup: Lookup, attributes: Attributes) -> bool:
    """Whether a request is in a namespace that there is not."""
    if not attributes.namespace or attributes.resource.gvr.group_resource == "namespaces":
        return False
    return await lookup.find(NAMESPACES, "", attributes.namespace) is None
