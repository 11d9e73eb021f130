"""Questions to a running cluster are decided by what its scheduler runs by."""

from __future__ import annotations

import pytest

from engine.api.types import Object
from engine.scheduler.configuration.loading import load
from engine.world import World
from ktui.whatif.question import WhatIf
from ktui.whatif.running import NoSuchObjectError, read_running, why_undecided
from tests.scheduler.objects import pod
from tests.scheduler.stage import Stage, open_stage

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 9}]}
- schedulerName: second
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [small]}]}]
"""


async def answered(stage: Stage, *wanted: Object) -> list[tuple[str, str, str]]:
    running = await read_running(stage.admin)
    assert running.configuration is not None
    asked = WhatIf(running.objects, list(wanted), version=running.version)
    return [(o.pod, o.node, o.message) for o in await asked.place(running.configuration)]


async def test_a_question_is_decided_by_the_profiles_that_run(world: World) -> None:
    async with open_stage(world, configuration=load(CONFIGURATION)) as stage:
        await stage.add_node("large", cpu="16")
        await stage.add_node("small", cpu="2")
        packed, second, third = (
            pod("packed", cpu="1"),
            pod("s", schedulerName="second"),
            pod("t", schedulerName="third"),
        )
        assert await answered(stage, packed, second, third) == [
            ("default/packed", "small", ""),
            ("default/s", "small", ""),
            ("default/t", "", 'no profile serves schedulerName "third"; there are: default-scheduler, second'),
        ]
        await stage.add_pod("other", schedulerName="third")
        why = await why_undecided(stage.admin, "Pod", "other", "default")
        assert why == 'Pod other waits for a scheduler of the name "third": if one runs, it is not this one'


async def test_a_cluster_without_a_scheduler_tells_no_configuration(world: World) -> None:
    async with open_stage(world) as stage:
        assert (await read_running(stage.admin)).configuration == load(CONFIGURATION.partition("profiles")[0])
        await stage.scheduler.stop()
        assert (await read_running(stage.admin)).configuration is None


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Pod", 'pods "nope" not found'),
        ("Deployment", 'deployments.apps "nope" not found'),
        ("CronJob", 'cronjobs.batch "nope" not found'),
        ("Node", 'nodes "nope" not found'),
    ],
)
async def test_what_is_not_there_is_told_as_kubectl_tells_it(world: World, kind: str, said: str) -> None:
    async with open_stage(world) as stage:
        with pytest.raises(NoSuchObjectError) as failure:
            await why_undecided(stage.admin, kind, "nope", "default")
        assert f"{failure.value.prefix}: {failure.value}" == f"Error from server (NotFound): {said}"
