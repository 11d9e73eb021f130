"""HTTP extenders: filters, priorities, binding and preemption by services outside of the scheduler (KEP 1819)."""

from engine.scheduler.extenders.extender import Extender, ExtenderError

__all__ = ["Extender", "ExtenderError"]
