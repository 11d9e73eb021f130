"""What a ResourceClaim got, who uses it, and what drivers say of its devices (validateResourceClaimStatusUpdate)."""

from __future__ import annotations

from collections.abc import Mapping, Set

from engine.api.errors import Stringer
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.conditions import conditions
from engine.api.validation.device_values import (
    binding_conditions,
    dns_label,
    items,
    json_object,
    pool_name,
    share_id,
    skipped_operations,
    toleration,
    unique_items,
)
from engine.api.validation.devices import configuration, reference, references, request_names
from engine.api.validation.placement import node_selector
from engine.api.validation.problems import Problems
from engine.api.validation.volume_sources import csi_driver_name

_MOST_CONSUMERS, _MOST_RESULTS, _MOST_CONFIGURATIONS, _MOST_CONDITIONS = 256, 32, 64, 8
_DATA_LENGTH = 10 * 1024
_INTERFACE_LENGTH, _HARDWARE_LENGTH, _MOST_ADDRESSES = 256, 128, 16
_SOURCES = ("FromClaim", "FromClass")
_NO_NEW_CONSUMERS = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"


def resource_claim_status(new: Object, old: Object, problems: Problems) -> None:
    status, before = new.get("status") or {}, old.get("status") or {}
    consumers, allocation = status.get("reservedFor") or [], status.get("allocation")
    path = "status.reservedFor"
    unique_items(consumers, path, _MOST_CONSUMERS, _consumer, problems, key=lambda consumer: consumer.get("uid", ""))
    _device_statuses(status, problems)
    if consumers and allocation is None:
        problems.forbidden(path, "may not be specified when `allocated` is not set")
    elif "deletionTimestamp" in new["metadata"] and _joined(consumers, before.get("reservedFor") or []):
        problems.forbidden(path, _NO_NEW_CONSUMERS)
    if allocation is None:
        return
    if before.get("allocation") is not None:
        problems.immutable("status.allocation", allocation, before["allocation"])
    else:
        _allocation(allocation, request_names((new.get("spec") or {}).get("devices") or {}), problems)


def _joined(consumers: list[Object], before: list[Object]) -> bool:
    return any(consumer not in before for consumer in consumers)


def _consumer(consumer: Object, path: str, problems: Problems) -> None:
    problems.required_fields(consumer, path, "resource", "name", "uid")


def _allocation(allocation: Object, names: Mapping[str, Set[str]], problems: Problems) -> None:
    path, devices = "status.allocation", allocation.get("devices") or {}

    def result(found: Object, path: str, problems: Problems) -> None:
        reference(found.get("request", ""), f"{path}.request", names, problems)
        _result(found, path, problems)

    def configured(found: Object, path: str, problems: Problems) -> None:
        problems.one_of(f"{path}.source", found.get("source", ""), _SOURCES)
        references(found.get("requests"), f"{path}.requests", names, problems)
        configuration(found, path, problems)

    items(devices.get("results"), f"{path}.devices.results", _MOST_RESULTS, result, problems)
    items(devices.get("config"), f"{path}.devices.config", _MOST_CONFIGURATIONS, configured, problems)
    if allocation.get("nodeSelector") is not None:
        node_selector(allocation["nodeSelector"], f"{path}.nodeSelector", problems)


def _result(found: Object, path: str, problems: Problems) -> None:
    _device_name(found, path, problems)
    binding_conditions(found, path, problems)
    items(found.get("tolerations"), f"{path}.tolerations", None, toleration, problems)
    if found.get("shareID") is not None:
        share_id(found["shareID"], f"{path}.shareID", problems)
    skipped_operations(found.get("skipNodeOperations"), f"{path}.skipNodeOperations", problems)


def _device_name(found: Object, path: str, problems: Problems) -> None:
    csi_driver_name(found.get("driver", ""), f"{path}.driver", problems)
    pool_name(found.get("pool", ""), f"{path}.pool", problems)
    dns_label(found.get("device", ""), f"{path}.device", problems)


def _device_id(found: Object) -> Stringer:
    """The SharedDeviceID of package structured, which says itself what it is."""
    parts = [found.get(field, "") for field in ("driver", "pool", "device")]
    return Stringer("/".join([*parts, found["shareID"]] if found.get("shareID") else parts))


def _device_statuses(status: Object, problems: Problems) -> None:
    results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
    allocated = {_device_id(result) for result in results}

    def check(found: Object, path: str, problems: Problems) -> None:
        _device_name(found, path, problems)
        if found.get("shareID") is not None:
            share_id(found["shareID"], f"{path}.shareID", problems)
        if _device_id(found) not in allocated:
            problems.invalid(path, _device_id(found), "must be an allocated device in the claim")
        _said(found, path, problems)

    unique_items(status.get("devices"), "status.devices", None, check, problems, key=_device_id)


def _said(found: Object, path: str, problems: Problems) -> None:
    told = found.get("conditions") or []
    if len(told) > _MOST_CONDITIONS:
        problems.too_many(f"{path}.conditions", len(told), _MOST_CONDITIONS)
    conditions(told, f"{path}.conditions", problems)
    if found.get("data") is not None:
        json_object(found["data"], f"{path}.data", _DATA_LENGTH, problems)
    network = found.get("networkData")
    if network is not None:
        _network(network, f"{path}.networkData", problems)


def _network(network: Object, path: str, problems: Problems) -> None:
    for field, most in (("interfaceName", _INTERFACE_LENGTH), ("hardwareAddress", _HARDWARE_LENGTH)):
        if len(network.get(field, "").encode()) > most:
            problems.too_long(f"{path}.{field}", most)
    unique_items(network.get("ips"), f"{path}.ips", _MOST_ADDRESSES, _address, problems)


def _address(value: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, value, text.interface_address(value))
