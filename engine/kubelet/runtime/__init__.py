"""The simulated container runtime: CRI's calls over containers that are state machines on the model clock."""

from engine.kubelet.runtime.simulated import SimulatedRuntime

__all__ = ["SimulatedRuntime"]
