"""Objects that are to be stored in another version, and what their definition says of it."""

from __future__ import annotations

import copy

from engine.api.types import GVR, Object
from engine.config import ClusterConfig
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from engine.controllers.storageversionmigrator import MIGRATIONS, StorageVersionMigratorController
from engine.world import World
from tests.api.crd.samples import GROUP, definition
from tests.controllers.cluster import TestCluster, running

CRON_TABS = GVR(GROUP, "v2", "crontabs")
DONE = [
    ("Running", "False", "MigrationCompleted", "Migration completed"),
    ("Succeeded", "True", "StorageVersionMigrationSucceeded", ""),
]


def stored_in(version: str, *, served: tuple[str, ...] = ("v1", "v2")) -> Object:
    made = definition({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    first = made["spec"]["versions"][0]
    made["spec"]["versions"] = [{**copy.deepcopy(first), "name": name, "storage": name == version} for name in served]
    made.pop("status")
    made["metadata"].pop("uid")
    return made


async def migrate(cluster: TestCluster, name: str, group: str, resource: str) -> None:
    wanted = {"resource": {"group": group, "resource": resource}}
    await cluster.admin.create(MIGRATIONS, {"metadata": {"name": name}, "spec": wanted})


async def finished(cluster: TestCluster, name: str) -> list[tuple[str, ...]]:
    """Its conditions once it no longer runs."""

    async def over() -> list[tuple[str, ...]] | None:
        status = (await cluster.admin.get(MIGRATIONS, name)).get("status") or {}
        told: list[tuple[str, ...]] = [
            (each["type"], each["status"], each["reason"], each["message"]) for each in status.get("conditions", ())
        ]
        return told if len(told) == 2 and told[0][1] == "False" else None

    found: list[tuple[str, ...]] = await cluster.eventually(f"{name} is over", over)
    return found


async def defined(cluster: TestCluster) -> Object:
    async def established() -> Object | None:
        found = await cluster.admin.get(CUSTOM_RESOURCE_DEFINITIONS, f"crontabs.{GROUP}")
        conditions = found.get("status", {}).get("conditions", ())
        return found if any((each["type"], each["status"]) == ("Established", "True") for each in conditions) else None

    found: Object = await cluster.eventually("the kind is served", established)
    return found


async def test_after_a_migration_an_old_version_of_a_custom_resource_can_go(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(CUSTOM_RESOURCE_DEFINITIONS, stored_in("v1"))
        await defined(cluster)
        tab = {"apiVersion": f"{GROUP}/v2", "kind": "CronTab", "metadata": {"name": "a"}, "spec": {"size": 3}}
        await cluster.admin.create(CRON_TABS, tab, namespace="default")
        known = await defined(cluster)
        newer = await cluster.admin.update(CUSTOM_RESOURCE_DEFINITIONS, {**known, "spec": stored_in("v2")["spec"]})
        assert newer["status"]["storedVersions"] == ["v1", "v2"]
        before = await cluster.admin.get(CRON_TABS, "a", namespace="default")

        await migrate(cluster, "crontabs", GROUP, "crontabs")
        assert await finished(cluster, "crontabs") == DONE
        told = await defined(cluster)
        assert told["status"]["storedVersions"] == ["v2"]
        migrating = next(each for each in told["status"]["conditions"] if each["type"] == "StorageMigrating")
        assert (migrating["status"], migrating["reason"]) == ("False", "MigrationSucceeded")
        assert migrating["message"] == "The migration has succeeded and the stored versions have been updated"
        assert migrating["observedGeneration"] == told["metadata"]["generation"]
        managers = [(each["manager"], each["operation"]) for each in told["metadata"]["managedFields"]]
        assert ("migration-runner-controller", "Apply") in managers
        after = await cluster.admin.get(CRON_TABS, "a", namespace="default")
        assert int(after["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"]), "written anew"
        assert after["spec"] == before["spec"]
        assert after["metadata"]["managedFields"] == before["metadata"]["managedFields"], "as nobody's change"

        only = {**told, "spec": stored_in("v2", served=("v2",))["spec"]}
        await cluster.admin.update(CUSTOM_RESOURCE_DEFINITIONS, only)
        assert (await cluster.admin.get(CRON_TABS, "a", namespace="default"))["spec"] == {"size": 3}


async def test_migrations_of_one_resource_take_turns(world: World) -> None:
    async with running(world) as cluster:
        for name in ("first", "second"):
            await migrate(cluster, name, "", "configmaps")
        assert [await finished(cluster, name) for name in ("first", "second")] == [DONE, DONE]
        first, second = [(await cluster.admin.get(MIGRATIONS, name))["status"] for name in ("first", "second")]
        assert int(first["resourceVersion"]) < int(second["resourceVersion"])


async def test_a_resource_that_nobody_serves_is_given_up_after_a_minute(world: World) -> None:
    async with running(world) as cluster:
        made = world.clock.now()
        await migrate(cluster, "lost", "example.com", "widgets")
        failed = ("Failed", "True", "StorageVersionMigrationFailed", "resource does not exist in discovery")
        assert await finished(cluster, "lost") == [DONE[0], failed]
        assert (world.clock.now() - made).total_seconds() >= 60


def test_older_releases_have_no_migrator() -> None:
    needed = {
        v: StorageVersionMigratorController.is_needed(ClusterConfig(kubernetes_version=v)) for v in ("1.36", "1.37")
    }
    assert needed == {"1.36": False, "1.37": True}
