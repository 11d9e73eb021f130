"""The Container Runtime Interface: what the kubelet asks of a runtime (cri-api runtime/v1 api.proto)."""

from engine.kubelet.cri.errors import CriError
from engine.kubelet.cri.services import ImageService, Runtime, RuntimeService
from engine.kubelet.cri.types import (
    TERMINATION_LOG,
    USERS,
    Container,
    ContainerConfig,
    ContainerEvent,
    ContainerEventType,
    ContainerState,
    ContainerStatus,
    ExecResult,
    Identity,
    Image,
    Mount,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
    PullProgress,
    RuntimeCondition,
    VersionResponse,
)

__all__ = [
    "TERMINATION_LOG",
    "USERS",
    "Container",
    "ContainerConfig",
    "ContainerEvent",
    "ContainerEventType",
    "ContainerState",
    "ContainerStatus",
    "CriError",
    "ExecResult",
    "Identity",
    "Image",
    "ImageService",
    "Mount",
    "PodSandboxConfig",
    "PodSandboxState",
    "PodSandboxStatus",
    "PullProgress",
    "Runtime",
    "RuntimeCondition",
    "RuntimeService",
    "VersionResponse",
]
