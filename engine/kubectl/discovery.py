"""What the server can do: its resources, and how the words of the command line name them (hop 01).

Source of the behaviour: client-go discovery (aggregated discovery v2, with the older lists as fallback; the former is
turned into the latter, as client-go does, so that what is cached is what kubectl caches), the REST mapper and the
short-name expander.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from engine.api.golang import json as go_json
from engine.api.types import GVK, GVR, Object
from engine.client import Client
from engine.client.client import error_of
from engine.client.unreachable import UnreachableError
from engine.kubectl.errors import CommandError
from engine.kubectl.undiscovered import UndiscoveredError

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

TIMEOUT = "32s"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of one group and version. `preferred` says whether the version is the group's preferred one,
    `singular` is as the server tells it, which may be not at all."""

    gvr: GVR
    kind: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]
    subresources: tuple[str, ...]
    preferred: bool

    @classmethod
    def unasked(cls, gvk: GVK, *, namespaced: bool = True) -> Resource:
        """What a kind is called where no server is asked (apimachinery's UnsafeGuessKindToResource)."""
        singular = gvk.kind.lower()
        plural = (
            f"{singular[:-1]}ies" if singular.endswith("y") else singular + ("es" if singular.endswith("s") else "s")
        )
        gvr = GVR(gvk.group, gvk.version, plural)
        return cls(gvr, gvk.kind, singular, namespaced, (), (), (), (), preferred=True)

    @property
    def gvk(self) -> GVK:
        return GVK(self.gvr.group, self.gvr.version, self.kind)

    @property
    def plural(self) -> str:
        return self.gvr.resource

    @property
    def one(self) -> str:
        """The word for one of them."""
        return self.singular or self.kind.lower()

    def named(self, name: str) -> str:
        """As results name an object: `deployment.apps/web`, `pod/web`."""
        kind = self.kind.lower()
        return f"{kind}.{self.gvr.group}/{name}" if self.gvr.group else f"{kind}/{name}"


class NoMatchError(CommandError):
    """No resource for a kind."""


@dataclass(slots=True)
class Documents:
    """What a server says of itself: its groups (APIGroup) and an APIResourceList for each group and version."""

    groups: list[Object] = field(default_factory=list)
    lists: dict[str, Object] = field(default_factory=dict)


class Cache(Protocol):
    """Where documents are kept from one command to the next."""

    async def load(self) -> Documents | None: ...

    async def store(self, documents: Documents) -> None: ...


class Discovery:
    """The resources of one server, read once and again when a kind is not found. Keep one over several commands."""

    def __init__(self, cache: Cache | None = None) -> None:
        self._resources: list[Resource] = []
        self._read = False
        self._cache = cache
        self._stale = False  # what is cached is not to be believed

    async def resources(self, client: Client) -> list[Resource]:
        """All, in the server's order of groups, preferred versions before others."""
        if not self._read:
            self._resources = _resources(await self._documents(client))
            self._read = True
        return self._resources

    async def _documents(self, client: Client) -> Documents:
        if self._cache is not None and not self._stale and (known := await self._cache.load()) is not None:
            return known
        documents = await _read_all(client)
        if self._cache is not None:
            await self._cache.store(documents)
        return documents

    def invalidate(self) -> None:
        self._read = False
        self._stale = True

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
        """The other resources, of other groups, that a short name stands for; none for what is a whole name too."""
        if word not in chosen.short_names or any(
            word.lower() in (resource.plural, resource.one) for resource in self._resources
        ):
            return []
        return [
            resource
            for resource in self._resources
            if resource.preferred and word in resource.short_names and resource.gvr.group != chosen.gvr.group
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
    if len(parts) == 3:
        # A short name stands for the preferred version, whichever was asked for (restmapper's shortcut expander).
        short = any(parts[0] in resource.short_names for resource in resources)
        if found := _pick(resources, parts[0], parts[2], version="" if short else parts[1]):
            return found
    name, _, group = word.partition(".")
    return _pick(resources, name, group)


def _pick(resources: list[Resource], name: str, group: str, *, version: str = "") -> Resource | None:
    lower = name.lower()  # as the mapper has names, but not the shortcuts
    within = [r for r in resources if not version or r.gvr.version == version]
    if group:
        exact = [r for r in within if r.gvr.group == group]
        within = exact or [r for r in within if r.gvr.group.startswith(group)]
    for matches in (
        [r for r in within if lower in (r.plural, r.one)],
        [r for r in within if name in r.short_names],
        [r for r in within if r.kind == name],
    ):
        if matches:
            return next((r for r in matches if r.preferred), matches[0])
    return None


# -- reading


async def _read_all(client: Client) -> Documents:
    core, groups = await _get(client, "/api"), await _get(client, "/apis")
    found = Documents()
    await _add(client, found, core)
    await _add(client, found, groups)
    return found


async def _get(client: Client, path: str) -> Object:
    try:
        response = await client.send("GET", path, query={"timeout": [TIMEOUT]}, headers={"accept": AGGREGATED})
    except UnreachableError as error:
        raise UndiscoveredError(str(error), error.cause) from error
    if response.status >= 400:
        raise error_of(response)
    if not isinstance(response.body, dict):
        raise CommandError(go_json.syntax_error(response.body if isinstance(response.body, bytes) else b""))
    body: Object = response.body
    return body


async def _add(client: Client, found: Documents, document: Object) -> None:
    """Take over an aggregated document, or read what an older server's points to."""
    if document.get("kind") == "APIGroupDiscoveryList":
        for group in document.get("items") or ():
            _add_group(found, group)
        return
    groups = document.get("groups") or ()
    if document.get("kind") == "APIVersions":
        versions = [{"groupVersion": v, "version": v} for v in document.get("versions") or ["v1"]]
        groups = [{"name": "", "versions": versions, "preferredVersion": versions[0]}]
    for group in groups:
        found.groups.append(group)
        for entry in group.get("versions") or ():
            name = entry["groupVersion"]
            found.lists[name] = await _get(client, f"/apis/{name}" if "/" in name else f"/api/{name}")


def _add_group(found: Documents, group: Object) -> None:
    """An aggregated group as the older documents have it."""
    name = (group.get("metadata") or {}).get("name", "")
    versions: list[Object] = []
    for version in group.get("versions") or ():
        api_version = f"{name}/{version['version']}" if name else version["version"]
        versions.append({"groupVersion": api_version, "version": version["version"]})
        entries = [e for resource in version.get("resources") or () for e in _entries(resource)]
        found.lists[api_version] = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": api_version,
            "resources": entries,
        }
    preferred = versions[0] if versions else {"groupVersion": "", "version": ""}
    found.groups.append({"name": name, "versions": versions, "preferredVersion": preferred})


