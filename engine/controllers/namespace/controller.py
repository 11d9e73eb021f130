"""The namespace controller (pkg/controller/namespace/namespace_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.types import NAMESPACES, Object
from engine.client import Origin
from engine.controllers.conditions import conditions_of, is_true
from engine.controllers.controller import Controller
from engine.controllers.discovery import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    Discovery,
    Resource,
    resources_of,
)
from engine.controllers.namespace.conditions import Findings, deletion_conditions
from engine.controllers.namespace.content import ContentDeleter
from engine.controllers.pods import parse_time
from engine.trace import current_context

FINALIZER = "kubernetes"
# Last-minute writes into the namespace, by API servers that do not know yet, are seen after this.
GRACE = 5.0


class NamespaceController(Controller):
    name = "namespace-controller"
    kind = "namespace"
    workers = 10

    def set_up(self) -> None:
        self._namespaces = self.lister(NAMESPACES)
        self._discovery = Discovery(self.config.kubernetes_version)
        self._api_services = self.lister(API_SERVICES)
        self._content = ContentDeleter(self.client)
        self.watch(NAMESPACES, self._terminating, delay=lambda key, old, new: GRACE)
        if self._discovery.has(CUSTOM_RESOURCE_DEFINITIONS):
            self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._crd_changed)

    @staticmethod
    def _terminating(old: Object | None, new: Object | None) -> Iterable[str]:
        return (new["metadata"]["name"],) if new is not None and new["metadata"].get("deletionTimestamp") else ()

    def _crd_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        self._discovery.crd_changed(old, new)
        return ()

    async def reconcile(self, key: str) -> None:
        namespace = await self._live(key)
        if namespace is None or not namespace["metadata"].get("deletionTimestamp"):
            return
        namespace = await self._mark_terminating(namespace)
        if FINALIZER not in (namespace["spec"].get("finalizers") or ()):
            return
        others, away = await self._elsewhere()
        findings = await self._content.delete_all(
            key,
            [*(each for each in self._discovery if each.namespaced), *others],
            deleted_at=parse_time(namespace["metadata"]["deletionTimestamp"]),
            now=self.clock.now(),
        )
        self.note(desired={}, actual={gvr.group_resource: count for gvr, count in findings.remaining.items()})
        findings.undiscovered = away
        namespace = await self._report(namespace, findings)
        if errors := [*([findings.discovery_error()] if findings.undiscovered else []), *findings.errors]:
            raise ApiError(500, "ContentDeletionFailed", ", ".join(errors))
        if findings.estimate:
            self.queue.add_after(key, findings.estimate // 2 + 1, Origin(cause=current_context()))
        else:
            await self._finalize(namespace)

    async def _elsewhere(self) -> tuple[list[Resource], list[str]]:
        """What other servers keep in namespaces and would delete, and the group versions of those that are away: what
        they keep nobody knows, and the namespace stays."""
        found: dict[tuple[str, str], Resource] = {}
        away = []
        for each in self._api_services.list():
            spec = each["spec"]
            if not spec.get("service"):
                continue
            group, version = spec["group"], spec["version"]
            try:
                if not is_true(conditions_of(each.get("status") or {}), "Available"):
                    raise ConnectionError
                document = await self.client.request("GET", f"/apis/{group}/{version}")
            except (ApiError, ConnectionError):
                away.append(f"{group}/{version}")
                continue
            for resource in resources_of(document):
                if resource.namespaced and "delete" in resource.verbs:
                    found.setdefault((group, resource.gvr.resource), resource)
        return list(found.values()), away

    async def _live(self, name: str) -> Object | None:
        """From the API server: a cache that lags must not make it miss content."""
        try:
            return await self.client.get(NAMESPACES, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def _mark_terminating(self, namespace: Object) -> Object:
        status = namespace.get("status") or {}
        if status.get("phase") == "Terminating":
            return namespace
        return await self.client.update_status(NAMESPACES, {**namespace, "status": {**status, "phase": "Terminating"}})

    async def _report(self, namespace: Object, findings: Findings) -> Object:
        status = namespace.get("status") or {}
        before = conditions_of(status)
        after = deletion_conditions(before, findings, self.clock.now())
        if after == before:
            return namespace
        return await self.client.update_status(NAMESPACES, {**namespace, "status": {**status, "conditions": after}})

    async def _finalize(self, namespace: Object) -> None:
        """Give up this controller's finalizer; with the last of them the API server removes the namespace."""
        left = [each for each in namespace["spec"].get("finalizers") or () if each != FINALIZER]
        try:
            await self.client.update(
                NAMESPACES, {**namespace, "spec": {**namespace["spec"], "finalizers": left}}, subresource="finalize"
            )
        except ApiError as error:
            if error.code != 404:
                raise
