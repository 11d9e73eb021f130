"""The ReplicationController controller: the ReplicaSet controller on the older kind, whose selector is a plain map
(pkg/controller/replication)."""

from __future__ import annotations

from typing import ClassVar

from engine.api.selectors import LabelSelector
from engine.api.types import GVK, GVR, Object
from engine.controllers.replicaset import ReplicaSetController


class ReplicationController(ReplicaSetController):
    name = "replication-controller"
    kind = "replicationcontroller"
    resource: ClassVar[GVR] = GVR("", "v1", "replicationcontrollers")
    gvk: ClassVar[GVK] = GVK("", "v1", "ReplicationController")
    counts_terminating = False

    def selector(self, owner: Object) -> LabelSelector:
        return LabelSelector.from_labels(owner["spec"].get("selector"))
