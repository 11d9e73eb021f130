"""What controllers tell of themselves on /metrics besides their queues: upstream's STABLE metrics of Jobs, CronJobs and
Nodes (test/integration/job TestMetricsOnSuccesses, pkg/controller/nodelifecycle)."""

from __future__ import annotations

from engine.api.types import NODES, PODS
from engine.client import Client
from engine.controllers.job.controller import JOBS
from engine.controllers.nodelifecycle.controller import NodeLifecycleController
from engine.world import World
from tests.controllers import test_cronjob, test_job
from tests.controllers.cluster import TestCluster, running
from tests.controllers.test_nodes import node, report_ready


async def figures(client: Client, about: str) -> dict[str, float]:
    """The samples of metrics whose names begin so, by the rest of their names and their labels; without buckets."""
    body = (await client.send("GET", "/metrics")).body
    samples = [line.rsplit(" ", 1) for line in body.decode().splitlines() if line.startswith(about)]
    return {name.removeprefix(about): float(value) for name, value in samples if "_bucket" not in name}


async def finished(cluster: TestCluster, end: str, code: int, **spec: object) -> None:
    await test_job.create(cluster, **spec)
    await test_job.until(cluster, end, code)
    await cluster.admin.delete(JOBS, "work", namespace="default", propagation_policy="Background")

    async def gone() -> bool:
        return not await cluster.objects(PODS, namespace="default")

    await cluster.eventually("its Pods are gone", gone)


async def test_jobs_are_counted_by_how_they_end(world: World) -> None:
    async with running(world) as cluster:
        await finished(cluster, "Complete", 0, completions=3, parallelism=2)
        await finished(cluster, "Failed", 1, completions=1, completionMode="Indexed", backoffLimit=0)
        found = await figures(cluster.admin, "job_controller_job")
        plain, indexed = 'completion_mode="NonIndexed"', 'completion_mode="Indexed"'
        ended = {name: value for name, value in found.items() if "finished" in name}
        assert ended == {
            f'_pods_finished_total{{{indexed},result="failed"}}': 1,
            f'_pods_finished_total{{{indexed},result="succeeded"}}': 0,
            f'_pods_finished_total{{{plain},result="failed"}}': 0,
            f'_pods_finished_total{{{plain},result="succeeded"}}': 3,
            f's_finished_total{{{indexed},reason="BackoffLimitExceeded",result="failed"}}': 1,
            f's_finished_total{{{plain},reason="CompletionsReached",result="succeeded"}}': 1,
        }
        created = f'{{action="pods_created",{plain},result="success"}}'
        assert found[f"_syncs_total{created}"] == 2, "two Pods, and the third when one has ended"
        assert found[f"_sync_duration_seconds_count{created}"] == 2
        assert found[f'_syncs_total{{action="tracking",{plain},result="success"}}'] > 0


async def test_how_late_jobs_of_a_schedule_are_is_measured(world: World) -> None:
    async with running(world) as cluster:
        about = "cronjob_controller_job_creation_skew_duration_seconds"
        assert await figures(cluster.admin, about) == {"_count": 0, "_sum": 0}
        await test_cronjob.create(cluster)

        async def started() -> list[str]:
            return await test_cronjob.jobs(cluster)

        await cluster.eventually("a Job is started", started)
        found = await figures(cluster.admin, about)
        assert found["_count"] == 1
        assert 0 <= found["_sum"] < 2


async def test_nodes_that_pods_are_driven_off_are_counted_by_zone(world: World) -> None:
    async with running(world, controllers=(NodeLifecycleController,)) as cluster:
        for name in ("a", "b", "c"):
            await cluster.admin.create(NODES, node(name))
            await report_ready(cluster, name)
        for _ in range(10):
            await world.clock.sleep(10)
            await report_ready(cluster, "a")
            await report_ready(cluster, "b")
        assert list((await figures(cluster.admin, "node_collector_evictions_total")).values()) == [1]
