"""What a cluster is made of: the configuration that `ktui up` and the tests hand to `engine.cluster`."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network, ip_network
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator


class Component(StrEnum):
    """The parts that `--components` chooses from. The API server is always there."""

    APISERVER = "apiserver"
    CONTROLLERS = "controllers"
    SCHEDULER = "scheduler"
    KUBELETS = "kubelets"
    NETWORK = "network"


class NodeConfig(BaseModel):
    """One simulated machine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    cpu: str = "4"
    memory: str = "8Gi"
    pods: int = 110
    zone: str = "zone-a"
    labels: dict[str, str] = Field(default_factory=dict)


def default_nodes(count: int) -> list[NodeConfig]:
    """node-1 to node-N over two zones in turn."""
    return [NodeConfig(name=f"node-{n}", zone=f"zone-{'ab'[(n - 1) % 2]}") for n in range(1, count + 1)]


def default_pod_cidr(nodes: int) -> str:
    """10.244.0.0/16, which holds the /24 of 256 nodes, or as much more around it as so many nodes need."""
    length = min(16, 24 - max(nodes - 1, 0).bit_length())
    return str(IPv4Network(("10.244.0.0", max(length, 9)), strict=False))


class RequestHeaders(BaseModel):
    """Which proxies are believed when they say for whom they ask, and by which headers; as kubeadm has it. `client_ca`
    (PEM) issues their certificates; "" believes none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client_ca: str = ""
    client_ca_file: Path | None = None  # where that stands; None for the cluster's own
    allowed_names: tuple[str, ...] = ("front-proxy-client",)  # of certificates; none allows all
    username_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_headers_prefix: tuple[str, ...] = ("X-Remote-Extra-",)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all headers; of those with keys how they begin."""
        return (*self.username_headers, *self.uid_headers, *self.group_headers, *self.extra_headers_prefix)


class AuditWebhookConfig(BaseModel):
    """A server that audit events are sent to, and how: the names are those of --audit-webhook-*."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    config_file: Path
    mode: Literal["batch", "blocking", "blocking-strict"] = "batch"
    initial_backoff: float = 10.0
    batch_buffer_size: int = 10_000
    batch_max_size: int = 400
    batch_max_wait: float = 30.0
    batch_throttle_enable: bool = True
    batch_throttle_qps: float = 10.0
    batch_throttle_burst: int = 15
    truncate_enabled: bool = False
    truncate_max_batch_size: int = 10 * 1024 * 1024
    truncate_max_event_size: int = 100 * 1024


class WebhookFile(BaseModel):
    """A kubeconfig of a server that is asked, in which version, and for how many seconds what it says holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    config_file: Path
    version: Literal["v1", "v1beta1"] = "v1beta1"
    authorized_ttl: float = 300.0
    unauthorized_ttl: float = 30.0


class ClusterConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = "default"
    data_folder: Path | None = None  # None keeps nothing: the cluster lives and dies with the process
    nodes: list[NodeConfig] = Field(default_factory=lambda: default_nodes(3))
    components: frozenset[Component] = frozenset(Component)
    kubernetes_version: str = ""  # "" is the newest that kubernetes-validate ships; else as in "1.33" or "1.33.0"
    profile: str = "instant"
    latencies: dict[str, tuple[float, float]] | None = None  # a custom profile; stands in place of the named one
    seed: int | str | None = None
    store: Literal["sqlite", "etcd"] = "sqlite"
    etcd_endpoints: tuple[str, ...] = ("http://127.0.0.1:2379",)  # several processes on one etcd serve one cluster
    etcd_cafile: Path | None = None
    etcd_certfile: Path | None = None
    etcd_keyfile: Path | None = None
    etcd_members: Literal[1, 3, 5] = 1  # of the simulated quorum around the sqlite store; 1 simulates none
    compaction_period: float = Field(default=4 * 3600, ge=0)  # model seconds of history that are kept; 0 keeps all
    compaction_revisions: int = Field(default=10_000, ge=0)  # kept whatever their age
    quota_backend_bytes: int = Field(default=2 << 30, ge=1)  # of the sqlite store
    host: str = "127.0.0.1"
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/12"  # or two, of both families: "10.96.0.0/12,fd00:96::/108"
    root_ca: str = ""  # the CA that the API's certificate is from, in PEM; "" for a cluster that is not served
    signing_key: SecretStr = SecretStr("")  # the key of that CA, in PEM, for certificates that are asked for by the API
    request_headers: RequestHeaders = RequestHeaders()
    proxy_client_cert_file: Path | None = None  # shown to servers behind this one; None is the cluster's own
    proxy_client_key_file: Path | None = None
    proxy_client: tuple[str, SecretStr] | None = None  # certificate and key of those, in PEM; None shows nothing
    scheduler_config: Path | None = None  # a KubeSchedulerConfiguration; None is the default profile
    audit_policy_file: Path | None = None  # an audit.k8s.io/v1 Policy; without it nothing is told
    audit_log_path: str = ""  # the file that the audit log goes to; "-" for the standard output
    audit_webhook: AuditWebhookConfig | None = None  # a server that is told as well
    enable_admission_plugins: tuple[str, ...] = ()  # besides those that are on by default
    disable_admission_plugins: tuple[str, ...] = ()
    admission_control_config_file: Path | None = None  # an AdmissionConfiguration (apiserver.config.k8s.io/v1)
    authorization_mode: tuple[str, ...] = ("Node", "RBAC")  # the authorizers, in the order in which they are asked
    authorization_config: Path | None = None  # an AuthorizationConfiguration, which says it instead of those
    authorization_policy_file: Path | None = None  # of ABAC
    authorization_webhook: WebhookFile | None = None
    token_webhook: WebhookFile | None = None  # that is asked whose tokens are
    anonymous_auth: bool = True  # who shows nothing is anonymous, and not refused
    token_auth_file: Path | None = None  # tokens, and who shows each
    authentication_config: Path | None = None  # an AuthenticationConfiguration (apiserver.config.k8s.io/v1)
    oidc: dict[str, Any] | None = None  # one of its JWT authenticators, as the --oidc-* flags say it
    oidc_signing_algs: tuple[str, ...] = ("RS256",)  # of that one
    cors_allowed_origins: tuple[str, ...] = ()  # regular expressions; pages of these origins may read answers
    watch_cache_size: int = Field(default=1000, ge=1)  # events that each resource keeps for its watches
    watch_cache_sizes: dict[str, int] = Field(default_factory=dict)  # of single resources, as in "deployments.apps"

    @model_validator(mode="after")
    def _every_node_gets_a_range_of_addresses(self) -> ClusterConfig:
        if "pod_cidr" not in self.model_fields_set:
            self.pod_cidr = default_pod_cidr(len(self.nodes))
        return self

    @property
    def service_cidrs(self) -> list[str]:
        """The ranges of Services' addresses, that of the default family first."""
        return self.service_cidr.split(",")

    @field_validator("service_cidr")
    @classmethod
    def _services_have_one_range_of_a_family(cls, value: str) -> str:
        families = [ip_network(cidr, strict=False).version for cidr in value.split(",")]
        if len(families) != len(set(families)):
            raise ValueError("there can be one range for each IP family")
        return value

    @field_validator("components")
    @classmethod
    def _apiserver_is_always_there(cls, value: frozenset[Component]) -> frozenset[Component]:
        return value | {Component.APISERVER}
