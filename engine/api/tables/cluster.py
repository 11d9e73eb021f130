"""The tables of what runs the cluster itself: leases, priorities, flow control, devices, storage versions
(printers.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.tables.columns import AGE, META, NAME, Column, Field, Row, kind_table
from engine.api.tables.formats import condition, with_more
from engine.api.types import Object

LEASES = kind_table(
    NAME,
    Column(
        "Holder",
        lambda row: row.spec.get("holderIdentity", ""),
        Field("api.coordination.v1.LeaseSpec", "holderIdentity"),
    ),
    AGE,
)

LEASE_CANDIDATES = kind_table(
    NAME,
    Column(
        "LeaseName",
        lambda row: row.spec.get("leaseName", ""),
        Field("api.coordination.v1beta1.LeaseCandidateSpec", "leaseName"),
    ),
    Column("BinaryVersion", lambda row: row.spec.get("binaryVersion", "")),
    Column("EmulationVersion", lambda row: row.spec.get("emulationVersion", "")),
    AGE,
)

_PRIORITY = "api.scheduling.v1.PriorityClass"
PRIORITY_CLASSES = kind_table(
    NAME,
    Column("Value", lambda row: row.object.get("value", 0), Field(_PRIORITY, "value"), type="integer"),
    Column(
        "Global-Default",
        lambda row: bool(row.object.get("globalDefault")),
        Field(_PRIORITY, "globalDefault"),
        type="boolean",
    ),
    AGE,
    Column(
        "PreemptionPolicy", lambda row: row.object.get("preemptionPolicy", ""), Field(_PRIORITY, "preemptionPolicy")
    ),
)

RUNTIME_CLASSES = kind_table(NAME, Column("Handler", lambda row: row.object.get("handler", "")), AGE)


def _distinguisher(row: Row) -> str:
    method = row.spec.get("distinguisherMethod")
    return "<none>" if method is None else str(method.get("type", ""))


def _dangling(row: Row) -> str:
    found = condition(row.status, "Dangling")
    return "?" if found is None else str(found.get("status", ""))


def _precedence(schema: Object) -> tuple[int, str]:
    """Flow schemas are listed as they are tried: by precedence, then by name."""
    return (schema.get("spec") or {}).get("matchingPrecedence", 0), (schema.get("metadata") or {}).get("name", "")


_FLOW = "api.flowcontrol.v1.FlowSchemaSpec"
FLOW_SCHEMAS = kind_table(
    NAME,
    Column(
        "PriorityLevel",
        lambda row: (row.spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        Field("api.flowcontrol.v1.PriorityLevelConfigurationReference", "name"),
    ),
    Column("MatchingPrecedence", lambda row: row.spec.get("matchingPrecedence", 0), Field(_FLOW, "matchingPrecedence")),
    Column("DistinguisherMethod", _distinguisher, Field(_FLOW, "distinguisherMethod")),
    AGE,
    Column("MissingPL", _dangling, "references a broken or non-existent PriorityLevelConfiguration"),
    order=_precedence,
)


def _limited(row: Row) -> Mapping[str, Any]:
    return row.spec.get("limited") or {}


def _queuing(field: str) -> Column[Row]:
    return Column(
        field[0].upper() + field[1:],
        lambda row: ((_limited(row).get("limitResponse") or {}).get("queuing") or {}).get(field, "<none>"),
        Field("api.flowcontrol.v1.QueuingConfiguration", field),
    )


PRIORITY_LEVELS = kind_table(
    NAME,
    Column(
        "Type",
        lambda row: row.spec.get("type", ""),
        Field("api.flowcontrol.v1.PriorityLevelConfigurationSpec", "type"),
    ),
    Column(
        "NominalConcurrencyShares",
        lambda row: _limited(row).get("nominalConcurrencyShares", "<none>"),
        Field("api.flowcontrol.v1.LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
    ),
    _queuing("queues"),
    _queuing("handSize"),
    _queuing("queueLengthLimit"),
    AGE,
)


def _claim_state(row: Row) -> str:
    states = ["deleted"] if row.deleting else []
    if row.status.get("allocation") is not None:
        states.append("allocated")
        if row.status.get("reservedFor"):
            states.append("reserved")
    elif not row.deleting:
        states.append("pending")
    return ",".join(states)


RESOURCE_CLAIMS = kind_table(
    NAME,
    Column("State", _claim_state, "A summary of the current state (allocated, pending, reserved, etc.)."),
    AGE,
)

_SLICE = "api.resource.v1.ResourceSliceSpec"
RESOURCE_SLICES = kind_table(
    NAME,
    Column("Node", lambda row: row.spec.get("nodeName", ""), Field(_SLICE, "nodeName")),
    Column("Driver", lambda row: row.spec.get("driver", ""), Field(_SLICE, "driver")),
    Column(
        "Pool",
        lambda row: (row.spec.get("pool") or {}).get("name", ""),
        Field("api.resource.v1.ResourcePool", "name"),
    ),
    AGE,
)


_TAINT = "api.resource.v1.DeviceTaint"


def _taint_field(name: str, field: str) -> Column[Row]:
    return Column(name, lambda row: (row.spec.get("taint") or {}).get(field, ""), Field(_TAINT, field))


def _taint_added(row: Row) -> str:
    added = (row.spec.get("taint") or {}).get("timeAdded")
    return row.since(added) if added else ""


DEVICE_TAINT_RULES = kind_table(
    NAME,
    _taint_field("Key", "key"),
    _taint_field("Value", "value"),
    _taint_field("Effect", "effect"),
    Column("TimeAdded", _taint_added, Field(_TAINT, "timeAdded")),
    AGE,
)


def _versions(row: Row) -> str:
    servers = row.status.get("storageVersions") or ()
    shown = [f"{server.get('apiServerID', '')}={server.get('encodingVersion', '')}" for server in servers]
    return with_more(shown, 3) or "<unset>"


def _api_server(row: Row) -> str:
    service = row.spec.get("service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(row: Row) -> str:
    found = condition(row.status, "Available")
    if found is None:
        return "Unknown"
    return "True" if found.get("status") == "True" else f"{found.get('status', '')} ({found.get('reason', '')})"


API_SERVICES = kind_table(
    NAME,
    Column("Service", _api_server, "The reference to the service that hosts this API endpoint."),
    Column("Available", _available, "Whether this service is available."),
    AGE,
)

_STORAGE_VERSION = "api.apiserverinternal.v1alpha1.StorageVersionStatus"
STORAGE_VERSIONS = kind_table(
    NAME,
    Column(
        "CommonEncodingVersion",
        lambda row: row.status.get("commonEncodingVersion", "<unset>"),
        Field(_STORAGE_VERSION, "commonEncodingVersion"),
    ),
    Column("StorageVersions", _versions, Field(_STORAGE_VERSION, "storageVersions")),
    AGE,
)


def _migrated(row: Row) -> str:
    """With the version where the API has one; the core group's name is empty, the dot before it stays."""
    resource = row.spec.get("resource") or {}
    version = [resource["version"]] if "version" in resource else []
    return ".".join([resource.get("resource", ""), *version, resource.get("group", "")])


STORAGE_VERSION_MIGRATIONS = kind_table(
    Column("Name", lambda row: row.name, Field(META, "name")),
    Column("Resource", _migrated, "Fully qualified resource to migrate"),
)
