"""What-if: the scheduler over a copy of a cluster. It decides as the real one does, and binds nothing."""

from engine.scheduler.whatif.cluster import ClusterObjects, DumpError
from engine.scheduler.whatif.simulation import Outcome, Simulation
from engine.scheduler.whatif.workloads import pods_of

__all__ = ["ClusterObjects", "DumpError", "Outcome", "Simulation", "pods_of"]
