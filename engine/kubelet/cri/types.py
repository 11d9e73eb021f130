"""CRI's messages, as far as the kubelet reads them. Times are the model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from engine.api.types import Object
from engine.disks import Volume
from engine.trace import SpanContext

TERMINATION_LOG = "/dev/termination-log"
USERS = 65536  # in a user namespace


class PodSandboxState(StrEnum):
    READY = "SANDBOX_READY"
    NOTREADY = "SANDBOX_NOTREADY"


class ContainerState(StrEnum):
    CREATED = "CONTAINER_CREATED"
    RUNNING = "CONTAINER_RUNNING"
    EXITED = "CONTAINER_EXITED"
    UNKNOWN = "CONTAINER_UNKNOWN"


class ContainerEventType(StrEnum):
    CREATED = "CONTAINER_CREATED_EVENT"
    STARTED = "CONTAINER_STARTED_EVENT"
    STOPPED = "CONTAINER_STOPPED_EVENT"
    DELETED = "CONTAINER_DELETED_EVENT"


class VersionResponse(NamedTuple):
    runtime_name: str
    runtime_version: str
    runtime_api_version: str = "v1"


class RuntimeCondition(NamedTuple):
    """RuntimeReady or NetworkReady."""

    type: str
    status: bool
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodSandboxConfig:
    name: str
    uid: str
    namespace: str
    attempt: int = 0
    hostname: str = ""
    host_network: bool = False
    sysctls: Mapping[str, str] = field(default_factory=dict)
    shares_processes: bool = False
    log_directory: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class PodSandboxStatus:
    id: str
    config: PodSandboxConfig
    state: PodSandboxState
    created_at: datetime
    ips: tuple[str, ...] = ()

    @property
    def pod_uid(self) -> str:
        return self.config.uid


class Identity(NamedTuple):
    """Whom processes run as: user, primary group, and the groups beside it."""

    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = ()

    @property
    def all_groups(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((self.gid, *self.groups)))


ROOT = Identity()


class Mount(NamedTuple):
    container_path: str
    host_path: str
    readonly: bool = False
    volume: Volume | None = None
    sub_path: str = ""


@dataclass(frozen=True, slots=True)
class ContainerConfig:
    """`resources` and `user` are in the API's words, as the status reports them."""

    name: str
    attempt: int
    image: str
    image_ref: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    envs: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    log_path: str = ""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    user: int | None = None  # None: the image's
    group: int = 0
    groups: tuple[int, ...] = ()
    readonly_rootfs: bool = False
    privileged: bool = False
    capabilities: Object = field(default_factory=dict)  # what to add and to drop, in the API's words
    no_new_privileges: bool = False
    seccomp: bool = False  # whether calls of the kernel are filtered
    pid_target: str = ""  # the container whose processes it sees
    first_user: int = 0  # of the node, who is root in its user namespace; 0 without one
    termination_message_path: str = TERMINATION_LOG
    resources: Object = field(default_factory=dict)
    ports: tuple[int, ...] = ()


@dataclass(slots=True)
class ContainerStatus:
    id: str
    sandbox_id: str
    pod_uid: str
    config: ContainerConfig
    state: ContainerState
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int = 0
    image: str = ""
    image_ref: str = ""
    image_id: str = ""
    reason: str = ""
    message: str = ""
    signal: int = 0
    identity: Identity = ROOT

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def attempt(self) -> int:
        return self.config.attempt


Container = ContainerStatus  # the list entry tells less of the same


@dataclass(frozen=True, slots=True)
class Image:
    id: str
    repo_tags: tuple[str, ...]
    repo_digests: tuple[str, ...]
    size: int
    simulated_size: bool = False  # the size was made up from the name
    uid: int | None = None  # whom it runs as; None where that is not known


@dataclass(slots=True)
class PullProgress:
    """A pull that waits or runs. Not part of CRI; containerd shows the same through its own API."""

    image: str
    size: int
    queued_at: float
    started_at: float | None = None
    expected_seconds: float = 0.0


class ExecResult(NamedTuple):
    stdout: str
    stderr: str
    exit_code: int


class ContainerEvent(NamedTuple):
    """GetContainerEvents' message, with the cause that the trace needs."""

    type: ContainerEventType
    container_id: str
    pod_uid: str
    sandbox: bool
    cause: SpanContext | None = None
