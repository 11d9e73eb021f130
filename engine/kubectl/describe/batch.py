"""Jobs and CronJobs in words.

Source of the behaviour: kubectl pkg/describe (describeJob, describeCronJob, describeJobTemplate).
"""

from __future__ import annotations

from engine.api.duration import human_duration
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.kubectl.describe import events, pods
from engine.kubectl.describe.writer import NONE, UNSET, Page, parse_time, yes_no
from engine.kubectl.session import Session

SHOWN_INDEXES = 50


async def job(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.head(obj)
    selector = spec.get("selector")
    page.field("Selector", "" if selector is None else LabelSelector.from_object(selector))
    page.labels_and_annotations(obj)
    if controller := pods.controlled_by(obj):
        page.field("Controlled By", controller)
    if spec.get("parallelism") is not None:
        page.field("Parallelism", spec["parallelism"])
    page.field("Completions", spec.get("completions", UNSET))
    for title, key in (
        ("Completion Mode", "completionMode"),
        ("Suspend", "suspend"),
        ("Backoff Limit", "backoffLimit"),
        ("TTL Seconds After Finished", "ttlSecondsAfterFinished"),
    ):
        if (value := spec.get(key)) is not None:
            page.field(title, str(value).lower() if isinstance(value, bool) else value)
    _times(page, spec, status)
    _counts(page, spec, status)
    pods.template(page, spec.get("template") or {})
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _times(page: Page, spec: Object, status: Object) -> None:
    started, completed = status.get("startTime"), status.get("completionTime")
    if started:
        page.field("Start Time", page.date(started))
    if completed:
        page.field("Completed At", page.date(completed))
    if started and completed:
        page.field("Duration", human_duration((parse_time(completed) - parse_time(started)).total_seconds()))
    if spec.get("activeDeadlineSeconds") is not None:
        page.field("Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")


def _counts(page: Page, spec: Object, status: Object) -> None:
    ready = f" ({status['ready']} Ready)" if status.get("ready") is not None else ""
    ended = f"{status.get('succeeded', 0)} Succeeded / {status.get('failed', 0)} Failed"
    page.field("Pods Statuses", f"{status.get('active', 0)} Active{ready} / {ended}")
    if spec.get("completionMode") == "Indexed":
        page.field("Completed Indexes", _indexes(status.get("completedIndexes", "")))


def _indexes(text: str) -> str:
    """Whole ranges, up to the one that goes over the limit."""
    comma = text.find(",", SHOWN_INDEXES)
    return f"{text[: comma + 1]}..." if comma >= 0 else text or NONE


async def cron_job(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.head(obj)
    page.labels_and_annotations(obj)
    page.field("Schedule", spec.get("schedule", ""))
    page.field("Concurrency Policy", spec.get("concurrencyPolicy", ""))
    page.field("Suspend", UNSET if spec.get("suspend") is None else yes_no(spec["suspend"]))
    page.field("Time Zone", spec.get("timeZone", UNSET))
    page.field("Successful Job History Limit", spec.get("successfulJobsHistoryLimit", UNSET))
    page.field("Failed Job History Limit", spec.get("failedJobsHistoryLimit", UNSET))
    deadline = spec.get("startingDeadlineSeconds")
    page.field("Starting Deadline Seconds", UNSET if deadline is None else f"{deadline}s")
    _job_template(page, (spec.get("jobTemplate") or {}).get("spec") or {})
    last = status.get("lastScheduleTime")
    page.field("Last Schedule Time", page.date(last) if last else UNSET)
    page.field("Active Jobs", ", ".join(one.get("name", "") for one in status.get("active") or ()) or NONE)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _job_template(page: Page, spec: Object) -> None:
    page.field("Selector", LabelSelector.from_object(spec["selector"]) if spec.get("selector") is not None else UNSET)
    page.field("Parallelism", spec.get("parallelism", UNSET))
    page.field("Completions", spec.get("completions", UNSET))
    if spec.get("activeDeadlineSeconds") is not None:
        page.field("Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")
    pods.template(page, spec.get("template") or {})
