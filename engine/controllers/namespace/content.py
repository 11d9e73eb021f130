"""Deletes what is in a namespace, resource by resource (deletion/namespaced_resources_deleter.go)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.client import Client
from engine.controllers.discovery import Resource
from engine.controllers.namespace.conditions import Findings
from engine.controllers.pods import is_terminal

FINALIZER_ESTIMATE = 15


class ContentDeleter:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def delete_all(
        self, namespace: str, resources: Iterable[Resource], *, deleted_at: datetime, now: datetime
    ) -> Findings:
        """One pass. Pods go first, and nothing else before they are gone, so that NetworkPolicies and the like
        protect them to the last (KEP-5080)."""
        findings = Findings()
        ordered = list(resources)
        pods = [each for each in ordered if each.gvr == PODS]
        for each in pods:
            await self._delete_resource(namespace, each, findings, deleted_at=deleted_at, now=now)
        if findings.remaining or findings.errors:
            return findings
        for each in ordered:
            if each.gvr != PODS:
                await self._delete_resource(namespace, each, findings, deleted_at=deleted_at, now=now)
        return findings

    async def _delete_resource(
        self, namespace: str, resource: Resource, findings: Findings, *, deleted_at: datetime, now: datetime
    ) -> None:
        try:
            await self._try(namespace, resource, findings, deleted_at=deleted_at, now=now)
        except ApiError as error:
            findings.errors.append(str(error))

    async def _try(
        self, namespace: str, resource: Resource, findings: Findings, *, deleted_at: datetime, now: datetime
    ) -> None:
        gvr = resource.gvr
        estimate = 0
        if gvr == PODS:
            estimate = await self._grace(namespace, deleted_at=deleted_at, now=now)
        if "deletecollection" in resource.verbs:
            await self._delete_collection(gvr, namespace)
        elif "delete" in resource.verbs:
            await self._delete_each(gvr, namespace)
        if "list" not in resource.verbs:
            return
        left = (await self._client.list(gvr, namespace=namespace)).items
        if not left:
            return
        findings.remaining[gvr] = len(left)
        names = [name for obj in left for name in obj["metadata"].get("finalizers") or ()]
        for name in names:
            findings.finalizers[name] = findings.finalizers.get(name, 0) + 1
        if not estimate and not names:
            findings.errors.append(f"unexpected items still remain in namespace: {namespace} for gvr: {_shown(gvr)}")
            return
        findings.estimate = max(findings.estimate, estimate or FINALIZER_ESTIMATE)

    async def _grace(self, namespace: str, *, deleted_at: datetime, now: datetime) -> int:
        """The longest grace period of a Pod, as long as it runs."""
        pods = (await self._client.list(PODS, namespace=namespace)).items
        periods = [_grace_period(pod) for pod in pods if not is_terminal(pod)]
        longest = max(periods, default=0)
        return longest if (now - deleted_at).total_seconds() < longest else 0

    async def _delete_collection(self, gvr: GVR, namespace: str) -> None:
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        await self._client.request("DELETE", gvr.path(namespace), body=options)

    async def _delete_each(self, gvr: GVR, namespace: str) -> None:
        for obj in (await self._client.list(gvr, namespace=namespace)).items:
            try:
                await self._client.delete(
                    gvr, obj["metadata"]["name"], namespace=namespace, propagation_policy="Background"
                )
            except ApiError as error:
                if error.code not in (404, 405):
                    raise


def _grace_period(pod: Object) -> int:
    return int(pod["spec"].get("terminationGracePeriodSeconds") or 0)


def _shown(gvr: GVR) -> str:
    """As Go prints a GroupVersionResource."""
    return f"{gvr.group}/{gvr.version}, Resource={gvr.resource}"
