"""The garbage collector (pkg/controller/garbagecollector/garbagecollector.go).

Keys are uids of the graph; `orphan/UID` stands for an owner whose dependents are to be let go, `elsewhere/NAME` for an
APIService whose server's resources are to be followed. Before anything is deleted the API server is asked for the
object and its owners: the graph may lag.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from engine.api.errors import ApiError
from engine.api.resource_metrics import stands_for_it
from engine.api.types import EVENTS, GVR, Object
from engine.api.wire import MERGE_PATCH, STRATEGIC_PATCH
from engine.client import WARNING, Origin
from engine.controllers.conditions import conditions_of, is_true
from engine.controllers.controller import Controller, Mapper, RetryLaterError
from engine.controllers.discovery import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    Discovery,
    Resource,
    parse_api_version,
    resources_of,
)
from engine.controllers.garbagecollector.graph import (
    FOREGROUND,
    ORPHAN,
    Graph,
    Identity,
    Node,
    Work,
    identity_of,
    owner_identity,
)
from engine.controllers.ownership import owner_references
from engine.controllers.slow_start import as_failure

IGNORED = frozenset({("", EVENTS.resource), ("events.k8s.io", "events")})
CONFLICT_TRIES = 5
_ELSEWHERE = "elsewhere/"  # before the names of APIServices, in keys


class UnknownKindError(Exception):
    """A reference to a kind that nobody serves: it may come with a CustomResourceDefinition."""


def _serving(old: Object | None, new: Object | None) -> Iterable[str]:
    """Of an APIService that stands for another server, or stood for one. The simulated one keeps nothing."""
    either = [each for each in (old, new) if each is not None]
    if any(each["spec"].get("service") and not stands_for_it(each["spec"]) for each in either):
        yield f"{_ELSEWHERE}{either[0]['metadata']['name']}"


class GarbageCollector(Controller):
    name = "generic-garbage-collector"
    kind = "object"
    event_source = "garbage-collector-controller"
    workers = 20

    def set_up(self) -> None:
        self._graph = Graph()
        self._discovery = Discovery(self.config.kubernetes_version)
        for resource in self._discovery:
            if resource.deletable and (resource.gvr.group, resource.gvr.resource) not in IGNORED:
                self.watch(resource.gvr, self._follow(resource))
        if self._discovery.has(CUSTOM_RESOURCE_DEFINITIONS):
            self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._crd_changed)
        self.watch(API_SERVICES, _serving)

    def object_of(self, key: str) -> str:
        node = self._graph.get(key.removeprefix("orphan/"))
        if node is None:
            return f"object/{key}"
        identity = node.identity
        parts = [identity.kind.lower(), identity.namespace, identity.name]
        return "/".join(part for part in parts if part)

    # -- what wakes it

    def _follow(self, resource: Resource) -> Mapper:
        api_version, kind = resource.gvr.api_version, resource.kind

        def changed(old: Object | None, new: Object | None) -> Iterable[str]:
            if new is not None:
                work = self._graph.seen(old, new, api_version=api_version, kind=kind)
                for dependent, reference in work.astray:
                    self._report_astray(dependent, reference)
                return _keys(work)
            assert old is not None
            return _keys(self._graph.gone(identity_of(old, api_version=api_version, kind=kind).uid))

        return changed

    def _crd_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """A new custom resource is followed from now on, and one that is gone no longer."""
        name = (new or old or {})["metadata"]["name"]
        before = self._discovery.of_crd(name)
        resource = self._discovery.crd_changed(old, new)
        if before is not None and self._discovery.of_crd(name) != before:
            self.unwatch(before.gvr)
        if resource is not None:
            self.watch(resource.gvr, self._follow(resource))
            self.start_informers()
        return ()

    # -- reconciling

    def is_moot(self, key: str) -> bool:
        """Nothing to ask about an object that is on its way already (its dependents' turn comes when it is gone) or
        that nobody owns; a virtual node has often been seen by now."""
        if key.startswith(("orphan/", _ELSEWHERE)):
            return False
        node = self._graph.get(key)
        if node is None:
            return True
        if node.deleting_dependents:
            return False
        return node.being_deleted or not (node.virtual or node.owners)

    async def _follow_elsewhere(self, name: str) -> None:
        """Follow what the server of an APIService keeps, as long as it is there. Raises ApiError, to be tried again."""
        served: list[Resource] = []
        try:
            found = await self.client.get(API_SERVICES, name)
        except ApiError as error:
            if error.code != 404:
                raise
            found = {"spec": {}}
        if (spec := found["spec"]).get("service"):
            if not is_true(conditions_of(found.get("status") or {}), "Available"):
                return  # what is away is not gone
            served = resources_of(await self.client.request("GET", f"/apis/{spec['group']}/{spec['version']}"))
        new, gone = self._discovery.served_elsewhere(name, [each for each in served if each.deletable])
        for each in gone:
            self.unwatch(each.gvr)
        for each in new:
            self.watch(each.gvr, self._follow(each))
        if new:
            self.start_informers()

    async def reconcile(self, key: str) -> None:
        if key.startswith(_ELSEWHERE):
            await self._follow_elsewhere(key.removeprefix(_ELSEWHERE))
            return
        if key.startswith("orphan/"):
            await self._orphan(key.removeprefix("orphan/"))
            return
        node = self._graph.get(key)
        if node is None or self.is_moot(key):
            return
        latest = await self._get(node.identity)
        if latest is None or latest["metadata"]["uid"] != node.identity.uid:
            self._absent(node)
            return
        if node.deleting_dependents:
            await self._wait_for_dependents(node, latest)
        elif node.virtual:
            raise RetryLaterError("item hasn't been observed via informer yet")
        elif owner_references(latest):
            await self._collect(node, latest)

    def _absent(self, node: Node) -> None:
        """The object is not there: as if its deletion had been seen."""
        self._enqueue(self._graph.gone(node.identity.uid))

    def _enqueue(self, work: Work, *origins: Origin) -> None:
        for key in _keys(work):
            self.queue.add(key, *origins)

    async def _collect(self, node: Node, latest: Object) -> None:
        """Delete the object unless an owner holds it (attemptToDeleteItem)."""
        solid, dangling, waiting = await self._classify(node, owner_references(latest))
        self.note(
            desired="kept" if solid else "deleted",
            actual={"solid": _names(solid), "dangling": _names(dangling), "waitingForDependents": _names(waiting)},
        )
        if solid:
            if dangling or waiting:
                await self._remove_references(node, latest, [each["uid"] for each in [*dangling, *waiting]])
            return
        if waiting and node.dependents:
            if any(dependent.deleting_dependents for dependent in node.dependents.values()):
                await self._unblock_owners(node, latest)  # a circle would wait for itself
            await self._delete(node, latest, "Foreground")
            return
        finalizers = latest["metadata"].get("finalizers") or ()
        policy = "Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background"
        await self._delete(node, latest, policy)

    async def _classify(self, node: Node, references: list[Object]) -> tuple[list[Object], list[Object], list[Object]]:
        """Owners that hold the object, that do not exist, and that wait for its deletion."""
        solid: list[Object] = []
        dangling: list[Object] = []
        waiting: list[Object] = []
        for reference in references:
            owner = await self._owner(node, reference)
            if owner is None:
                dangling.append(reference)
                continue
            metadata = owner["metadata"]
            waits = metadata.get("deletionTimestamp") and FOREGROUND in (metadata.get("finalizers") or ())
            (waiting if waits else solid).append(reference)
        return solid, dangling, waiting

    async def _owner(self, node: Node, reference: Object) -> Object | None:
        """The owner as the API server has it; None if there is none with that uid."""
        resource = self._resource(reference.get("apiVersion", ""), reference.get("kind", ""))
        namespace = node.identity.namespace if resource.namespaced else ""
        identity = owner_identity(reference, namespace)
        if self._graph.is_absent(identity):
            return None
        if resource.namespaced and not node.identity.namespace:
            # A cluster-scoped object cannot be owned from within a namespace; that never resolves, so it is kept.
            return {"metadata": {}}
        owner = await self._get(identity)
        if owner is None or owner["metadata"]["uid"] != reference["uid"]:
            self._graph.note_absent(identity)
            return None
        return owner

    def _report_astray(self, node: Node, reference: Object) -> None:
        """An owner of another namespace is none; whoever wrote the reference is told (graph_builder.go)."""
        identity = node.identity
        shown = (
            f"[{reference.get('apiVersion')}/{reference.get('kind')}, namespace: {identity.namespace}, "
            f"name: {reference.get('name')}, uid: {reference['uid']}]"
        )
        target = {
            "apiVersion": identity.api_version,
            "kind": identity.kind,
            "name": identity.name,
            "namespace": identity.namespace,
            "uid": identity.uid,
        }
        message = f'ownerRef {shown} does not exist in namespace "{identity.namespace}"'
        self.recorder.event_of(target, WARNING, "OwnerRefInvalidNamespace", message)

    async def _wait_for_dependents(self, node: Node, latest: Object) -> None:
        """In the foreground: let go of the owner when no dependent blocks it any more."""
        blocking = node.blocking_dependents
        self.note(desired="dependents deleted", actual=[dependent.identity.name for dependent in blocking])
        if not blocking:
            await self._remove_finalizer(node, latest, FOREGROUND)
            return
        for dependent in blocking:
            if not dependent.deleting_dependents:
                self.queue.add(dependent.identity.uid)

    async def _orphan(self, uid: str) -> None:
        """Take the owner out of all its dependents, then let it go."""
        node = self._graph.get(uid)
        if node is None:
            return

        async def release(dependent: Node) -> None:
            latest = await self._get(dependent.identity)
            if latest is not None:
                await self._remove_references(dependent, latest, [uid])

        released = [release(dependent) for dependent in list(node.dependents.values())]
        results = await asyncio.gather(*released, return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise as_failure(failures)
        latest = await self._get(node.identity)
        if latest is not None:
            await self._remove_finalizer(node, latest, ORPHAN)

    # -- acting

    def _resource(self, api_version: str, kind: str) -> Resource:
        resource = self._discovery.by_kind(parse_api_version(api_version, kind))
        if resource is None:
            raise UnknownKindError(f'no matches for kind "{kind}" in version "{api_version}"')
        return resource

    def _where(self, identity: Identity) -> tuple[GVR, str | None]:
        resource = self._resource(identity.api_version, identity.kind)
        return resource.gvr, identity.namespace or None if resource.namespaced else None

    async def _get(self, identity: Identity) -> Object | None:
        gvr, namespace = self._where(identity)
        try:
            return await self.client.get(gvr, identity.name, namespace=namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def _delete(self, node: Node, latest: Object, policy: str) -> None:
        """Delete the version that was judged; if only something else changed meanwhile, delete it all the same."""
        gvr, namespace = self._where(node.identity)
        metadata = latest["metadata"]
        preconditions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        for _ in range(2):
            try:
                await self.client.delete(
                    gvr,
                    node.identity.name,
                    namespace=namespace,
                    propagation_policy=policy,
                    preconditions=preconditions,
                )
                return
            except ApiError as error:
                if error.code == 404:
                    self._absent(node)
                    return
                if error.code != 409 or "resourceVersion" not in preconditions:
                    raise
                now = await self._get(node.identity)
                if now is None or owner_references(now) != owner_references(latest):
                    raise
                del preconditions["resourceVersion"]

    async def _remove_references(self, node: Node, latest: Object, uids: list[str]) -> None:
        kept = [reference for reference in owner_references(latest) if reference["uid"] not in uids]
        deleted = [{"$patch": "delete", "uid": uid} for uid in uids]
        await self._patch_references(node, latest, strategic=deleted, merge=kept)

    async def _unblock_owners(self, node: Node, latest: Object) -> None:
        unblocked = [
            {**reference, "blockOwnerDeletion": False} if reference.get("blockOwnerDeletion") else reference
            for reference in owner_references(latest)
        ]
        await self._patch_references(node, latest, strategic=unblocked, merge=unblocked)

    async def _patch_references(
        self, node: Node, latest: Object, *, strategic: list[Object], merge: list[Object]
    ) -> None:
        """Built-in kinds merge lists by key; custom ones are given the whole list."""
        resource = self._resource(node.identity.api_version, node.identity.kind)
        metadata: dict[str, Any] = {"uid": node.identity.uid}
        if resource.custom:
            metadata |= {"resourceVersion": latest["metadata"]["resourceVersion"], "ownerReferences": merge}
        else:
            metadata["ownerReferences"] = strategic
        await self._patch(node, {"metadata": metadata}, MERGE_PATCH if resource.custom else STRATEGIC_PATCH)

    async def _remove_finalizer(self, node: Node, latest: Object, finalizer: str) -> None:
        def patch(of: Object) -> Object | None:
            finalizers = of["metadata"].get("finalizers") or []
            if finalizer not in finalizers:
                return None
            kept = [each for each in finalizers if each != finalizer]
            version = of["metadata"]["resourceVersion"]
            return {"metadata": {"resourceVersion": version, "finalizers": kept}}

        await self._patch_with_retries(node, latest, patch)

    async def _patch_with_retries(
        self, node: Node, latest: Object | None, make: Callable[[Object], Object | None]
    ) -> None:
        """A merge patch made from the newest version; made anew after a conflict."""
        for left in range(CONFLICT_TRIES, 0, -1):
            patch = make(latest) if latest is not None else None
            if patch is None:
                return
            try:
                await self._patch(node, patch, MERGE_PATCH)
                return
            except ApiError as error:
                if error.code != 409 or left == 1:
                    raise
                latest = await self._get(node.identity)

    async def _patch(self, node: Node, patch: Object, content_type: str) -> None:
        gvr, namespace = self._where(node.identity)
        try:
            await self.client.patch(gvr, node.identity.name, patch, namespace=namespace, content_type=content_type)
        except ApiError as error:
            if error.code != 404:
                raise


def _keys(work: Work) -> list[str]:
    return [*work.delete, *(f"orphan/{uid}" for uid in work.orphan)]


def _names(references: list[Object]) -> list[str]:
    return [f"{reference.get('kind')}/{reference.get('name')}" for reference in references]
