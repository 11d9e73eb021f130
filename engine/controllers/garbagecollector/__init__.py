"""The garbage collector: what no owner holds any more is deleted."""

from engine.controllers.garbagecollector.controller import GarbageCollector

__all__ = ["GarbageCollector"]
