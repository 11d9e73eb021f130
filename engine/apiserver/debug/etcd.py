"""The store through etcd's own words, for `ktui store`: what etcdctl prints comes from here, as etcd's JSON has it.

| path | method | parameters or body | answer |
| --- | --- | --- | --- |
| store/range | GET | key, range_end, limit, revision, keys_only, count_only, sort_target, sort_order | RangeResponse |
| store/watch | GET | key, range_end, start_revision, prev_kv, progress_notify, watch_id | WatchResponses, one a line |
| store/progress | POST | {"watch_ids": [ID, ...]} | {}; each of these watches then says how far it is |
| store/txn | POST | a TxnRequest, see `debug.etcd_txn` | TxnResponse |
| store/hashkv | GET | revision | the hash of each member, as `etcdctl endpoint hashkv -w json` |
| store/compact | POST | {"revision": N, "physical": BOOL} | CompactionResponse |
| store/defrag | POST | | DefragmentResponse |
| store/snapshot | GET | | the bytes of a snapshot |
| store/endpoints | GET | | the status of each member, as `etcdctl endpoint status -w json` |
| store/leases | GET | | LeaseLeasesResponse |
| store/lease | GET | id (decimal), keys | LeaseTimeToLiveResponse |
| store/leasegrant | POST | {"ttl": SECONDS, "id": ID} | LeaseGrantResponse |
| store/leasekeepalive | POST | {"id": ID} | LeaseKeepAliveResponse |
| store/leaserevoke | POST | {"id": ID} | LeaseRevokeResponse |
| store/memberlist | GET | | MemberListResponse |
| store/moveleader | POST | {"id": ID} | MoveLeaderResponse |
| store/alarms | GET | | AlarmResponse |
| store/disarm | POST | | AlarmResponse, of the alarms that there were |

Keys in parameters are text, or with base64=true base64; keys and values in answers are base64. Fields that are zero are
left out, as Go does. Source: api/etcdserverpb rpc.proto, etcdctl/ctlv3/command printer.go and printer_json.go.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from engine.api.errors import ApiError, bad_request, expired
from engine.api.wire import Request, Response
from engine.apiserver.debug.etcd_json import range_json, sorting
from engine.apiserver.debug.etcd_streams import SnapshotStream, WatchStream
from engine.apiserver.debug.etcd_txn import compare_of, operation_of, txn_json
from engine.apiserver.debug.parameters import body_of, number
from engine.clock import Clock
from engine.store.members import Alarm, Clustered, HashedMember, Member, Registered
from engine.store.types import (
    CompactedError,
    EmptyRangeError,
    Range,
    Store,
    StoreError,
    StoreUnavailableError,
)

NDJSON = "application/x-ndjson"
SNAPSHOT = "application/vnd.etcd.snapshot"
_NOT_ALLOWED = "the server does not allow this method on the requested resource"

_ALARMS = {"NOSPACE": 1, "CORRUPT": 2}  # rpc.proto AlarmType


class EtcdEndpoints:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self.clock = clock
        self._watches: WeakValueDictionary[int, WatchStream] = WeakValueDictionary()  # those that were given an id
        self._answers: dict[str, Callable[[Request], Awaitable[Any]]] = {
            "alarms": self._alarms,
            "compact": self._compact,
            "defrag": self._defrag,
            "disarm": self._disarm,
            "endpoints": self._endpoints,
            "hashkv": self._hash_kv,
            "lease": self._lease,
            "leasegrant": self._grant,
            "leasekeepalive": self._keep_alive,
            "leaserevoke": self._revoke,
            "leases": self._leases,
            "memberlist": self._member_list,
            "moveleader": self._move_leader,
            "progress": self._progress,
            "range": self._range,
            "snapshot": self._snapshot,
            "txn": self._txn,
            "watch": self._watch,
        }

    async def answer(self, name: str, request: Request) -> Response | None:
        """None for a name that is not one of these. Raises ApiError, StoreError."""
        if name not in METHODS:
            return None
        if request.method != METHODS[name] and not (request.method == "HEAD" and METHODS[name] == "GET"):
            raise ApiError(405, "MethodNotAllowed", _NOT_ALLOWED)
        try:
            found = await self._answers[name](request)
        except StoreUnavailableError:
            raise
        except StoreError as error:
            _refused(error)
        return found if isinstance(found, Response) else Response(200, found)

    def _clustered(self) -> Clustered:
        store = self._store
        assert isinstance(store, Clustered), "every backend knows its members"
        return store

    def header(self, revision: int) -> dict[str, int]:
        identity = self._clustered().identity()
        header = {"cluster_id": identity.cluster_id, "member_id": identity.member_id}
        if revision:
            header["revision"] = revision
        return {**header, "raft_term": identity.raft_term}

    async def _range(self, request: Request) -> dict[str, Any]:
        target, order = sorting(request.parameter("sort_target"), request.parameter("sort_order"))
        response = await self._store.range(
            Range(
                _key(request, "key"),
                _key(request, "range_end"),
                revision=number(request, "revision"),
                limit=number(request, "limit"),
                keys_only=_flag(request, "keys_only"),
                count_only=_flag(request, "count_only"),
                sort_target=target,
                sort_order=order,
            )
        )
        return range_json(response, self.header(response.revision))

    async def _watch(self, request: Request) -> Response:
        start = number(request, "start_revision")
        try:
            watcher = await self._store.watch(
                _key(request, "key") or b"\0",  # as etcd's watch server does
                _key(request, "range_end"),
                start_revision=start,
                prev_kv=_flag(request, "prev_kv"),
            )
        except (CompactedError, EmptyRangeError) as error:
            return Response(200, headers={"content-type": NDJSON}, stream=WatchStream(self, None, error))
        stream = WatchStream(self, watcher)
        if id := number(request, "watch_id"):
            self._watches[id] = stream
        if _flag(request, "progress_notify"):
            stream.notify_progress()
        return Response(200, headers={"content-type": NDJSON}, stream=stream)

    async def _progress(self, request: Request) -> dict[str, Any]:
        for id in _list(body_of(request), "watch_ids"):
            if id in self._watches:
                self._watches[id].ask_progress()
        return {}

    async def _txn(self, request: Request) -> dict[str, Any]:
        body = body_of(request)
        response = await self._store.txn(
            [compare_of(each) for each in _list(body, "compare")],
            [operation_of(each) for each in _list(body, "success")],
            [operation_of(each) for each in _list(body, "failure")],
        )
        return txn_json(response, self.header(response.revision))

    async def _hash_kv(self, request: Request) -> list[dict[str, Any]]:
        found = await self._clustered().hash_kv(number(request, "revision"))
        return [self._hash_json(each) for each in found]

    def _hash_json(self, found: HashedMember) -> dict[str, Any]:
        if found.error:
            return {"Endpoint": found.endpoint, "Error": found.error}
        header = {**self.header(self._store.revision), "member_id": found.member_id}
        hashed = {"header": header, "hash": found.hash, "compact_revision": found.compact_revision}
        return {"Endpoint": found.endpoint, "HashKV": hashed}

    async def _compact(self, request: Request) -> dict[str, Any]:
        body = body_of(request)
        await self._store.compact(_integer(body, "revision"), physical=body.get("physical") is True)
        return {"header": self.header(self._store.revision)}

    async def _defrag(self, _: Request) -> dict[str, Any]:
        await self._store.defrag()
        return {"header": self.header(self._store.revision)}

    async def _snapshot(self, _: Request) -> Response:
        return Response(200, headers={"content-type": SNAPSHOT}, stream=await SnapshotStream.take(self._store))

    async def _leases(self, _: Request) -> dict[str, Any]:
        return {**self.header(self._store.revision), "leases": [{"id": id} for id in await self._clustered().leases()]}

    async def _lease(self, request: Request) -> dict[str, Any]:
        id = number(request, "id")
        remaining, granted, keys = await self._store.lease_time_to_live(id)
        shown = [b64encode(key).decode() for key in keys] if _flag(request, "keys") and keys else None
        lease = {"id": id, "ttl": remaining, "granted-ttl": granted, "keys": shown}
        return {**self.header(self._store.revision), **lease}

    async def _grant(self, request: Request) -> dict[str, Any]:
        body = body_of(request)
        id = await self._store.lease_grant(_integer(body, "ttl"), _integer(body, "id"))
        _, granted, _ = await self._store.lease_time_to_live(id)
        return {**self.header(self._store.revision), "ID": id, "TTL": granted, "Error": ""}

    async def _keep_alive(self, request: Request) -> dict[str, Any]:
        id = _integer(body_of(request), "id")
        ttl = await self._store.lease_keep_alive(id)
        return {**self.header(self._store.revision), "ID": id, "TTL": ttl}

    async def _revoke(self, request: Request) -> dict[str, Any]:
        await self._store.lease_revoke(_integer(body_of(request), "id"))
        return {"header": self.header(self._store.revision)}

    async def _disarm(self, _: Request) -> dict[str, Any]:
        return _alarms_json(await self._clustered().disarm())

    async def _alarms(self, _: Request) -> dict[str, Any]:
        """As etcd answers: without a header, and without a list where there is none."""
        member = self._clustered().identity().member_id
        return _alarms_json([Alarm(member, name) for name in (await self._store.status()).alarms])

    async def _endpoints(self, _: Request) -> list[dict[str, Any]]:
        return [self._endpoint(member) for member in await self._clustered().members()]

    async def _move_leader(self, request: Request) -> dict[str, Any]:
        await self._clustered().move_leader(_integer(body_of(request), "id"))
        return {"header": self.header(self._store.revision)}

    async def _member_list(self, _: Request) -> dict[str, Any]:
        members = await self._clustered().member_list()
        return {"header": self.header(0), "members": [_registered_json(member) for member in members]}

    def _endpoint(self, member: Member) -> dict[str, Any]:
        status: dict[str, Any] = {
            "header": {**self.header(self._store.revision), "member_id": member.id},
            "version": member.version,
            "dbSize": member.db_size,
            "leader": member.leader_id,
            "raftIndex": member.raft_index,
            "raftTerm": member.raft_term,
            "raftAppliedIndex": member.applied_index,
            "dbSizeInUse": member.db_size_in_use,
        }
        if member.errors:
            status["errors"] = list(member.errors)
        found: dict[str, Any] = {"Endpoint": member.endpoint, "Status": status}
        if member.simulated:
            found |= {"Simulated": True, "Details": member.details}
        return found


def _alarms_json(alarms: list[Alarm]) -> dict[str, Any]:
    return {"alarms": [{"memberID": each.member_id, "alarm": _ALARMS[each.name]} for each in alarms]} if alarms else {}


def _registered_json(member: Registered) -> dict[str, Any]:
    fields = {
        "ID": member.id,
        "name": member.name,
        "peerURLs": list(member.peer_urls),
        "clientURLs": list(member.client_urls),
        "isLearner": member.is_learner,
    }
    return {name: value for name, value in fields.items() if value}


METHODS = {
    "range": "GET",
    "txn": "POST",
    "hashkv": "GET",
    "watch": "GET",
    "progress": "POST",
    "compact": "POST",
    "defrag": "POST",
    "snapshot": "GET",
    "endpoints": "GET",
    "leases": "GET",
    "leasegrant": "POST",
    "leasekeepalive": "POST",
    "leaserevoke": "POST",
    "lease": "GET",
    "memberlist": "GET",
    "moveleader": "POST",
    "alarms": "GET",
    "disarm": "POST",
}


def _refused(error: StoreError) -> NoReturn:
    if isinstance(error, CompactedError):
        raise expired(str(error)) from None
    raise bad_request(str(error)) from None


def _integer(body: dict[str, Any], name: str) -> int:
    found = body.get(name, 0)
    if not isinstance(found, int) or isinstance(found, bool):
        raise bad_request(f'"{name}" must be a number')
    return found


def _list(body: dict[str, Any], name: str) -> list[Any]:
    found = body.get(name) or []
    if not isinstance(found, list):
        raise bad_request(f'"{name}" must be a list')
    return found


def _flag(request: Request, name: str) -> bool:
    return request.parameter(name) in ("true", "1")


def _key(request: Request, name: str) -> bytes:
    """Raises ApiError 400."""
    text = request.parameter(name)
    if not _flag(request, "base64"):
        return text.encode()
    try:
        return b64decode(text, validate=True)
    except BadBase64:
        raise bad_request(f"{name}: not base64") from None
