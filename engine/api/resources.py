"""The resources that an API server serves: one `ResourceInfo` for each, found by path or by kind.

The kinds of a Kubernetes version come from its schemas, the rest from `resource_table`. Custom resources become
`ResourceInfo`s of their own and join through `ResourceRegistry.extended`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from engine.api.extension import Extension
from engine.api.resource_table import FACTS, GROUP_ORDER, SERVED_BETAS, Facts
from engine.api.schema import Definitions, load_definitions, resolve_version
from engine.api.types import GVK, GVR, Object

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_MATURITY = {None: 2, "beta": 1, "alpha": 0}


@dataclass(frozen=True, slots=True)
class Subresource:
    """`gvk` is the kind that a request to it carries or gets, such as autoscaling/v1 Scale."""

    name: str
    verbs: tuple[str, ...]
    gvk: GVK


@dataclass(frozen=True)
class ResourceInfo:
    """All that the server needs to know of a resource besides its schema.

    An object's key in the store is `storage_prefix`, then its namespace if it has one, then its name. `storage_gvk` is
    the kind that it is stored as; where that is not `gvk`, the two convert into one another. `release` is the
    Kubernetes version that the server plays, for what differs between them.
    """

    gvr: GVR
    kind: str
    list_kind: str
    singular: str
    namespaced: bool
    storage_prefix: str
    storage_gvk: GVK
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: Mapping[str, Subresource] = field(default_factory=dict, hash=False)
    custom: bool = False
    release: tuple[int, int] = (99, 0)
    extension: Extension | None = field(default=None, hash=False, compare=False)

    @cached_property
    def gvk(self) -> GVK:
        return GVK(self.gvr.group, self.gvr.version, self.kind)

    @property
    def converts(self) -> bool:
        """Whether what is stored may look otherwise than what is served: another version, or an older schema."""
        return self.custom or self.storage_gvk != self.gvk

    @property
    def stored(self) -> bool:
        """Whether there are objects of it; reviews and bindings are requests only."""
        return "watch" in self.verbs

    def key(self, namespace: str, name: str) -> str:
        """Where the store keeps an object. The namespace of a cluster-scoped object is ""."""
        if self.namespaced:
            return f"{self.storage_prefix}/{namespace}/{name}"
        return f"{self.storage_prefix}/{name}"

    def __repr__(self) -> str:
        return f"<ResourceInfo {self.gvr.group_resource}/{self.gvr.version}>"


class Priority(NamedTuple):
    """Of a group version in discovery: `group` places its group, `version` the version within; the highest is first."""

    group: int
    version: int


class Described(NamedTuple):
    """What another server said of a group version: its resources as the aggregated document has them, whether that is
    so now, and where its OpenAPI document is ("" for none)."""

    resources: list[Object]
    fresh: bool
    openapi: str


class ResourceRegistry:
    """Resources in discovery order: by group priority, then version, then name. Never changed once made."""

    generation = 0  # counts how often the resources have changed, where they do
    # Versions by group that APIServices give to servers of others: known of, not served here.
    elsewhere: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    # By group and version, what is known of those.
    described: Mapping[tuple[str, str], Described] = MappingProxyType({})
    # By group and version, what APIServices say of their places in discovery, where it is not what this server says.
    priorities: Mapping[tuple[str, str], Priority] = MappingProxyType({})

    def __init__(self, version: str, resources: Iterable[ResourceInfo]) -> None:
        self.version = version
        self._resources = sorted(resources, key=_discovery_order)
        self._by_gvr: dict[tuple[str, str, str], ResourceInfo] = {info.gvr: info for info in self._resources}
        self._by_kind = {info.gvk: info for info in self._resources}

    @classmethod
    def for_version(cls, version: str = "") -> ResourceRegistry:
        """The built-in resources that a Kubernetes version serves by default. Raises UnknownVersionError."""
        return _builtin_registry(resolve_version(version))

    def extended(self, resources: Iterable[ResourceInfo]) -> ResourceRegistry:
        """A registry of these and, besides, `resources`."""
        return ResourceRegistry(self.version, [*self._resources, *resources])

    def __iter__(self) -> Iterator[ResourceInfo]:
        return iter(self._resources)

    def __len__(self) -> int:
        return len(self._resources)

    def get(self, group: str, version: str, resource: str) -> ResourceInfo | None:
        return self._by_gvr.get((group, version, resource))

    def by_kind(self, gvk: GVK) -> ResourceInfo | None:
        return self._by_kind.get(gvk)

    @cached_property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The versions of every group, the preferred one first; the core group is ""."""
        found: dict[str, dict[str, None]] = {}
        for info in self._resources:
            found.setdefault(info.gvr.group, {})[info.gvr.version] = None
        return {group: tuple(versions) for group, versions in found.items()}

    def preferred(self, group: str) -> str | None:
        """The preferred version of a group."""
        versions = self.groups.get(group)
        return versions[0] if versions else None

    def in_version(self, group: str, version: str) -> tuple[ResourceInfo, ...]:
        return tuple(info for info in self._resources if info.gvr.group == group and info.gvr.version == version)


