"""Etcd's maintenance service: members, alarms, snapshots, defragmentation (etcdctl endpoint, alarm, ...)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aetcd import rpc
from grpc.aio import AioRpcError

from engine.store.etcd.connection import DEADLINE, Connection, Stubs
from engine.store.etcd.errors import translated
from engine.store.members import Alarm, HashedMember, Member, Registered
from engine.store.snapshot import check_new
from engine.store.types import StoreError

DEFRAG_DEADLINE = 300.0
_ALARMS = {1: "NOSPACE", 2: "CORRUPT"}


_GET, _DEACTIVATE = 0, 2  # AlarmRequest.AlarmAction


async def alarms(connection: Connection) -> list[str]:
    """Raises StoreError."""
    response = await connection.call("maintenance", "Alarm", rpc.AlarmRequest(action=_GET, alarm=0), reading=True)
    return sorted({_ALARMS.get(alarm.alarm, str(alarm.alarm)) for alarm in response.alarms})


async def disarm(connection: Connection) -> list[Alarm]:
    """Take back every alarm of every member, as clientv3's AlarmDisarm. Raises StoreError."""
    raised = await connection.call("maintenance", "Alarm", rpc.AlarmRequest(action=_GET, alarm=0), reading=True)
    for alarm in raised.alarms:
        request = rpc.AlarmRequest(action=_DEACTIVATE, memberID=alarm.memberID, alarm=alarm.alarm)
        await connection.call("maintenance", "Alarm", request)
    return [Alarm(alarm.memberID, _ALARMS.get(alarm.alarm, str(alarm.alarm))) for alarm in raised.alarms]


async def member_list(connection: Connection) -> list[Registered]:
    """Raises StoreError."""
    response = await connection.call("cluster", "MemberList", rpc.MemberListRequest(), reading=True)
    return [
        Registered(member.ID, member.name, tuple(member.peerURLs), tuple(member.clientURLs), member.isLearner)
        for member in response.members
    ]


async def member(stubs: Stubs) -> Member:
    """What a member says of itself; one that does not answer is there with its error."""
    try:
        status = await stubs.maintenance.Status(rpc.StatusRequest(), timeout=DEADLINE)
    except AioRpcError as error:
        failure = str(translated(error, stubs.endpoint))
        return Member(stubs.endpoint, stubs.endpoint, 0, "", 0, 0, 0, 0, 0, 0, errors=(failure,))
    return Member(
        name=stubs.endpoint,
        endpoint=stubs.endpoint,
        id=status.header.member_id,
        version=status.version,
        leader_id=status.leader,
        raft_term=status.raftTerm,
        raft_index=status.raftIndex,
        applied_index=status.raftAppliedIndex,
        db_size=status.dbSize,
        db_size_in_use=status.dbSizeInUse,
        errors=tuple(status.errors),
    )


async def move_leader(connection: Connection, member_id: int) -> None:
    """Only the leader itself may be told. Raises StoreError."""
    for stubs in connection.all:
        if (await member(stubs)).is_leader:
            try:
                await stubs.maintenance.MoveLeader(rpc.MoveLeaderRequest(targetID=member_id), timeout=DEADLINE)
            except AioRpcError as error:
                raise translated(error, stubs.endpoint) from error
            return
    raise StoreError(f"no leader endpoint given at [{connection.endpoints}]")


async def hash_kv(stubs: Stubs, revision: int) -> HashedMember:
    """The hash that a member has of its keys; one that does not answer is there with its error."""
    try:
        found = await stubs.maintenance.HashKV(rpc.HashKVRequest(revision=revision), timeout=DEADLINE)
    except AioRpcError as error:
        return HashedMember(stubs.endpoint, 0, 0, 0, str(translated(error, stubs.endpoint)))
    return HashedMember(stubs.endpoint, found.header.member_id, found.hash, found.compact_revision)


async def snapshot(connection: Connection, file: Path) -> None:
    """Write the snapshot that etcd streams. Raises StoreError."""
    check_new(file)
    stubs = connection.stubs
    partial = file.with_name(file.name + ".partial")
    try:
        with await asyncio.to_thread(partial.open, "wb") as out:
            async for part in stubs.maintenance.Snapshot(rpc.SnapshotRequest()):
                await asyncio.to_thread(out.write, part.blob)
        partial.replace(file)
    except AioRpcError as error:
        raise translated(error, stubs.endpoint) from error
    finally:
        partial.unlink(missing_ok=True)


async def defrag(connection: Connection) -> None:
    """Raises StoreError."""
    for stubs in connection.all:
        try:
            await stubs.maintenance.Defragment(rpc.DefragmentRequest(), timeout=DEFRAG_DEADLINE)
        except AioRpcError as error:
            raise translated(error, stubs.endpoint) from error
