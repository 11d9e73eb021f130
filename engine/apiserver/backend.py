"""What the REST verbs work with: one bundle, made by the server when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions
from engine.apiserver.admission import AdmissionChain
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.registry.hooks import Hooks
from engine.apiserver.storage import Storage
from engine.rng import Rng
from engine.world import World


@dataclass(slots=True)
class Backend:
    world: World
    definitions: Definitions
    resources: ResourceRegistry
    storage: Storage
    caches: WatchCaches
    authorizer: UnionAuthorizer
    admission: AdmissionChain
    hooks: Hooks
    uids: Rng
    names: Rng
    times: Rng = field(repr=False)
