"""Keeps the newest status of each Pod and writes it to the API server when it has changed (status_manager.go).

One task writes, in the order of the changes; a status that is overtaken before it is written is not written. The last
write of a Pod that is being deleted is its deletion, with grace period 0 and the uid as a precondition.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.tables.formats import condition_true
from engine.api.types import PODS, Object
from engine.client import Client, revision_of
from engine.clock import Clock
from engine.kubelet import pods
from engine.kubelet.status.conditions import OWNED
from engine.kubelet.status.generate import KEPT
from engine.kubelet.status.patch import status_patch
from engine.tasks import Supervisor
from engine.trace import Hop, SpanContext, current_context
from engine.world import World

log = logging.getLogger(__name__)

SYNC_PERIOD = 10.0  # after which it tries again, and takes back what others have written


@dataclass(slots=True)
class _Versioned:
    """A Pod's status, how often it has changed here and up to which version it is written."""

    pod: Object
    status: Object
    version: int = 0
    written: int = 0
    finished: bool = False  # nothing of it runs any more: it may be deleted
    causes: list[SpanContext] = field(default_factory=list)


class StatusManager:
    """`current` gives the newest known API object of a Pod by uid, None once it is gone."""

    def __init__(
        self, client: Client, world: World, current: Callable[[str], Object | None], *, node_name: str
    ) -> None:
        self._client = client
        self._world = world
        self._clock: Clock = world.clock
        self._current = current
        self._component = f"kubelet {node_name}"
        self._statuses: dict[str, _Versioned] = {}
        self._written: dict[str, Object] = {}  # answers of the API server, newer than the informer may be
        self._dirty: dict[str, None] = {}
        self._doubted: dict[str, None] = {}  # whose status in the API is not what this kubelet wrote
        self._tasks = Supervisor(f"kubelet {node_name} status")
        self._running = False
        self._closed = False
        self.patches = 0

    def get(self, uid: str) -> Object | None:
        versioned = self._statuses.get(uid)
        return versioned.status if versioned is not None else None

    def set_pod_status(self, pod: Object, status: Object) -> None:
        """Take the newest status; times of transition are kept where a condition's status is."""
        uid = pods.uid_of(pod)
        known = self._statuses.get(uid)
        previous = known.status if known is not None else (pod.get("status") or {})
        self._keep_times(status, previous)
        if known is None:
            known = self._statuses[uid] = _Versioned(pod, previous)
        known.pod = pod
        if known.version and known.status == status:
            return
        known.status = status
        known.version += 1
        self._wake(uid, known)

    def terminate_pod(self, pod: Object) -> None:
        """Nothing of the Pod runs any more: it may be deleted once its status is written."""
        uid = pods.uid_of(pod)
        known = self._statuses.setdefault(uid, _Versioned(pod, pod.get("status") or {}))
        known.pod = pod
        known.finished = True
        self._wake(uid, known)

    def pod_updated(self, pod: Object) -> None:
        """The API has a new version: if it is being deleted and nothing of it runs, nothing holds it any more; if
        somebody else has written its status, that is taken back."""
        uid = pods.uid_of(pod)
        known = self._statuses.get(uid)
        if known is None:
            return
        if known.finished and pods.is_deleted(pod):
            self._wake(uid, known)
        elif uid not in self._doubted and self._differs(uid, known, pod):
            self._doubted[uid] = None
            self._clock.call_later(SYNC_PERIOD, lambda: self._take_back(uid))

    def forget(self, uid: str) -> None:
        self._statuses.pop(uid, None)
        self._written.pop(uid, None)
        self._dirty.pop(uid, None)
        self._doubted.pop(uid, None)

    async def close(self) -> None:
        self._closed = True
        await self._tasks.close()

    def versions(self) -> dict[str, tuple[int, int]]:
        """For the view: version and written version by uid."""
        return {uid: (known.version, known.written) for uid, known in self._statuses.items()}

    # -- what others have written (needsReconcile)

    def _differs(self, uid: str, known: _Versioned, pod: Object) -> bool:
        """Whether the API has another status than the one that was written, in what is the kubelet's to say."""
        written = self._written.get(uid)
        if not known.written or known.written != known.version or written is None:
            return False
        if revision_of(pod) <= revision_of(written):
            return False
        api = pod.get("status") or {}
        return status_patch(uid, api, _with_others(known.status, api)) is not None

    def _take_back(self, uid: str) -> None:
        self._doubted.pop(uid, None)
        known, pod = self._statuses.get(uid), self._current(uid)
        if known is None or pod is None or self._closed or not self._differs(uid, known, pod):
            return
        known.status = _with_others(known.status, pod.get("status") or {})
        known.version += 1
        self._wake(uid, known)

    # -- merging

    def _keep_times(self, status: Object, previous: Object) -> None:
        now = self._clock.timestamp()
        before = {condition["type"]: condition for condition in previous.get("conditions") or ()}
        for condition in status["conditions"]:
            if condition["type"] not in OWNED and condition.get("lastTransitionTime"):
                continue  # somebody else's
            old = before.get(condition["type"])
            same = old is not None and old["status"] == condition["status"] and old.get("lastTransitionTime")
            condition["lastTransitionTime"] = old["lastTransitionTime"] if same and old is not None else now
        status.setdefault("startTime", previous.get("startTime") or now)

    # -- writing

    def _wake(self, uid: str, known: _Versioned) -> None:
        cause = current_context()
        if cause is not None:
            known.causes.append(cause)
        self._dirty[uid] = None
        if not self._running:
            self._running = True
            Context().run(self._tasks.spawn, self._write_all(), "writer")

    async def _write_all(self) -> None:
        try:
            while self._dirty:
                uid = next(iter(self._dirty))
                del self._dirty[uid]
                if uid in self._statuses:
                    await self._sync(uid, self._statuses[uid])
        finally:
            self._running = False

    async def _sync(self, uid: str, known: _Versioned) -> None:
        causes, known.causes = known.causes, []
        pod = self._newest(uid)
        if pod is None:
            return
        with self._world.tracer.span(
            Hop.KUBELET,
            component=self._component,
            verb="status",
            object=pods.trace_object(pod),
            cause=causes[0] if causes else None,
            detail={
                "phase": known.status.get("phase", ""),
                "ready": condition_true(known.status, "Ready"),
                "version": known.version,
            },
        ):
            try:
                await self._write(uid, known, pod)
            except (ApiError, ConnectionError) as error:
                self._failed(uid, known, error)

    async def _write(self, uid: str, known: _Versioned, pod: Object) -> None:
        version, status = known.version, known.status
        patch = status_patch(uid, pod.get("status") or {}, status) if version > known.written else None
        if patch is not None:
            self.patches += 1
            pod = await self._client.patch(
                PODS, pods.name_of(pod), patch, namespace=pods.namespace_of(pod), subresource="status"
            )
            self._written[uid] = pod
        known.written = version
        if pods.is_deleted(pod) and known.finished and known.version == version:
            await self._client.delete(
                PODS,
                pods.name_of(pod),
                namespace=pods.namespace_of(pod),
                grace_period_seconds=0,
                preconditions={"uid": uid},
            )

    def _newest(self, uid: str) -> Object | None:
        """The API object: what the last write answered, or what the informer has, whichever is newer."""
        cached, written = self._current(uid), self._written.get(uid)
        if cached is None or written is None:
            return cached
        return written if revision_of(written) > revision_of(cached) else cached

    def _failed(self, uid: str, known: _Versioned, error: Exception) -> None:
        if isinstance(error, ApiError) and error.code in (404, 409):
            return  # gone, or another Pod of its name: the watch will tell
        log.warning("failed to update status for pod %s: %s", pods.full_name(known.pod), error)
        self._clock.call_later(SYNC_PERIOD, lambda: self._retry(uid))

    def _retry(self, uid: str) -> None:
        known = self._statuses.get(uid)
        if known is not None and not self._closed:
            self._wake(uid, known)


def _with_others(status: Object, api: Object) -> Object:
    """The kubelet's status, with what others have put into it meanwhile."""
    mine = {condition["type"]: condition for condition in status["conditions"] if condition["type"] in OWNED}
    listed = [each for each in api.get("conditions") or () if each["type"] in mine or each["type"] not in OWNED]
    found = [mine.pop(condition["type"], condition) for condition in listed]
    kept = {key: api[key] for key in KEPT if api.get(key)}
    return {**status, **kept, "conditions": [*found, *mine.values()]}
