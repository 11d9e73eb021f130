"""store/status, store/keys, store/value, store/log: the store as etcdctl would show it, for the screen and for curl.

| path | parameters | answer |
| --- | --- | --- |
| store/status | | sizes, revisions, alarms, details of the backend |
| store/keys | prefix, limit, revision, after (a key) | keys with create and mod revision, version, size, lease |
| | contains (any number), labelSelector | of these keys those that have all; `searched` tells how many were looked at |
| store/value | key, revision | one key-value, the value as JSON |
| store/log | after (a revision), prefix, limit | what changed since, oldest first, with causes |
| store/transactions | limit | the newest transactions, those whose comparison failed too |

All others are `debug.etcd`'s and `debug.members`'.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol, runtime_checkable

import orjson

from engine.api.errors import ApiError, bad_request, expired, path_not_found
from engine.api.wire import Request, Response
from engine.apiserver.debug.etcd import EtcdEndpoints
from engine.apiserver.debug.members import MemberEndpoints
from engine.apiserver.debug.parameters import count
from engine.apiserver.debug.sought_keys import SoughtKeys
from engine.clock import Clock
from engine.store.inspection import LogEntry, RecentTxn
from engine.store.types import CompactedError, FutureRevisionError, KeyValue, Range, Store, prefix_end

_LIMIT = 1000
_PAGE = 1000  # keys that are searched at once
_DECODED = 100  # where their values are decoded for it


@runtime_checkable
class Inspectable(Protocol):
    """What a store that shows its inside has besides etcd's own verbs."""

    async def log(self, after: int = 0, limit: int = 500) -> list[LogEntry]: ...

    def recent_txns(self) -> list[RecentTxn]: ...


class StoreEndpoints:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._etcd = EtcdEndpoints(store, clock)
        self._members = MemberEndpoints(store)

    async def answer(self, name: str, request: Request) -> Response:
        """Raises ApiError 404, 405, 410."""
        if name == "members":
            return await self._members.answer(request)
        answer = await self._etcd.answer(name, request)
        if answer is not None:
            return answer
        if request.method not in ("GET", "HEAD"):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        try:
            match name:
                case "status":
                    return Response(200, asdict(await self._store.status()))
                case "keys":
                    return Response(200, await self._keys(request))
                case "value":
                    return Response(200, await self._value(request))
                case "transactions":
                    return Response(200, self._transactions(count(request, "limit")))
                case "log":
                    return Response(200, await self._log(request))
        except CompactedError as error:
            raise expired(str(error)) from None
        except FutureRevisionError as error:
            raise bad_request(str(error)) from None
        raise path_not_found()

    async def _keys(self, request: Request) -> dict[str, Any]:
        prefix = (request.parameter("prefix") or "/").encode()
        after = request.parameter("after").encode()
        start = after + b"\0" if after else prefix
        limit = count(request, "limit") or _LIMIT
        revision = count(request, "revision")
        sought = SoughtKeys.of(request)
        if not sought.are_all:
            page = _PAGE if sought.labels.empty else _DECODED
            return await self._search(sought, Range(start, prefix_end(prefix), revision, page), limit)
        response = await self._store.range(Range(start, prefix_end(prefix), revision=revision, limit=limit))
        return {
            "revision": response.revision,
            "count": response.count,
            "more": response.more,
            "keys": [_described(kv) for kv in response.kvs],
        }

    async def _search(self, sought: SoughtKeys, pages: Range, limit: int) -> dict[str, Any]:
        """Through all keys, some at a time: other requests are answered meanwhile."""
        found: list[KeyValue] = []
        searched = count = 0
        while True:
            response = await self._store.range(pages)
            matching = [kv for kv in response.kvs if sought.have(kv)]
            searched, count = searched + len(response.kvs), count + len(matching)
            found += matching[: limit - len(found)]
            if not response.more:
                break
            # The rest is read at the same revision, so that no key is counted twice or missed.
            pages = pages._replace(key=response.kvs[-1].key + b"\0", revision=pages.revision or response.revision)
        return {
            "revision": response.revision,
            "count": count,
            "searched": searched,
            "more": count > len(found),
            "keys": [_described(kv) for kv in found],
        }

    async def _value(self, request: Request) -> dict[str, Any]:
        key = request.parameter("key")
        if not key:
            raise bad_request("give a key")
        response = await self._store.range(Range(key.encode(), revision=count(request, "revision")))
        if not response.kvs:
            raise ApiError(404, "NotFound", f'key "{key}" not found', details={"kind": "keys", "name": key})
        kv = response.kvs[0]
        return {**_described(kv), "revision": response.revision, "value": _json(kv.value)}

    async def _log(self, request: Request) -> dict[str, Any]:
        if not isinstance(self._store, Inspectable):
            raise ApiError(501, "NotImplemented", "this store's backend keeps no log that can be read", details={})
        prefix = request.parameter("prefix")
        found = await self._store.log(count(request, "after"), count(request, "limit") or _LIMIT)
        return {
            "revision": self._store.revision,
            "entries": [_entry(entry) for entry in found if entry.key.startswith(prefix)],
        }

    def _transactions(self, limit: int) -> dict[str, Any]:
        if not isinstance(self._store, Inspectable):
            raise ApiError(501, "NotImplemented", "this store's backend does not show its transactions", details={})
        return {"transactions": [_transaction(txn) for txn in self._store.recent_txns()[-limit:]]}


def _described(kv: KeyValue) -> dict[str, Any]:
    return {
        "key": _text(kv.key),
        "createRevision": kv.create_revision,
        "modRevision": kv.mod_revision,
        "version": kv.version,
        "size": len(kv.value),
        "lease": kv.lease,
    }


def _entry(entry: LogEntry) -> dict[str, Any]:
    return {
        "revision": entry.revision,
        "sub": entry.sub,
        "type": entry.type,
        "key": entry.key,
        "createRevision": entry.create_revision,
        "version": entry.version,
        "lease": entry.lease,
        "size": entry.size,
        "cause": entry.cause,
    }


def _transaction(txn: RecentTxn) -> dict[str, Any]:
    return {
        "revision": txn.revision,
        "wrote": txn.wrote,
        "succeeded": txn.succeeded,
        "compare": [
            {"key": _text(c.key), "target": c.target, "op": c.op, "value": _text(c.value)} for c in txn.compare
        ],
        "keys": [_text(key) for key in txn.keys],
        "cause": txn.cause,
    }


def _text(value: int | bytes) -> int | str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _json(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except ValueError:
        return value.decode(errors="replace")
