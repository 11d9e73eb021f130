"""The StatefulSet controller: Pods with names and storage of their own, one after another."""

from engine.controllers.statefulset.controller import StatefulSetController

__all__ = ["StatefulSetController"]