@lru_cache(maxsize=4)
def _builtin_registry(version: str) -> ResourceRegistry:
    definitions = load_definitions(version)
    infos = []
    for gvk in definitions.kinds:
        facts = FACTS.get((gvk.group, gvk.kind))
        if facts is not None and _served(gvk):
            infos.append(_resource(gvk, facts, definitions=definitions))
    return ResourceRegistry(version, infos)


def _served(gvk: GVK) -> bool:
    match = _VERSION.fullmatch(gvk.version)
    return match is not None and (match[2] is None or gvk in SERVED_BETAS)


def _resource(gvk: GVK, facts: Facts, *, definitions: Definitions) -> ResourceInfo:
    resource = plural(gvk.kind)
    subresources = {
        name: Subresource(name, sub.verbs, sub.kind or gvk)
        for name, sub in sorted(facts.subresources.items())
        if definitions.release >= sub.since
    }
    return ResourceInfo(
        gvr=GVR(gvk.group, gvk.version, resource),
        kind=gvk.kind,
        list_kind=f"{gvk.kind}List",
        singular=gvk.kind.lower(),
        namespaced=facts.namespaced,
        storage_prefix=f"/registry/{facts.storage_path or resource}",
        storage_gvk=facts.stored_as or _storage_version(gvk, definitions),
        short_names=facts.short_names,
        categories=facts.categories,
        verbs=facts.verbs,
        subresources=subresources,
        release=definitions.release,
    )


def _storage_version(gvk: GVK, definitions: Definitions) -> GVK:
    """Of several served versions of a kind the most mature and newest is the one that is stored."""
    served = [other for other in definitions.kinds if other[::2] == gvk[::2] and _served(other)]
    return max(served, key=lambda other: version_priority(other.version))


def plural(kind: str) -> str:
    """The resource name of a kind (apimachinery meta.UnsafeGuessKindToResource)."""
    singular = kind.lower()
    if singular == "endpoints":
        return singular
    if singular.endswith("s"):
        return f"{singular}es"
    if singular.endswith("y"):
        return f"{singular[:-1]}ies"
    return f"{singular}s"


def version_priority(version: str) -> tuple[int, int, int]:
    """Greater for what Kubernetes prefers: GA before beta before alpha, then newer first (apimachinery pkg/version)."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0)
    return (_MATURITY[match[2]], int(match[1]), int(match[3] or 0))


def version_order(version: str) -> tuple[int, int, int, str]:
    """Smaller for what Kubernetes prefers; names that are no such versions come last, by the alphabet."""
    maturity, major, minor = version_priority(version)
    return (-maturity, -major, -minor, version)


def _discovery_order(info: ResourceInfo) -> tuple[int, str, tuple[int, int, int, str], str]:
    group = info.gvr.group
    place = GROUP_ORDER.index(group) if group in GROUP_ORDER else len(GROUP_ORDER)
    return (place, group, version_order(info.gvr.version), info.gvr.resource)
