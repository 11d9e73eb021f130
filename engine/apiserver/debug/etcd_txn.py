"""store/txn: a transaction in etcd's JSON (api/etcdserverpb rpc.proto TxnRequest as grpc-gateway reads it), for
`ktui store put|del|txn`. The answer is what `etcdctl txn -w json` prints."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Callable
from typing import Any, Literal

from engine.api.errors import bad_request
from engine.apiserver.debug.etcd_json import kv_json, range_json, sorting
from engine.store.types import (
    Compare,
    DeleteRange,
    DeleteRangeResponse,
    Operation,
    Put,
    PutResponse,
    Range,
    RangeResponse,
    TxnResponse,
)

_RESULTS: dict[str, Literal["=", "!=", ">", "<"]] = {"EQUAL": "=", "NOT_EQUAL": "!=", "GREATER": ">", "LESS": "<"}
# Target, and the field that has what it is compared with.
_TARGETS: dict[str, tuple[Literal["version", "create", "mod", "value", "lease"], str]] = {
    "VERSION": ("version", "version"),
    "CREATE": ("create", "create_revision"),
    "MOD": ("mod", "mod_revision"),
    "VALUE": ("value", "value"),
    "LEASE": ("lease", "lease"),
}


def compare_of(wanted: Any) -> Compare:
    """Raises ApiError 400."""
    fields = _object(wanted, "compare")
    result, target = fields.get("result", "EQUAL"), fields.get("target", "VERSION")
    if str(result) not in _RESULTS or str(target) not in _TARGETS:
        raise bad_request(f"there is no compare of {target} with {result}")
    name, field = _TARGETS[target]
    value = _bytes(fields, field) if name == "value" else _number(fields, field)
    return Compare(_bytes(fields, "key"), name, _RESULTS[result], value)


def operation_of(wanted: Any) -> Operation:
    """Raises ApiError 400."""
    found = _object(wanted, "request")
    for name, make in _OPERATIONS.items():
        if name in found:
            return make(_object(found[name], name))
    raise bad_request(f"give one of {', '.join(_OPERATIONS)}")


def _put(fields: dict[str, Any]) -> Operation:
    return Put(
        _bytes(fields, "key"),
        _bytes(fields, "value"),
        _number(fields, "lease"),
        prev_kv=fields.get("prev_kv") is True,
        ignore_value=fields.get("ignore_value") is True,
        ignore_lease=fields.get("ignore_lease") is True,
    )


def _delete(fields: dict[str, Any]) -> Operation:
    return DeleteRange(_bytes(fields, "key"), _bytes(fields, "range_end"), fields.get("prev_kv") is True)


def _range(fields: dict[str, Any]) -> Operation:
    target, order = sorting(str(fields.get("sort_target", "")), str(fields.get("sort_order", "")))
    return Range(
        _bytes(fields, "key"),
        _bytes(fields, "range_end"),
        revision=_number(fields, "revision"),
        limit=_number(fields, "limit"),
        keys_only=fields.get("keys_only") is True,
        count_only=fields.get("count_only") is True,
        sort_target=target,
        sort_order=order,
    )


_OPERATIONS: dict[str, Callable[[dict[str, Any]], Operation]] = {
    "request_put": _put,
    "request_delete_range": _delete,
    "request_range": _range,
}


def txn_json(response: TxnResponse, header: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {"header": header}
    if response.succeeded:
        found["succeeded"] = True
    if response.responses:
        found["responses"] = [{"Response": _response_json(each)} for each in response.responses]
    return found


def _response_json(response: RangeResponse | PutResponse | DeleteRangeResponse) -> dict[str, Any]:
    header = {"revision": response.revision}
    if isinstance(response, RangeResponse):
        return {"ResponseRange": range_json(response, header)}
    if isinstance(response, PutResponse):
        previous = {"prev_kv": kv_json(response.prev_kv)} if response.prev_kv is not None else {}
        return {"ResponsePut": {"header": header, **previous}}
    found: dict[str, Any] = {"header": header}
    if response.deleted:
        found["deleted"] = response.deleted
    if response.prev_kvs:
        found["prev_kvs"] = [kv_json(kv) for kv in response.prev_kvs]
    return {"ResponseDeleteRange": found}


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise bad_request(f"a {name} must be an object")
    return value


def _bytes(fields: dict[str, Any], name: str) -> bytes:
    value = fields.get(name, "")
    try:
        return b64decode(value, validate=True)
    except (BadBase64, TypeError, ValueError):
        raise bad_request(f"{name}: not base64") from None


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise bad_request(f"{name}: not a number")
    return value
