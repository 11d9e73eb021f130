"""A schedule that names its time zone itself is let in no more, but one that is there goes by it (upstream's
TestControllerV2SyncCronJob, "TZ is also set in schedule")."""

from __future__ import annotations

from base64 import b64encode

import orjson

from engine.controllers.cronjob.controller import CRON_JOBS, CronJobController
from engine.controllers.job.controller import JOBS
from engine.world import World
from tests.controllers.cluster import running
from tests.controllers.test_cronjob import cron_job


async def test_a_zone_in_the_schedule_goes_before_the_other(world: World) -> None:
    schedule = "TZ=Asia/Kolkata 34 5 * * *"  # four minutes after midnight in UTC
    async with running(world, controllers=(CronJobController,)) as cluster:
        made = cron_job("0 0 1 1 *", timeZone="Europe/Berlin")
        made["metadata"] = {"name": "tick", "namespace": "default"}
        made = await cluster.admin.create(CRON_JOBS, made, namespace="default")
        kept = orjson.dumps({**made, "spec": {**made["spec"], "schedule": schedule}})
        put = {"key": b64encode(b"/registry/cronjobs/default/tick").decode(), "value": b64encode(kept).decode()}
        txn = {"success": [{"request_put": put}]}
        answer = await cluster.admin.send("POST", "/debug/ktui/store/txn", body=orjson.dumps(txn))
        assert answer.status == 200, answer.body

        async def started() -> list[str]:
            jobs = await cluster.objects(JOBS, namespace="default")
            return [job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] for job in jobs]

        # The annotation shows the moment in the zone beside the schedule.
        assert await cluster.eventually("a Job is started", started) == ["2026-01-01T01:04:00+01:00"]
        assert set(await cluster.events("UnsupportedSchedule")) == {
            'CRON_TZ or TZ used in schedule "TZ=Asia/Kolkata 34 5 * * *" is not officially supported, see '
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        }
