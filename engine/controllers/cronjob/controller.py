"""The CronJob controller (pkg/controller/cronjob/cronjob_controllerv2.go)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from engine.api.cron import ZONE
from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.types import GVR, Object
from engine.client import NORMAL, WARNING, object_key, object_reference
from engine.controllers.conditions import conditions_of, is_true
from engine.controllers.controller import Controller
from engine.controllers.cronjob.schedule import ScheduleError, Timetable, TimeZoneError, parse_schedule
from engine.controllers.cronjob.timing import KIND, TOO_MANY, due, job_name, make_job, next_in
from engine.controllers.job.controller import JOBS
from engine.controllers.job.facts import is_finished
from engine.controllers.own_writes import OwnWrites
from engine.controllers.ownership import OWNER_INDEX, by_controller_uid, controller_of
from engine.controllers.pod_control import namespace_terminating
from engine.controllers.pods import parse_time
from engine.metrics import Family, Histogram, exponential_buckets

_ZONED = (
    "CRON_TZ or TZ used in schedule {} is not officially supported, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
CRON_JOBS = GVR("batch", "v1", "cronjobs")


class CronJobController(Controller):
    name = "cronjob-controller"
    kind = "cronjob"

    def set_up(self) -> None:
        self._cron_jobs = self.lister(CRON_JOBS)
        self._jobs = self.lister(JOBS)
        self.writes = OwnWrites(self.clock)
        self.skew = Histogram(
            "cronjob_controller_job_creation_skew_duration_seconds",
            "[STABLE] Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
            buckets=exponential_buckets(1, 2, 10),
        )
        self.index(JOBS, OWNER_INDEX, by_controller_uid)
        self.watch(CRON_JOBS, self._changed)
        self.watch(JOBS, self._job_changed)

    def families(self) -> Iterable[Family]:
        return (self.skew,)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        key = object_key(new or old or {})
        if old is None or new is None or _times_of(old) == _times_of(new):
            return [key]
        # Another schedule begins with its next time: what it would have started since the last one is not caught up.
        try:
            wait = next_in(new, parse_schedule(*_times_of(new)), self.clock.now())
        except ScheduleError:
            message = f"unparseable schedule for cronjob: {new['spec']['schedule']}"
            self.recorder.event(new, WARNING, "UnParseableCronJobSchedule", message)
            return []
        if wait is not None:
            self.queue.add_after(key, wait)
        return []

    def _job_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        job = new or old or {}
        reference = controller_of(job)
        if reference is None or reference.get("kind") != KIND.kind:
            return []
        cron_job = self._cron_jobs.get(reference["name"], job["metadata"]["namespace"])
        same = cron_job is not None and cron_job["metadata"]["uid"] == reference["uid"]
        return [object_key(cron_job)] if same and cron_job is not None else []

    async def reconcile(self, key: str) -> None:
        cron_job = self._cron_jobs.by_key(key)
        if cron_job is None:
            self.writes.forget(key)
            return
        self.writes.check(cron_job)
        run = _Run(self, cron_job, self._jobs.by_index(OWNER_INDEX, cron_job["metadata"]["uid"]))
        again = await run.sync()
        self.note(desired={"schedule": cron_job["spec"]["schedule"]}, actual={"active": len(run.active)})
        if again is not None:
            self.queue.add_after(key, again)


def _times_of(cron_job: Object) -> tuple[str, str | None]:
    return cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone")


class _Run:
    """One sync of one CronJob."""

    def __init__(self, controller: CronJobController, cron_job: Object, jobs: list[Object]) -> None:
        self._controller = controller
        self._client = controller.client
        self._cron_job = cron_job
        self._jobs = jobs
        self._now = controller.clock.now()
        status = cron_job.get("status") or {}
        self._status: Object = dict(status)
        self.active: list[Object] = list(status.get("active") or ())

    def _tell(self, type: str, reason: str, message: str) -> None:
        self._controller.recorder.event(self._cron_job, type, reason, message)

    async def sync(self) -> float | None:
        """Seconds until the next sync; None if nothing is to come."""
        await self._clean_up()
        self._follow_jobs()
        await self._drop_missing()
        try:
            return await self._start_due()
        finally:
            await self._write()

    # -- Jobs that were started

    def _follow_jobs(self) -> None:
        uids = {reference["uid"] for reference in self.active}
        for job in self._jobs:
            name, uid = job["metadata"]["name"], job["metadata"]["uid"]
            if is_finished(job):
                self._note_end(job, name, known=uid in uids)
            elif uid not in uids:
                message = f"Saw a job that the controller did not create or forgot: {name}"
                self._tell(WARNING, "UnexpectedJob", message)

    def _note_end(self, job: Object, name: str, *, known: bool) -> None:
        complete = is_true(conditions_of(job.get("status") or {}), "Complete")
        if known:
            self.active = [each for each in self.active if each["uid"] != job["metadata"]["uid"]]
            outcome = "Complete" if complete else "Failed"
            self._tell(NORMAL, "SawCompletedJob", f"Saw completed job: {name}, condition: {outcome}")
        ended = (job.get("status") or {}).get("completionTime")
        if complete and ended and ended > self._status.get("lastSuccessfulTime", ""):
            self._status["lastSuccessfulTime"] = ended

    async def _drop_missing(self) -> None:
        """Jobs that somebody deleted are not active any more."""
        seen = {job["metadata"]["uid"] for job in self._jobs}
        for reference in [each for each in self.active if each["uid"] not in seen]:
            try:
                await self._client.get(JOBS, reference["name"], namespace=self._cron_job["metadata"]["namespace"])
            except ApiError as error:
                if error.code != 404:
                    raise
                self._tell(NORMAL, "MissingJob", f"Active job went missing: {reference['name']}")
                self.active.remove(reference)

    async def _clean_up(self) -> None:
        """Of the Jobs that ended, keep the newest of each outcome; one that cannot be deleted keeps nothing waiting."""
        ended = [job for job in self._jobs if is_finished(job)]
        good = [job for job in ended if is_true(conditions_of(job["status"]), "Complete")]
        bad = [job for job in ended if job not in good]
        spec = self._cron_job["spec"]
        for jobs, limit in ((good, spec.get("successfulJobsHistoryLimit")), (bad, spec.get("failedJobsHistoryLimit"))):
            if limit is None:
                continue
            jobs.sort(key=lambda job: ((job.get("status") or {}).get("startTime") or "", job["metadata"]["name"]))
            for job in jobs[: max(0, len(jobs) - limit)]:
                await self._delete(job)

    async def _delete(self, job: Object) -> ApiError | None:
        """What keeps the Job from being deleted, if anything does."""
        metadata = job["metadata"]
        try:
            await self._client.delete(
                JOBS, metadata["name"], namespace=metadata["namespace"], propagation_policy="Background"
            )
        except ApiError as error:
            if error.code == 404:
                return None
            self._tell(WARNING, "FailedDelete", f"Deleted job: {error}")
            return error
        self.active = [each for each in self.active if each["uid"] != metadata["uid"]]
        self._tell(NORMAL, "SuccessfulDelete", f"Deleted job {metadata['name']}")
        return None

    # -- Jobs to start

    async def _start_due(self) -> float | None:
        spec = self._cron_job["spec"]
        if self._cron_job["metadata"].get("deletionTimestamp"):
            return None
        schedule: Timetable | None = None
        unread = ""
        try:
            schedule = parse_schedule(*_times_of(self._cron_job))
        except TimeZoneError as error:  # told of a suspended one too
            self._tell(WARNING, "UnknownTimeZone", f'invalid timeZone: "{spec["timeZone"]}": {error}')
            return None
        except ScheduleError as error:
            unread = f'unparseable schedule: "{spec["schedule"]}" : {error}'
        if spec.get("suspend"):
            return None
        if ZONE in spec["schedule"]:
            self._tell(WARNING, "UnsupportedSchedule", _ZONED.format(quoted(spec["schedule"])))
        if schedule is None:
            self._tell(WARNING, "UnparseableSchedule", unread)
            return None
        try:
            found = due(self._cron_job, schedule, self._now)
        except ScheduleError as error:
            self._tell(WARNING, "InvalidSchedule", f"invalid schedule: {spec['schedule']} : {error}")
            return None
        if found.at is not None:
            if found.missed > TOO_MANY:
                self._tell(
                    WARNING,
                    "TooManyMissedTimes",
                    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
                )
            if not await self._start(found.at):
                return None
        return next_in({**self._cron_job, "status": self._status}, schedule, self._now)

    async def _start(self, at: datetime) -> bool:
        """Whether the next time is looked out for: not where the Job's name is another's, until something changes."""
        name = job_name(self._cron_job, at)
        last = self._status.get("lastScheduleTime")
        if self._is_too_late(at):
            shown = at.strftime("%a, %d %b %Y %H:%M:%S %z")
            self._tell(WARNING, "MissSchedule", f"Missed scheduled time to start a job: {shown}")
            return True
        if any(each["name"] == name for each in self.active) or (last and parse_time(last) == at):
            return True
        policy = self._cron_job["spec"].get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and self.active:
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._tell(NORMAL, "JobAlreadyActive", message)
            return True
        if policy == "Replace":
            running = {each["uid"] for each in self.active}
            for job in [job for job in self._jobs if job["metadata"]["uid"] in running]:
                if (failure := await self._delete(job)) is not None:
                    raise failure
        return await self._create(at)

    def _is_too_late(self, at: datetime) -> bool:
        deadline = self._cron_job["spec"].get("startingDeadlineSeconds")
        return deadline is not None and (self._now - at).total_seconds() > deadline

    async def _create(self, at: datetime) -> bool:
        namespace = self._cron_job["metadata"]["namespace"]
        job = make_job(self._cron_job, at, at.astimezone(ZoneInfo(self._cron_job["spec"].get("timeZone") or "UTC")))
        try:
            created = await self._client.create(JOBS, job, namespace=namespace)
        except ApiError as error:
            if namespace_terminating(error):
                return True
            if error.reason != "AlreadyExists":
                self._tell(WARNING, "FailedCreate", f"Error creating job: {error}")
                raise
            created = await self._client.get(JOBS, job["metadata"]["name"], namespace=namespace)
            owner = controller_of(created) or {}
            if owner.get("uid") != self._cron_job["metadata"]["uid"]:
                return False  # of which this status has nothing to tell
        else:
            late = parse_time(created["metadata"]["creationTimestamp"]) - at
            self._controller.skew.observe(late.total_seconds())
            self._tell(NORMAL, "SuccessfulCreate", f"Created job {created['metadata']['name']}")
        self.active.append(object_reference({**created, "kind": "Job", "apiVersion": "batch/v1"}))
        self._status["lastScheduleTime"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return True

    async def _write(self) -> None:
        self._status.pop("active", None)
        if self.active:
            self._status["active"] = self.active
        if self._status != (self._cron_job.get("status") or {}):
            written = {**self._cron_job, "status": self._status}
            self._controller.writes.note(await self._client.update_status(CRON_JOBS, written))
