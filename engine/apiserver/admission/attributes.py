"""What an admission plugin is asked, and what a plugin is (apiserver pkg/admission interfaces.go, errors.go)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

from engine.api.errors import ApiError, forbidden
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object
from engine.api.validation.text import qualified_name
from engine.apiserver.admission.reinvocation import Reinvocation
from engine.apiserver.authentication.user import UserInfo


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


CREATES = frozenset((Operation.CREATE,))
UPDATES = frozenset((Operation.UPDATE,))
WRITES = CREATES | UPDATES
CHANGES = WRITES | {Operation.DELETE}


@dataclass(slots=True)
class Attributes:
    """`object` is the request's own copy, which mutating plugins change in place; None for a delete.
    `old` is frozen; None for a create."""

    operation: Operation
    resource: ResourceInfo
    subresource: str
    namespace: str
    name: str
    user: UserInfo
    object: Object | None
    old: Object | None = None
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)  # for the client
    annotations: dict[str, str] = field(default_factory=dict)  # for the audit log, as the spans show them
    verb: str = ""  # of the request: an UPDATE may be a patch
    options: Object | None = None  # of the verb: CreateOptions and its like
    reinvoked: bool = False  # whether this is the second round of mutating plugins
    wants_reinvocation: bool = False
    rounds: dict[str, Reinvocation] = field(default_factory=dict)  # what plugins remember of the first, by their names
    conversions: list[tuple[GVR, Object, Object]] = field(default_factory=list)  # that webhooks have made for plugins
    key: str = field(init=False)  # `pods`, `deployments.apps`, with a subresource `pods/status`: every plugin asks

    def __post_init__(self) -> None:
        base = self.resource.gvr.group_resource
        self.key = f"{base}/{self.subresource}" if self.subresource else base

    def annotate(self, key: str, value: str) -> None:
        """For the audit log, under a key that somebody else has chosen: one that is none, or is taken, is let be."""
        if key.count("/") == 1 and not qualified_name(key):
            self.annotations.setdefault(key, value)


class Watched(Protocol):
    """A watch cache that is ready: where its generation is another, what it holds has changed, or it is out of date."""

    @property
    def generation(self) -> int: ...


class Plugin:
    """Overrides what it needs. `mutate` says whether it changed the object; both raise ApiError to refuse.

    What upstream checks elsewhere than in a plugin has no name, and is not listed with them."""

    name: ClassVar[str] = ""
    operations: ClassVar[frozenset[Operation]] = frozenset(Operation)  # those that it has to do with at all
    resources: ClassVar[frozenset[str]] = frozenset()  # and those, by `Attributes.key`; none for all
    default: ClassVar[bool] = True  # whether it is on unless it is turned off

    @classmethod
    def takes_part(cls, step: str) -> bool:
        """In the step of admission that is called `admit` or `validate`."""
        return (cls.mutate is not Plugin.mutate) if step == "admit" else (cls.validate is not Plugin.validate)

    async def mutate(self, attributes: Attributes) -> bool:
        return False

    async def ground(self, attributes: Attributes) -> Hashable:
        """What, besides what a new Pod says for itself, the change of `mutate` to it follows from: two that say the
        same are changed alike where this is equal. None where that cannot be said. It changes nothing, and raises
        ApiError where `mutate` would refuse."""
        return None

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        """The caches from which alone, besides what a new Pod says for itself, its answer in a step follows; None where
        it has to be asked about each Pod. Of a Pod that it has accepted, and where `ground` is not None."""
        return None

    def spare(self, attributes: Attributes) -> None:
        """What it does about each new Pod that it accepts without being asked (`follows`): most do nothing."""

    def draw(self) -> str:
        """A name as `mutate` draws one for each new Pod; "" for a plugin that draws none."""
        return ""

    async def validate(self, attributes: Attributes) -> None:
        """Accept, or raise."""


def version_of(obj: Object) -> Hashable:
    """Tells an object as it is from what it was, and from others of its name."""
    metadata = obj["metadata"]
    return metadata.get("uid"), metadata.get("resourceVersion")


def denied(attributes: Attributes, why: str) -> ApiError:
    """403 as admission.NewForbidden words it."""
    name = attributes.name
    if not name:
        metadata = (attributes.object or {}).get("metadata") or {}
        name = metadata.get("name") or metadata.get("generateName") or "Unknown"
    return forbidden(attributes.resource.gvr, name, why)
