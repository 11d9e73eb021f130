"""The names of the objects that a person is likely to look for, in all namespaces, read in pages while one types."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.api.errors import ApiError
from engine.client import Client
from engine.clock import Clock
from ktui.feeds.names import METADATA
from ktui.models.sought import fit

if TYPE_CHECKING:
    from engine.kubectl.discovery import Discovery, Resource

COMMON = (
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "services",
    "ingresses.networking.k8s.io",
    "configmaps",
    "secrets",
    "persistentvolumeclaims",
    "persistentvolumes",
    "serviceaccounts",
    "namespaces",
    "nodes",
    "replicasets.apps",
    "horizontalpodautoscalers.autoscaling",
    "poddisruptionbudgets.policy",
    "endpointslices.discovery.k8s.io",
    "pods",
)
PAGE = 50  # what is decoded between two keys
MOST = 20_000  # names of a kind
FOUND = 8  # of a kind, the best
SLICE = 200  # names looked at between two keys


class Named(NamedTuple):
    """`resource` is the name of the kind's resource with its group, `namespace` "" for what is in none."""

    kind: str
    resource: str
    name: str
    namespace: str

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name} ({self.namespace})" if self.namespace else f"{self.kind} {self.name}"


@dataclass(slots=True)
class _Kind:
    resource: Resource
    names: list[Named]
    place: str | None = None  # the namespace to list where all of them may not be
    token: str = ""


class ObjectNames:
    """Kinds that this person may not list, or that the server does not have, are left out."""

    def __init__(
        self, client: Client, discovery: Discovery, clock: Clock, namespace: str, *, selector: str = ""
    ) -> None:
        """`namespace` is where to look for what may not be listed in all of them; `selector` is one of labels."""
        self._client = client
        self._discovery = discovery
        self._clock = clock
        self._namespace = namespace
        self._selector = selector
        self._kinds: list[_Kind] = []
        self.is_complete = False

    async def read(self) -> AsyncIterator[None]:
        """Once; yields when each kind has been asked, and again when all are known.

        A page of each kind in turn, so that one of many objects does not keep others waiting.
        """
        try:
            served = {found.gvr.group_resource: found for found in await self._discovery.resources(self._client)}
            self._kinds = [_Kind(served[name], []) for name in COMMON if name in served]
            waiting = await self._round(self._kinds)
            yield
            while waiting:
                waiting = await self._round(waiting)
        except (ApiError, ConnectionError):
            pass  # what is known is what there is to find
        self.is_complete = True
        yield

    async def _round(self, kinds: list[_Kind]) -> list[_Kind]:
        """A page of each; those of which there are more."""
        return [kind for kind in kinds if await self._has_more_after_a_page(kind)]

    async def _has_more_after_a_page(self, kind: _Kind) -> bool:
        try:
            listed = await self._page(kind)
        except ApiError as error:
            if error.code != 403 or kind.place is not None or not kind.resource.namespaced:
                return False
            kind.place = self._namespace
            return await self._has_more_after_a_page(kind)
        resource = kind.resource.gvr.group_resource
        for item in listed.get("items") or ():
            metadata = item["metadata"]
            kind.names.append(Named(kind.resource.kind, resource, metadata["name"], metadata.get("namespace", "")))
        kind.token = listed.get("metadata", {}).get("continue", "")
        return bool(kind.token) and len(kind.names) < MOST

    async def _page(self, kind: _Kind) -> dict[str, Any]:
        asked = {"limit": str(PAGE), "continue": kind.token, "labelSelector": self._selector}
        query = {name: [value] for name, value in asked.items() if value}
        path = kind.resource.gvr.path(kind.place)
        listed: dict[str, Any] = await self._client.request("GET", path, query=query, headers={"accept": METADATA})
        return listed

    @property
    def in_spans(self) -> frozenset[str]:
        """Those known by now, as spans name their objects: `pod/default/web`, `node/node-1`."""
        known = [one for kind in self._kinds for one in kind.names]
        return frozenset("/".join(filter(None, (one.kind.lower(), one.namespace, one.name))) for one in known)

    async def find(self, query: str) -> list[tuple[float, Named]]:
        """Those known by now that have all words in their titles, one of them in the name; how well each fits.

        Of a kind the best alone.
        """
        words = query.lower().split()
        found: list[tuple[float, Named]] = []
        for kind in self._kinds:
            best: list[tuple[float, Named]] = []
            for first in range(0, len(kind.names), SLICE):
                fitting = [(_fit(query, one), one) for one in kind.names[first : first + SLICE] if _has(one, words)]
                best = heapq.nsmallest(FOUND, [*best, *fitting], key=_order)
                await self._clock.sleep(0)
            found += best
        return found


def _has(one: Named, words: list[str]) -> bool:
    name = one.name.lower()
    if not any(word in name for word in words):
        return False
    title = one.title.lower()
    return all(word in title for word in words)


def _fit(query: str, one: Named) -> float:
    return max(fit(query, one.name), fit(query, one.title))


def _order(found: tuple[float, Named]) -> tuple[float, Named]:
    return -found[0], found[1]


async def objects_with(
    selector: str, client: Client, discovery: Discovery, clock: Clock, namespace: str
) -> frozenset[str]:
    """The objects of the common kinds that have labels as `selector` wants them, as spans name them."""
    names = ObjectNames(client, discovery, clock, namespace, selector=selector)
    async for _ in names.read():
        pass
    return names.in_spans
