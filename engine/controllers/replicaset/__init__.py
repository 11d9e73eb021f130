"""The ReplicaSet controller: as many Pods of a template as asked for."""

from engine.controllers.replicaset.controller import ReplicaSetController

__all__ = ["ReplicaSetController"]
