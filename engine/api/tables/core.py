"""The tables of the core group's plain kinds: Nodes, Namespaces, Secrets, ConfigMaps, Events (printers.go)."""

from __future__ import annotations

from functools import cached_property

from engine.api.tables.columns import AGE, META, NAME, Column, Field, KindTable, Row, kind_table
from engine.api.tables.formats import condition, quantity

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def _node_status(row: Row) -> str:
    ready = condition(row.status, "Ready")
    status = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if row.spec.get("unschedulable") else status


def _node_roles(row: Row) -> str:
    roles: set[str] = set()
    for key, value in (row.metadata.get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE_LABEL:
            roles.add(value)
    return ",".join(sorted(roles - {""})) or "<none>"


def _node_address(row: Row, kind: str) -> str:
    addresses = row.status.get("addresses") or ()
    return next((str(item.get("address", "")) for item in addresses if item.get("type") == kind), "<none>")


def _node_info(row: Row, field: str, unknown: str = "<unknown>") -> str:
    return (row.status.get("nodeInfo") or {}).get(field) or unknown


def _kernel(row: Row) -> str:
    """With the architecture that it is built for."""
    kernel, architecture = _node_info(row, "kernelVersion"), _node_info(row, "architecture", "")
    return f"{kernel} ({architecture})" if architecture else kernel


_NODE_INFO = "api.core.v1.NodeSystemInfo"
_ADDRESSES = Field("api.core.v1.NodeStatus", "addresses")
_NODE_COLUMNS: tuple[Column[Row], ...] = (
    NAME,
    Column("Status", _node_status, "The status of the node"),
    Column("Roles", _node_roles, "The roles of the node"),
    AGE,
    Column("Version", lambda row: _node_info(row, "kubeletVersion", ""), Field(_NODE_INFO, "kubeletVersion")),
    Column("Internal-IP", lambda row: _node_address(row, "InternalIP"), _ADDRESSES, priority=1),
    Column("External-IP", lambda row: _node_address(row, "ExternalIP"), _ADDRESSES, priority=1),
    Column("OS-Image", lambda row: _node_info(row, "osImage"), Field(_NODE_INFO, "osImage"), priority=1),
)
_KERNEL = Field(_NODE_INFO, "kernelVersion")
_RUNTIME: Column[Row] = Column(
    "Container-Runtime",
    lambda row: _node_info(row, "containerRuntimeVersion"),
    Field(_NODE_INFO, "containerRuntimeVersion"),
    priority=1,
)
NODES = kind_table(*_NODE_COLUMNS, Column("Kernel-Version", _kernel, _KERNEL, priority=1), _RUNTIME)
NODES_WITHOUT_ARCHITECTURE = kind_table(
    *_NODE_COLUMNS,
    Column("Kernel-Version", lambda row: _node_info(row, "kernelVersion"), _KERNEL, priority=1),
    _RUNTIME,
)

NAMESPACES = kind_table(
    NAME, Column("Status", lambda row: row.status.get("phase", ""), "The status of the namespace"), AGE
)

SECRETS = kind_table(
    NAME,
    Column("Type", lambda row: row.object.get("type", ""), Field("api.core.v1.Secret", "type")),
    Column("Data", lambda row: len(row.object.get("data") or ()), Field("api.core.v1.Secret", "data")),
    AGE,
)

CONFIG_MAPS = kind_table(
    NAME,
    Column(
        "Data",
        lambda row: len(row.object.get("data") or ()) + len(row.object.get("binaryData") or ()),
        Field("api.core.v1.ConfigMap", "data"),
    ),
    AGE,
)

SERVICE_ACCOUNTS = kind_table(NAME, AGE)
SERVICE_ACCOUNTS_WITH_SECRETS = kind_table(
    NAME,
    Column("Secrets", lambda row: len(row.object.get("secrets") or ()), Field("api.core.v1.ServiceAccount", "secrets")),
    AGE,
)


class EventRow(Row):
    """An Event of either API: core/v1 names `involvedObject`, `message` and `source`, events.k8s.io/v1 `regarding`,
    `note` and the old fields with `deprecated` before their names."""

    @cached_property
    def first_seen(self) -> str:
        first = self.object.get("firstTimestamp") or self.object.get("deprecatedFirstTimestamp")
        return self.since(first or self.object.get("eventTime"))

    @property
    def last_seen(self) -> str:
        if self.object.get("series") is not None:
            return self.since(self.object["series"].get("lastObservedTime"))
        last = self.object.get("lastTimestamp") or self.object.get("deprecatedLastTimestamp")
        return self.since(last) if last else self.first_seen

    @property
    def count(self) -> int:
        if self.object.get("series") is not None:
            return int(self.object["series"].get("count", 0))
        return int(self.object.get("count") or self.object.get("deprecatedCount") or 1)

    @property
    def target(self) -> str:
        reference = self._reference
        kind = str(reference.get("kind", "")).lower()
        return f"{kind}/{reference['name']}" if reference.get("name") else kind

    @property
    def _reference(self) -> dict[str, str]:
        return self.object.get("involvedObject") or self.object.get("regarding") or {}

    @property
    def subobject(self) -> str:
        return self._reference.get("fieldPath", "")

    @property
    def source(self) -> str:
        source = self.object.get("source") or self.object.get("deprecatedSource") or {}
        reporter = self.object.get("reportingComponent") or self.object.get("reportingController") or ""
        component = source.get("component") or reporter
        instance = source.get("host") or self.object.get("reportingInstance") or ""
        return f"{component}, {instance}" if instance else str(component)

    @property
    def message(self) -> str:
        return str(self.object.get("message") or self.object.get("note") or "").strip()


_EVENT = "api.core.v1.Event"
EVENTS: KindTable[EventRow] = KindTable(
    EventRow,
    (
        Column("Last Seen", lambda row: row.last_seen, Field(_EVENT, "lastTimestamp")),
        Column("Type", lambda row: row.object.get("type", ""), Field(_EVENT, "type")),
        Column("Reason", lambda row: row.object.get("reason", ""), Field(_EVENT, "reason")),
        Column("Object", lambda row: row.target, Field(_EVENT, "involvedObject")),
        Column("Subobject", lambda row: row.subobject, Field("api.core.v1.ObjectReference", "fieldPath"), priority=1),
        Column("Source", lambda row: row.source, Field(_EVENT, "source"), priority=1),
        Column("Message", lambda row: row.message, Field(_EVENT, "message")),
        Column("First Seen", lambda row: row.first_seen, Field(_EVENT, "firstTimestamp"), priority=1),
        Column("Count", lambda row: row.count, Field(_EVENT, "count"), priority=1),
        Column("Name", lambda row: row.name, Field(META, "name"), format="name", priority=1),
    ),
)


def _quota(row: Row, *, limits: bool) -> str:
    hard, used = row.status.get("hard") or {}, row.status.get("used") or {}
    names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
    return ", ".join(f"{name}: {quantity(used.get(name))}/{quantity(hard[name])}" for name in names)


RESOURCE_QUOTAS = kind_table(
    NAME,
    Column(
        "Request",
        lambda row: _quota(row, limits=False),
        "Request represents a minimum amount of cpu/memory that a container may consume.",
    ),
    Column(
        "Limit",
        lambda row: _quota(row, limits=True),
        "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the "
        "node.",
    ),
    AGE,
)


def _health(row: Row, field: str) -> str:
    healthy = next((item for item in row.object.get("conditions") or () if item.get("type") == "Healthy"), None)
    if field == "status":
        if healthy is None:
            return "Unknown"
        return "Healthy" if healthy.get("status") == "True" else "Unhealthy"
    return str((healthy or {}).get(field, ""))


COMPONENT_STATUSES = kind_table(
    NAME,
    Column("Status", lambda row: _health(row, "status"), "Status of the component conditions"),
    Column("Message", lambda row: _health(row, "message"), "Message of the component conditions"),
    Column("Error", lambda row: _health(row, "error"), "Error of the component conditions"),
)
