"""The TTL-after-finished controller: deletes Jobs some time after their end (pkg/controller/ttlafterfinished)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.client import object_key, split_key
from engine.controllers.conditions import conditions_of
from engine.controllers.controller import Controller
from engine.controllers.job.controller import JOBS
from engine.controllers.job.facts import is_finished
from engine.controllers.pods import parse_time


class TtlAfterFinishedController(Controller):
    name = "ttl-after-finished-controller"
    kind = "job"

    def set_up(self) -> None:
        self._jobs = self.lister(JOBS)
        self.watch(JOBS, self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or new["metadata"].get("deletionTimestamp") or not needs_cleanup(new):
            return []
        return [object_key(new)]

    async def reconcile(self, key: str) -> None:
        job = self._jobs.by_key(key)
        if job is None or job["metadata"].get("deletionTimestamp") or not needs_cleanup(job):
            return
        left = self._left(job)
        self.note(desired={"deletedIn": max(0.0, left)}, actual={})
        if left > 0:
            self.queue.add_after(key, left)
            return
        await self._delete(key)

    def _left(self, job: Object) -> float:
        """Seconds that the Job has left."""
        ends = [
            parse_time(each["lastTransitionTime"])
            for each in conditions_of(job["status"])
            if each["type"] in ("Complete", "Failed") and each["status"] == "True"
        ]
        due = ends[0] + timedelta(seconds=job["spec"]["ttlSecondsAfterFinished"])
        return (due - self.clock.now()).total_seconds()

    async def _delete(self, key: str) -> None:
        """Delete what the API server, not the cache, says is due: the time may have been changed."""
        namespace, name = split_key(key)
        try:
            fresh = await self.client.get(JOBS, name, namespace=namespace)
            if not needs_cleanup(fresh) or self._left(fresh) > 0:
                return
            await self.client.delete(
                JOBS,
                name,
                namespace=namespace,
                propagation_policy="Foreground",
                preconditions={"uid": fresh["metadata"]["uid"]},
            )
        except ApiError as error:
            if error.code != 404:
                raise


def needs_cleanup(job: Object) -> bool:
    return job["spec"].get("ttlSecondsAfterFinished") is not None and is_finished(job)
