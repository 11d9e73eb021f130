"""The storage version migrator: writes all objects of a resource once more, so that they are stored in the version that
is stored now (pkg/controller/storageversionmigrator, KEP-4192, stable in 1.37).

Upstream shares the work among three controllers: one lets a single migration of a resource run, one notes the revision
up to which there is something to do, one writes. Here they are the steps of one reconcile, whose key is the resource.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.config import ClusterConfig
from engine.controllers.conditions import conditions_of, is_true
from engine.controllers.controller import Controller, RetryLaterError
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS, Discovery, Resource
from engine.controllers.features import migrates_storage
from engine.controllers.pods import parse_time
from engine.controllers.storageversionmigrator.definitions import migrated, migrating

MIGRATIONS = GVR("storagemigration.k8s.io", "v1", "storageversionmigrations")
RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
RUNNER = "migration-runner-controller"  # who tells of a migration in its definition
PATIENCE = timedelta(minutes=1)  # with a resource that may yet become known
PAGE = 500
_RETRIABLE = (429, 500, 503, 504)


class StorageVersionMigratorController(Controller):
    name = "storage-version-migrator-controller"
    kind = "storageversionmigration"

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return migrates_storage(config.kubernetes_version)

    def set_up(self) -> None:
        self._migrations = self.lister(MIGRATIONS)
        self._definitions = self.lister(CUSTOM_RESOURCE_DEFINITIONS)
        self._discovery = Discovery(self.config.kubernetes_version)
        self.watch(MIGRATIONS, _resource)
        self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._discovery.follow)

    def object_of(self, key: str) -> str:
        return f"{self.kind}s of {key}"

    async def reconcile(self, key: str) -> None:
        """One step; what it writes wakes the key for the next."""
        migrations = sorted((each for each in self._migrations.list() if key in _resource(None, each)), key=_age)
        under_way = sum(not _is_over(each) for each in migrations)
        self.note(desired={"under way": 0}, actual={"under way": under_way})
        for migration in migrations:
            if _is(migration, RUNNING) and _is_over(migration):
                await self._finish(key, migration)
        waiting = [each for each in migrations if not _is_over(each)]
        running = next((each for each in waiting if _is(each, RUNNING)), None)
        if running is not None:
            await self._go_on(running)
        elif waiting:
            await self._begin(key, waiting[0])

    # -- one migration at a time

    async def _begin(self, key: str, migration: Object) -> None:
        definition = self._definitions.get(key)
        if definition is not None:
            await self._apply(definition, migrating(definition, migration["metadata"]["name"], self.clock.timestamp()))
        await self._say(migration, RUNNING, "MigrationRunning", "The migration is running")

    async def _finish(self, key: str, migration: Object) -> None:
        definition = self._definitions.get(key)
        if definition is not None:
            status = migrated(definition, succeeded=_is(migration, SUCCEEDED), now=self.clock.timestamp())
            await self._apply(definition, status)
        await self._say(migration, RUNNING, "MigrationCompleted", "Migration completed", value="False")

    async def _apply(self, definition: Object, status: Object) -> None:
        """Fails where the definition has changed meanwhile: what is told of its generation would be wrong."""
        name, version = definition["metadata"]["name"], definition["metadata"]["resourceVersion"]
        applied = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name, "resourceVersion": version},
            "status": status,
        }
        await self.client.patch(
            CUSTOM_RESOURCE_DEFINITIONS,
            name,
            applied,
            subresource="status",
            content_type=APPLY_PATCH,
            field_manager=RUNNER,
            force=True,
        )

    async def _go_on(self, migration: Object) -> None:
        wanted = migration["spec"]["resource"]
        resource = self._discovery.by_resource(wanted.get("group", ""), wanted["resource"])
        if resource is None or not resource.deletable:
            if self.clock.now() < parse_time(migration["metadata"]["creationTimestamp"]) + PATIENCE:
                raise RetryLaterError("resource does not exist in discovery")
            await self._fail(migration, "resource does not exist in discovery")
        elif revision := (migration.get("status") or {}).get("resourceVersion"):
            await self._migrate(migration, resource, int(revision))
        else:
            newest = (await self.client.list(resource.gvr, limit=1)).resource_version
            status = {**migration["status"], "resourceVersion": newest}
            await self.client.update_status(MIGRATIONS, {**migration, "status": status})

    # -- writing

    async def _migrate(self, migration: Object, resource: Resource, newest: int) -> None:
        """Whoever writes an object while this goes on does what is wanted of it."""
        following = ""
        while True:
            page = await self.client.list(resource.gvr, limit=PAGE, continue_=following)
            for obj in page.items:
                if int(obj["metadata"]["resourceVersion"]) > newest:
                    continue
                try:
                    await self._rewrite(resource, obj["metadata"])
                except ApiError as error:
                    if error.code in (404, 409):
                        continue
                    if error.code in _RETRIABLE:
                        raise
                    await self._fail(migration, f"migration encountered unhandled error: {error}")
                    return
            if not (following := page.continue_):
                break
        await self._say(migration, SUCCEEDED, "StorageVersionMigrationSucceeded", "")

    async def _rewrite(self, resource: Resource, metadata: Object) -> None:
        """Change nothing: what is stored in another version is written all the same. Uid and revision tell an object
        that somebody has written or made anew meanwhile."""
        version = f"{resource.gvr.group}/{resource.gvr.version}" if resource.gvr.group else resource.gvr.version
        same = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        await self.client.patch(
            resource.gvr,
            metadata["name"],
            {"apiVersion": version, "kind": resource.kind, "metadata": same},
            namespace=metadata.get("namespace"),
            content_type=MERGE_PATCH,
            field_manager=self.name,
        )

    # -- telling

    async def _fail(self, migration: Object, message: str) -> None:
        await self._say(migration, FAILED, "StorageVersionMigrationFailed", message)

    async def _say(self, migration: Object, kind: str, reason: str, message: str, *, value: str = "True") -> None:
        made = {
            "type": kind,
            "status": value,
            "lastTransitionTime": self.clock.timestamp(),
            "reason": reason,
            "message": message,
        }
        status = migration.get("status") or {}
        conditions = [made if each["type"] == kind else each for each in conditions_of(status)]
        if made not in conditions:
            conditions.append(made)
        status = {**status, "conditions": conditions}
        await self.client.update_status(MIGRATIONS, {**migration, "status": status})


def _resource(old: Object | None, new: Object | None) -> Iterable[str]:
    """The key: what is to be migrated, which is also the name of its definition where it is a custom resource."""
    resource = (new or old or {})["spec"]["resource"]
    return [f"{resource['resource']}.{resource.get('group', '')}"]


def _age(migration: Object) -> tuple[str, str]:
    return migration["metadata"]["creationTimestamp"], migration["metadata"]["name"]


def _is(migration: Object, kind: str) -> bool:
    return is_true(conditions_of(migration.get("status") or {}), kind)


def _is_over(migration: Object) -> bool:
    return _is(migration, SUCCEEDED) or _is(migration, FAILED)
