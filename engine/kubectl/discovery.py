"""What the server can do: its resources, and how the words of the command line name them (hop 01).

Source of the behaviour: client-go discovery (aggregated discovery v2, with the older lists as fallback), the REST
mapper and the short-name expander.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.api.types import GVK, GVR, Object
from engine.client import Client
from engine.client.client import error_of
from engine.kubectl.errors import CommandError

AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of one group and version. `preferred` says whether the version is the group's preferred one."""

    gvr: GVR
    kind: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]
    subresources: tuple[str, ...]
    preferred: bool

    @property
    def gvk(self) -> GVK:
        return GVK(self.gvr.group, self.gvr.version, self.kind)

    @property
    def plural(self) -> str:
        return self.gvr.resource

    def named(self, name: str) -> str:
        """As results name an object: `deployment.apps/web`, `pod/web`."""
        kind = self.kind.lower()
        return f"{kind}.{self.gvr.group}/{name}" if self.gvr.group else f"{kind}/{name}"


class NoMatchError(CommandError):
    """No resource for a kind."""


class Discovery:
    """The resources of one server, read once and again when a kind is not found. Keep one over several commands."""

    def __init__(self) -> None:
        self._resources: list[Resource] = []
        self._read = False

    async def resources(self, client: Client) -> list[Resource]:
        """All, in the server's order of groups, preferred versions before others."""
        if not self._read:
            self._resources = await _read_all(client)
            self._read = True
        return self._resources

    def invalidate(self) -> None:
        self._read = False

    async def resolve(self, client: Client, word: str) -> Resource:
        """The resource that a word of the command line names. Raises CommandError."""
        found = _match(await self.resources(client), word)
        if found is None:
            self.invalidate()
            found = _match(await self.resources(client), word)
        if found is None:
            name, _, group = word.partition(".")
            within = f' in group "{group}"' if group else ""
            raise CommandError(f'the server doesn\'t have a resource type "{name}"{within}')
        return found

    def also_named(self, word: str, chosen: Resource) -> list[Resource]:
        """The other resources, of other groups, that a short name stands for."""
        if word.lower() not in chosen.short_names:
            return []
        return [
            resource
            for resource in self._resources
            if resource.preferred and word.lower() in resource.short_names and resource.gvr.group != chosen.gvr.group
        ]

    async def for_kind(self, client: Client, gvk: GVK) -> Resource:
        """The resource of a manifest's kind. Raises NoMatchError."""
        for fresh in (False, True):
            if fresh:
                self.invalidate()
            for resource in await self.resources(client):
                if resource.gvk == gvk:
                    return resource
        raise NoMatchError(f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"')

    async def category(self, client: Client, name: str) -> list[Resource]:
        """The resources of a category such as `all`, one for each group and plural."""
        found: dict[tuple[str, str], Resource] = {}
        for resource in await self.resources(client):
            if name in resource.categories:
                found.setdefault((resource.gvr.group, resource.plural), resource)
        return list(found.values())


def _match(resources: list[Resource], word: str) -> Resource | None:
    """`deployments`, `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`."""
    parts = word.split(".", 2)
    if len(parts) == 3 and (found := _pick(resources, parts[0], parts[2], version=parts[1])):
        return found
    name, _, group = word.partition(".")
    return _pick(resources, name, group)


def _pick(resources: list[Resource], name: str, group: str, *, version: str = "") -> Resource | None:
    lower = name.lower()
    within = [r for r in resources if not version or r.gvr.version == version]
    if group:
        exact = [r for r in within if r.gvr.group == group]
        within = exact or [r for r in within if r.gvr.group.startswith(group)]
    for matches in (
        [r for r in within if lower in (r.plural, r.singular)],
        [r for r in within if lower in r.short_names],
        [r for r in within if r.kind == name],
    ):
        if matches:
            return next((r for r in matches if r.preferred), matches[0])
    return None


# -- reading


async def _read_all(client: Client) -> list[Resource]:
    core, groups = await _get(client, "/api"), await _get(client, "/apis")
    found = [*await _resources_of(client, core), *await _resources_of(client, groups)]
    return sorted(found, key=lambda resource: not resource.preferred)


async def _get(client: Client, path: str) -> Object:
    response = await client.send("GET", path, headers={"accept": AGGREGATED})
    if response.status >= 400:
        raise error_of(response)
    body: Object = response.body
    return body


async def _resources_of(client: Client, document: Object) -> list[Resource]:
    if document.get("kind") == "APIGroupDiscoveryList":
        return [r for group in document.get("items") or () for r in _of_group(group)]
    if document.get("kind") == "APIVersions":
        versions = document.get("versions") or ["v1"]
        return [r for v in versions for r in _of_list(await _get(client, f"/api/{v}"), "", v, preferred=True)]
    found: list[Resource] = []
    for group in document.get("groups") or ():
        preferred = (group.get("preferredVersion") or {}).get("version", "")
        for entry in group.get("versions") or ():
            listed = await _get(client, f"/apis/{entry['groupVersion']}")
            version = entry["version"]
            found += _of_list(listed, group["name"], version, preferred=version == preferred)
    return found


def _of_group(group: Object) -> Iterable[Resource]:
    name = (group.get("metadata") or {}).get("name", "")
    seen: dict[str, None] = {}
    for index, version in enumerate(group.get("versions") or ()):
        for entry in version.get("resources") or ():
            kind = entry.get("responseKind") or {}
            plural = entry["resource"]
            yield Resource(
                gvr=GVR(name, version["version"], plural),
                kind=kind.get("kind", ""),
                singular=entry.get("singularResource", ""),
                namespaced=entry.get("scope") == "Namespaced",
                short_names=tuple(entry.get("shortNames") or ()),
                categories=tuple(entry.get("categories") or ()),
                verbs=tuple(entry.get("verbs") or ()),
                subresources=tuple(s["subresource"] for s in entry.get("subresources") or ()),
                preferred=index == 0 or plural not in seen,
            )
            seen[plural] = None


def _of_list(document: Object, group: str, version: str, *, preferred: bool) -> Iterable[Resource]:
    listed: list[dict[str, Any]] = document.get("resources") or []
    for entry in listed:
        if "/" in entry["name"]:
            continue
        prefix = f"{entry['name']}/"
        yield Resource(
            gvr=GVR(group, version, entry["name"]),
            kind=entry["kind"],
            singular=entry.get("singularName") or entry["kind"].lower(),
            namespaced=bool(entry.get("namespaced")),
            short_names=tuple(entry.get("shortNames") or ()),
            categories=tuple(entry.get("categories") or ()),
            verbs=tuple(entry.get("verbs") or ()),
            subresources=tuple(e["name"].removeprefix(prefix) for e in listed if e["name"].startswith(prefix)),
            preferred=preferred,
        )
