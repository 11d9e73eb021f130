"""What DynamicResources keeps of claims: of a pod's for one attempt, and of all for all profiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.resource_claims import RESOURCE_CLAIMS

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class KnownClaims:
    """All claims as they will be (upstream's DRAManager): `pending` are those whose allocation is being written, by
    uid."""

    def __init__(self, handle: Handle) -> None:
        self.claims = Assumptions(RESOURCE_CLAIMS, handle)
        self.pending: dict[str, Object] = {}


@dataclass(slots=True)
class ClaimState:
    """`unavailable` are the claims that a node was rejected for, `found` the allocations by node, `allocations` those
    of the chosen node by the claims' uids. `own` is the scheduler's claim for extended resources, `own_on` what it is
    on each node with who gets what of it, `written` what has become of it."""

    claims: list[Object]
    allocator: Allocator | None = None
    unavailable: dict[str, Object] = field(default_factory=dict)
    found: dict[str, list[Object]] = field(default_factory=dict)
    allocations: dict[str, Object] = field(default_factory=dict)
    own: Object | None = None
    own_on: dict[str, tuple[Object, list[Object]]] = field(default_factory=dict)
    written: Object | None = None

    @property
    def empty(self) -> bool:
        return not self.claims and self.own is None

    def to_allocate(self, node_name: str) -> list[Object]:
        """The claims that `found` has the allocations of on a node, in its order."""
        own = self.own_on.get(node_name)
        return [*(self.allocator.claims if self.allocator is not None else ()), *([own[0]] if own is not None else ())]

    def clone(self) -> ClaimState:
        return self