def _entries(resource: Object) -> Iterable[Object]:
    namespaced = resource.get("scope") == "Namespaced"
    main = _entry(resource, resource["resource"], namespaced)
    yield {
        **main,
        **({"shortNames": resource["shortNames"]} if resource.get("shortNames") else {}),
        **({"categories": resource["categories"]} if resource.get("categories") else {}),
    }
    for subresource in resource.get("subresources") or ():
        named = {**subresource, "singularResource": resource.get("singularResource", "")}
        yield _entry(named, f"{resource['resource']}/{subresource['subresource']}", namespaced)


def _entry(value: Object, name: str, namespaced: bool) -> Object:
    kind = value.get("responseKind") or {}
    found = {"name": name, "singularName": value.get("singularResource", ""), "namespaced": namespaced}
    found |= {part: kind[part] for part in ("group", "version") if kind.get(part)}
    return {**found, "kind": kind.get("kind", ""), "verbs": value.get("verbs") or []}


def _resources(documents: Documents) -> list[Resource]:
    """All resources, those of preferred versions before others."""
    found: list[Resource] = []
    for group in documents.groups:
        preferred = (group.get("preferredVersion") or {}).get("version", "")
        seen: dict[str, None] = {}
        for entry in group.get("versions") or ():
            listed = documents.lists.get(entry["groupVersion"]) or {}
            for resource in _of_list(listed, group.get("name", ""), entry["version"]):
                first = entry["version"] == preferred or resource.plural not in seen
                found.append(replace(resource, preferred=first))
                seen[resource.plural] = None
    return sorted(found, key=lambda resource: not resource.preferred)


def _of_list(document: Object, group: str, version: str) -> Iterable[Resource]:
    listed: list[dict[str, Any]] = document.get("resources") or []
    subresources: dict[str, list[str]] = {}
    for entry in listed:
        name, slash, subresource = entry["name"].partition("/")
        if slash:
            subresources.setdefault(name, []).append(subresource)
    for entry in listed:
        if "/" in entry["name"]:
            continue
        yield Resource(
            gvr=GVR(group, version, entry["name"]),
            kind=entry["kind"],
            singular=entry.get("singularName", ""),
            namespaced=bool(entry.get("namespaced")),
            short_names=tuple(entry.get("shortNames") or ()),
            categories=tuple(entry.get("categories") or ()),
            verbs=tuple(entry.get("verbs") or ()),
            subresources=tuple(subresources.get(entry["name"], ())),
            preferred=False,
        )
