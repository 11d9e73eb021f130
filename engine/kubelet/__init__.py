"""The node side: SyncLoop, Pod workers, a simulated container runtime behind CRI, probes, status (hop 11)."""

from engine.kubelet.kubelet import Kubelet
from engine.kubelet.runtime.wire import Wire

__all__ = ["Kubelet", "Wire"]
