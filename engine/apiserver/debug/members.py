"""store/members: who keeps the store, and for a simulated quorum the faults that may befall its members.

| method | body | what happens |
| --- | --- | --- |
| GET | | leader, term, indexes, each member's state, lag and fsync time |
| PUT | {"action": "stop" | "start", "member": NAME} | the member goes, or comes back and catches up |
| PUT | {"action": "slow", "member": NAME, "milliseconds": N} | each of its answers takes so much longer; 0 ends it |
| PUT | {"action": "partition", "members": [NAME, ...]} | these are cut off from the others |
| PUT | {"action": "heal"} | the network is whole again |
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError, bad_request
from engine.api.wire import Request, Response
from engine.apiserver.debug.parameters import body_of
from engine.store.members import Clustered
from engine.store.quorum import Quorum, QuorumStore
from engine.store.types import Store, StoreError


class MemberEndpoints:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def answer(self, request: Request) -> Response:
        """Raises ApiError 400, 405, 501."""
        if request.method == "PUT":
            await self._change(body_of(request))
        elif request.method not in ("GET", "HEAD"):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        if isinstance(self._store, QuorumStore):
            return Response(200, self._store.quorum.describe())
        return Response(200, await self._real())

    async def _real(self) -> dict[str, Any]:
        store = self._store
        assert isinstance(store, Clustered), "every backend knows its members"
        members = [
            {
                "name": member.name,
                "id": f"{member.id:x}",
                "state": "leader" if member.is_leader else "follower" if member.leader_id else "candidate",
                "term": member.raft_term,
                "matchIndex": member.raft_index,
                "errors": list(member.errors),
            }
            for member in await store.members()
        ]
        return {"simulated": False, "members": members}

    async def _change(self, wanted: dict[str, Any]) -> None:
        if not isinstance(self._store, QuorumStore):
            raise ApiError(501, "NotImplemented", await self._why_not(), details={})
        try:
            _befall(self._store.quorum, wanted)
        except StoreError as error:
            raise bad_request(str(error)) from None

    async def _why_not(self) -> str:
        if (await self._store.status()).backend == "etcd":
            return "the members are those of a real etcd: only simulated ones can be told to fail"
        return (
            "the store has one member, and nothing can befall it: only the members of a simulated quorum "
            "(ktui up --etcd-members 3) can be told to fail"
        )


def _befall(quorum: Quorum, wanted: dict[str, Any]) -> None:
    """Raises ApiError 400, StoreError."""
    action, name = wanted.get("action"), wanted.get("member", "")
    if action in ("stop", "start", "slow") and not isinstance(name, str):
        raise bad_request('give the name of a "member"')
    match action:
        case "stop":
            quorum.stop(name)
        case "start":
            quorum.start(name)
        case "slow":
            milliseconds = wanted.get("milliseconds")
            if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool):
                raise bad_request('give the "milliseconds"')
            quorum.slow(name, milliseconds / 1000)
        case "partition":
            names = wanted.get("members")
            if not isinstance(names, list) or not all(isinstance(member, str) for member in names):
                raise bad_request('give the names of the "members" to cut off')
            quorum.partition(names)
        case "heal":
            quorum.heal()
        case _:
            raise bad_request('give an "action" of stop, start, slow, partition or heal')
