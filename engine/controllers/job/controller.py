"""The Job controller (pkg/controller/job/job_controller.go).

The end of a Pod is counted exactly once: its uid is first written into `status.uncountedTerminatedPods`, then its
tracking finalizer is removed, and only then do the counters go up and the uid is dropped (KEP-2307).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.conditions import conditions_of, find_condition, is_true, with_condition
from engine.controllers.features import forgets_start_of_suspended_jobs
from engine.controllers.job.facts import (
    FINALIZER,
    Backoff,
    Facts,
    has_failed,
    is_finished,
    is_suspended,
    is_tracked,
    job_condition,
    replaces_failed_only,
)
from engine.controllers.job.index_failures import limits_each_index, ready_indexes
from engine.controllers.job.indexes import format_indexes, index_of, is_indexed, is_valid_index, pending_indexes
from engine.controllers.job.job_metrics import PODS_CREATED, PODS_DELETED, RECONCILING, TRACKING, JobMetrics
from engine.controllers.job.pods import KIND, make_pod, surplus_pods
from engine.controllers.job.policy import judge_failure
from engine.controllers.ownership import controller_of
from engine.controllers.pod_control import namespace_terminating
from engine.controllers.pod_owner import PodOwnerController
from engine.controllers.pods import is_ready, phase
from engine.controllers.slow_start import as_failure, slow_start
from engine.metrics import Family

JOBS = GVR("batch", "v1", "jobs")
MAX_PER_SYNC = 500
MAX_UNCOUNTED = 500
CONTROLLER_NAME = "kubernetes.io/job-controller"


class JobController(PodOwnerController):
    name = "job-controller"
    kind = "job"
    resource = JOBS
    gvk = KIND
    adopted_finalizers = (FINALIZER,)

    def set_up(self) -> None:
        self.figures = JobMetrics()
        self._backoffs: dict[str, Backoff] = {}  # by uid of the Job
        self._counted: dict[str, set[str]] = {}  # Pods whose finalizer was removed, until the cache shows it
        self._strays: dict[str, dict[str, None]] = {}  # tracked Pods whose Job is gone, by the key it had
        self.forgets_start = forgets_start_of_suspended_jobs(self.config.kubernetes_version)
        self.watch_pods()
        self.watch(PODS, self._pod_counted)

    def _pod_counted(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or not is_tracked(new):
            for counted in self._counted.values():
                counted.discard((new or old or {})["metadata"]["uid"])
            return ()
        reference = controller_of(new)
        if reference is None or reference.get("kind") != KIND.kind or self.owner_keys(new):
            return ()
        return [self._note_stray(f"{new['metadata']['namespace']}/{reference['name']}", new)]

    def _note_stray(self, key: str, pod: Object) -> str:
        """A Pod whose Job is gone must not be held by a finalizer that nobody will remove."""
        self._strays.setdefault(key, {})[object_key(pod)] = None
        return key

    def owner_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None and old is not None:
            self._backoffs.pop(old["metadata"]["uid"], None)
            for pod in self.owned_pods(old):
                self._note_stray(object_key(old), pod)
        return super().owner_changed(old, new)

    def families(self) -> Iterable[Family]:
        return self.figures.families()

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        began = self.clock.monotonic()
        await self._release_strays(key)
        job = self.owners.by_key(key)
        if job is None:
            self._counted.pop(key, None)
            return
        self.writes.check(job)
        if job["spec"].get("managedBy") not in (None, CONTROLLER_NAME):
            return
        if is_finished(job):
            await self._untrack(key, [pod for pod in self.owned_pods(job) if is_tracked(pod)])
            return
        sync: _Sync | None = None
        failed = True
        try:
            sync = await self._begin(key, job)
            await sync.run()
            failed = False
        finally:
            action = RECONCILING if sync is None else sync.action
            self.figures.synced(job, action, failed=failed, seconds=self.clock.monotonic() - began)

    async def _begin(self, key: str, job: Object) -> _Sync:
        satisfied = self.expectations.satisfied(key)
        pods = await self.claim_pods(job)
        if not (job.get("status") or {}).get("startTime") and not is_suspended(job):
            job = {**job, "status": {**(job.get("status") or {}), "startTime": self.clock.timestamp()}}
        facts = Facts(job, pods, counted=self._counted.get(key, set()), now=self.clock.now())
        self.note(
            desired={"completions": job["spec"].get("completions"), "active": facts.wanted_active()},
            actual={"active": len(facts.active), "succeeded": facts.succeeded, "failed": facts.failed},
        )
        if (left := facts.deadline_in()) is not None and left > 0:
            self.queue.add_after(key, left)
        return _Sync(self, key, facts, satisfied=satisfied)

    async def _release_strays(self, key: str) -> None:
        strays = [self.pods.by_key(pod) for pod in self._strays.pop(key, {})]
        await self._untrack(
            key, [pod for pod in strays if pod is not None and is_tracked(pod) and not self.owner_keys(pod)]
        )

    def backoff(self, job: Object) -> Backoff:
        return self._backoffs.get(job["metadata"]["uid"], Backoff())

    def remember_backoff(self, job: Object, backoff: Backoff) -> None:
        self._backoffs[job["metadata"]["uid"]] = backoff

    # -- acting

    async def untrack(self, key: str, pods: list[Object]) -> Exception | None:
        """Remove the tracking finalizer; those that succeed are noted as counted. The first failure."""
        counted = self._counted.setdefault(key, set())

        async def remove(pod: Object) -> None:
            metadata = pod["metadata"]
            patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
            try:
                await self.client.patch(PODS, metadata["name"], patch, namespace=metadata["namespace"])
            except ApiError as error:
                if error.code != 404:
                    raise
            if self.pods.by_key(object_key(pod)) is not None:
                counted.add(metadata["uid"])

        results = await asyncio.gather(*(remove(pod) for pod in pods), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        return as_failure(failures) if failures else None

    async def _untrack(self, key: str, pods: list[Object]) -> None:
        if (failure := await self.untrack(key, pods)) is not None:
            raise failure

    async def create_pods(self, key: str, job: Object, pods: list[Object]) -> tuple[int, Exception | None]:
        """How many were created, and the first failure."""
        self.expectations.expect_creations(key, len(pods))
        waiting = iter(pods)

        async def create() -> None:
            try:
                await self.pod_control.create(next(waiting), job)
            except ApiError as error:
                if not namespace_terminating(error):
                    raise

        successes, failure = await slow_start(len(pods), create)
        for _ in range(len(pods) - successes):
            self.expectations.creation_observed(key)
        return successes, failure

    async def delete_pods(self, key: str, job: Object, pods: list[Object]) -> tuple[list[Object], Exception | None]:
        """Those that are on their way out, and the first failure."""
        self.expectations.expect_deletions(key, [object_key(pod) for pod in pods])

        async def delete(pod: Object) -> None:
            try:
                await self.pod_control.delete(pod, job)
            except ApiError as error:
                self.expectations.deletion_observed(key, object_key(pod))
                if error.code != 404:
                    raise

        results = await asyncio.gather(*(delete(pod) for pod in pods), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        deleted = [pod for pod, result in zip(pods, results, strict=True) if result is None]
        return deleted, (as_failure(failures) if failures else None)


class _Sync:
    """One sync of one Job, from what is known to what is written."""

    def __init__(self, controller: JobController, key: str, facts: Facts, *, satisfied: bool) -> None:
        self._controller = controller
        self._key = key
        self._facts = facts
        self._job = facts.job
        self._satisfied = satisfied
        self._status: Object = dict(facts.job.get("status") or {})
        self._before: Object = self._controller.owners.by_key(key) or facts.job
        self._active = len(facts.active)
        self._ready = sum(is_ready(pod) for pod in facts.active)
        self._terminating = facts.terminating
        self._backoff = controller.backoff(facts.job).after(facts.new_succeeded, facts.new_failed)
        self.action = RECONCILING

    async def run(self) -> None:
        ending = self._facts.verdict()
        if ending is not None:
            failure = await self._end_active()
            if self._active or not self._satisfied:
                ending = None  # not before all Pods are seen
        else:
            failure = None
            managed = self._satisfied and not self._job["metadata"].get("deletionTimestamp")
            if managed:
                failure = await self._manage()
            if self._facts.is_complete(self._active):
                message = "Reached expected number of succeeded pods"
                ending = self._condition("SuccessCriteriaMet", "CompletionsReached", message)
            elif managed:
                self._note_suspension()
        self._status["ready"] = self._ready
        self._status["terminating"] = self._terminating
        self._set("active", self._active)
        await self._track(ending)
        if failure is not None:
            raise failure

    def _condition(self, type: str, reason: str, message: str, *, status: str = "True") -> Object:
        return job_condition(type, reason=reason, message=message, now=self._facts.now, status=status)

    def _set(self, name: str, value: Any) -> None:
        if value:
            self._status[name] = value
        else:
            self._status.pop(name, None)

    # -- Pods

    async def _end_active(self) -> Exception | None:
        """The Job is over: its active Pods are deleted, and counted by their finalizers."""
        deleted, failure = await self._controller.delete_pods(self._key, self._job, self._facts.active)
        self._count_deleted(deleted)
        return failure

    def _count_deleted(self, deleted: list[Object]) -> None:
        self._active -= len(deleted)
        self._terminating += len(deleted)
        self._ready -= sum(is_ready(pod) for pod in deleted)

    async def _manage(self) -> Exception | None:
        self.action = PODS_DELETED if is_suspended(self._job) else TRACKING
        facts, wanted = self._facts, self._facts.wanted_active()
        surplus = surplus_pods(self._job, facts.active, at_least=max(0, self._active - wanted), now=facts.now)
        if surplus:
            self.action = PODS_DELETED
            return await self._remove(surplus[:MAX_PER_SYNC])
        missing = wanted - self._active - (facts.terminating if replaces_failed_only(self._job) else 0)
        if missing <= 0:
            return None
        wait = 0.0 if limits_each_index(self._job) else self._backoff.remaining(facts.now)
        if wait > 0:
            self._controller.queue.add_after(self._key, wait)
            return None
        self.action = PODS_CREATED
        return await self._create(min(missing, MAX_PER_SYNC))

    async def _remove(self, pods: list[Object]) -> Exception | None:
        """Pods that are too many count for nothing: their finalizer goes before them."""
        failure = await self._controller.untrack(self._key, [pod for pod in pods if is_tracked(pod)])
        if failure is not None:
            return failure
        deleted, failure = await self._controller.delete_pods(self._key, self._job, pods)
        self._count_deleted(deleted)
        removed = {pod["metadata"]["uid"] for pod in deleted}
        self._facts.pods = [pod for pod in self._facts.pods if pod["metadata"]["uid"] not in removed]
        return failure

    async def _create(self, count: int) -> Exception | None:
        indexes: list[int | None] = [*self._pending(count)] if is_indexed(self._job) else [None] * count
        made = [
            make_pod(self._job, index, self._facts.replaced.get(-1 if index is None else index)) for index in indexes
        ]
        created, failure = await self._controller.create_pods(self._key, self._job, made)
        self._active += created
        return failure

    def _pending(self, count: int) -> list[int]:
        """The indexes to make a Pod for now."""
        facts = self._facts
        held = [*facts.active, *(self._terminating_ones() if replaces_failed_only(self._job) else [])]
        taken = facts.completed | facts.failed_indexes | {index_of(pod) for pod in held}
        indexes = pending_indexes(taken, count=count, completions=int(self._job["spec"]["completions"]))
        ready, wait = ready_indexes(indexes, {index: facts.wait_of_index(index) for index in indexes})
        if wait:
            self._controller.queue.add_after(self._key, wait)
        return ready

    def _terminating_ones(self) -> list[Object]:
        return [pod for pod in self._facts.pods if pod["metadata"].get("deletionTimestamp")]

    def _note_suspension(self) -> None:
        conditions = conditions_of(self._status)
        known = find_condition(conditions, "Suspended")
        if is_suspended(self._job):
            if known is None or known["status"] != "True":
                self._replace(self._condition("Suspended", "JobSuspended", "Job suspended"))
                self._tell(NORMAL, "Suspended", "Job suspended")
            if self._controller.forgets_start:
                # A Job that is to run anew may be placed anew, which one that has started may not.
                self._status.pop("startTime", None)
        elif known is not None and known["status"] != "False":
            self._replace(self._condition("Suspended", "JobResumed", "Job resumed", status="False"))
            self._tell(NORMAL, "Resumed", "Job resumed")
            self._status["startTime"] = self._controller.clock.timestamp()

    def _replace(self, condition: Object) -> None:
        """In the place that the condition has, or as the last (ensureJobConditionStatus)."""
        self._status["conditions"] = with_condition(conditions_of(self._status), condition)

    def _tell(self, type: str, reason: str, message: str) -> None:
        self._controller.recorder.event(self._job, type, reason, message)

    # -- counting

    async def _track(self, ending: Object | None) -> None:
        """Write down whose end is to be counted, let those Pods go, count them, and end the Job if it is through."""
        self._drop_counted({pod["metadata"]["uid"] for pod in self._facts.pods})
        ended = [pod for pod in self._facts.pods if self._may_go(pod, ending)]
        done = self._list_uncounted(ended, ending)
        if is_indexed(self._job):
            self._set("completedIndexes", format_indexes(self._facts.completed))
            self._set("succeeded", len(self._facts.completed))
        if limits_each_index(self._job):
            self._status["failedIndexes"] = format_indexes(self._facts.failed_indexes)
        if ending is not None and not is_true(conditions_of(self._status), ending["type"]):
            self._replace(ending)
        await self._flush()
        self._controller.remember_backoff(self._job, self._backoff)
        failure = await self._controller.untrack(self._key, done)
        if failure is None:
            gone = {pod["metadata"]["uid"] for pod in done}
            self._drop_counted({pod["metadata"]["uid"] for pod in self._facts.pods} - gone)
        finished = failure is None and len(done) == len(ended) and ending is not None and self._finish(ending)
        await self._flush()
        if finished and ending is not None:
            self._tell_end(ending)
        if failure is not None:
            raise failure

    def _may_go(self, pod: Object, ending: Object | None) -> bool:
        if ending is not None or self._job["metadata"].get("deletionTimestamp") or phase(pod) == "Succeeded":
            return True
        if not has_failed(self._job, pod):
            return False
        kept = self._facts.replaced.get(index_of(pod))
        return kept is None or kept["metadata"]["uid"] != pod["metadata"]["uid"]

    def _list_uncounted(self, ended: list[Object], ending: Object | None) -> list[Object]:
        """Those of the Pods that were looked at: when the lists are full, the rest have to wait for another sync."""
        succeeded, failed = self._uncounted("succeeded"), self._uncounted("failed")
        policy = self._job["spec"].get("podFailurePolicy")
        fails_all = ending is not None and ending["type"] == "FailureTarget"
        indexed = is_indexed(self._job)
        fresh_failed = {pod["metadata"]["uid"] for pod in self._facts.new_failed}
        looked_at: list[Object] = []
        new_indexes = 0
        for pod in ended:
            looked_at.append(pod)
            uid = pod["metadata"]["uid"]
            if phase(pod) == "Succeeded" and uid not in failed:
                if indexed:
                    new_indexes += is_valid_index(self._job, pod)
                elif uid not in succeeded:
                    succeeded.append(uid)
            elif uid not in failed:
                counted = uid in fresh_failed or (fails_all and (not indexed or is_valid_index(self._job, pod)))
                if counted and judge_failure(policy, pod).counts:
                    failed.append(uid)
            if new_indexes + len(succeeded) + len(failed) >= MAX_UNCOUNTED:
                break
        self._set_uncounted(succeeded, failed)
        return looked_at

    def _uncounted(self, name: str) -> list[str]:
        return list((self._status.get("uncountedTerminatedPods") or {}).get(name) or ())

    def _set_uncounted(self, succeeded: list[str], failed: list[str]) -> None:
        lists = {"succeeded": succeeded, "failed": failed}
        self._status["uncountedTerminatedPods"] = {name: uids for name, uids in lists.items() if uids}

    def _drop_counted(self, tracked: set[str]) -> None:
        """Uids whose Pod has no finalizer any more go from the lists into the counters."""
        kept: dict[str, list[str]] = {}
        for name in ("succeeded", "failed"):
            uids = self._uncounted(name)
            kept[name] = [uid for uid in uids if uid in tracked]
            self._set(name, self._status.get(name, 0) + len(uids) - len(kept[name]))
        self._set_uncounted(kept["succeeded"], kept["failed"])

    def _finish(self, ending: Object) -> bool:
        """Complete or Failed, once nothing is left to count and no Pod is still on its way out."""
        if self._uncounted("succeeded") or self._uncounted("failed") or self._terminating:
            return False
        final = "Failed" if ending["type"] == "FailureTarget" else "Complete"
        self._replace(self._condition(final, ending.get("reason", ""), ending.get("message", "")))
        if final == "Complete":
            self._status["completionTime"] = self._facts.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        return True

    def _tell_end(self, ending: Object) -> None:
        failed = ending["type"] == "FailureTarget"
        self._controller.figures.finished(self._job, ending.get("reason", ""), failed=failed)
        if failed:
            self._tell(WARNING, ending.get("reason", ""), ending.get("message", ""))
            return
        completions = self._job["spec"].get("completions")
        if completions is not None and self._status.get("succeeded", 0) > completions:
            self._tell(
                WARNING, "TooManySucceededPods", "Too many succeeded pods running after completion count reached"
            )
        self._tell(NORMAL, "Completed", "Job completed")

    async def _flush(self) -> None:
        before = self._before.get("status") or {}
        if self._status != before:
            written = {**self._before, "status": dict(self._status)}
            self._before = await self._controller.client.update_status(JOBS, written)
            self._controller.writes.note(self._before)
            self._controller.figures.counted(self._job, before, self._status)
