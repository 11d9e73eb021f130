"""etcd's documents as Go writes them in JSON: keys and values in base64, fields that are zero left out."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Literal

from engine.api.errors import bad_request
from engine.store.types import Event, KeyValue, RangeResponse

Target = Literal["key", "version", "create", "mod", "value"]
Order = Literal["none", "ascend", "descend"]

_TARGETS: dict[str, Target] = {
    "": "key",
    "KEY": "key",
    "VERSION": "version",
    "CREATE": "create",
    "MODIFY": "mod",
    "VALUE": "value",
}
_ORDERS: dict[str, Order] = {"": "none", "ASCEND": "ascend", "DESCEND": "descend"}


def sorting(target: str, order: str) -> tuple[Target, Order]:
    """How a range is sorted, by etcdctl's names. Raises ApiError 400.

    A target without an order sorts ascending, as etcdctl asks for it; the key's own order needs no sort.
    """
    target, order = target.upper(), order.upper()
    if target not in _TARGETS:
        raise bad_request(f"bad sort target {target}")
    if order not in _ORDERS:
        raise bad_request(f"bad sort order {order}")
    return _TARGETS[target], "ascend" if target not in ("", "KEY") and not order else _ORDERS[order]


def range_json(response: RangeResponse, header: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {"header": header}
    if response.kvs:
        found["kvs"] = [kv_json(kv) for kv in response.kvs]
    if response.more:
        found["more"] = True
    if response.count:
        found["count"] = response.count
    return found


def kv_json(kv: KeyValue) -> dict[str, Any]:
    fields = {
        "key": b64encode(kv.key).decode(),
        "create_revision": kv.create_revision,
        "mod_revision": kv.mod_revision,
        "version": kv.version,
        "value": b64encode(kv.value).decode(),
        "lease": kv.lease,
    }
    return {name: value for name, value in fields.items() if value}


def event_json(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {"type": 1} if event.type == "DELETE" else {}
    found["kv"] = kv_json(event.kv)
    if event.prev_kv is not None:
        found["prev_kv"] = kv_json(event.prev_kv)
    return found
