"""The revisions of a template that is rolled out without ReplicaSets: StatefulSets and DaemonSets
(pkg/controller/history/controller_history.go).

A ControllerRevision keeps the template as the patch that brings it back. Its name follows from its content.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from engine.api.errors import ApiError
from engine.api.json_objects import in_key_order
from engine.api.types import GVK, GVR, Object
from engine.client import Client, Lister
from engine.controllers.hashing import template_hash
from engine.controllers.ownership import OWNER_INDEX, ControllerRefManager, controller_reference, recheck_deletion
from engine.controllers.pod_owner import selector_of

CONTROLLER_REVISIONS = GVR("apps", "v1", "controllerrevisions")
HASH_LABEL = "controller.kubernetes.io/hash"
POD_REVISION = "controller-revision-hash"
MAX_PREFIX = 223


def template_patch(owner: Object) -> Object:
    """What a revision keeps: the template, to be put in place of another, as Go writes a map."""
    return {"spec": {"template": in_key_order({**owner["spec"]["template"], "$patch": "replace"})}}


def apply_revision(owner: Object, revision: Object) -> Object:
    """The owner with the template of a revision."""
    template = {key: value for key, value in revision["data"]["spec"]["template"].items() if key != "$patch"}
    return {**owner, "spec": {**owner["spec"], "template": template}}


def new_revision(owner: Object, owner_kind: GVK, *, revision: int, collisions: int, hash_label: str) -> Object:
    data = template_patch(owner)
    hashed = template_hash(data, collisions)
    labels = {**((owner["spec"]["template"].get("metadata") or {}).get("labels") or {}), hash_label: hashed}
    metadata: Object = {
        "name": f"{owner['metadata']['name'][:MAX_PREFIX]}-{hashed}",
        "namespace": owner["metadata"]["namespace"],
        "labels": labels,
        "ownerReferences": [controller_reference(owner, owner_kind)],
    }
    if owner["metadata"].get("annotations"):
        metadata["annotations"] = dict(owner["metadata"]["annotations"])
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": data,
        "revision": revision,
    }


def same_content(a: Object, b: Object) -> bool:
    return orjson.dumps(a["data"], option=orjson.OPT_SORT_KEYS) == orjson.dumps(b["data"], option=orjson.OPT_SORT_KEYS)


def in_order(revisions: Sequence[Object]) -> list[Object]:
    """Oldest revision first."""
    return sorted(
        revisions,
        key=lambda each: (
            each["revision"],
            each["metadata"].get("creationTimestamp", ""),
            each["metadata"]["name"],
        ),
    )


class History:
    """The revisions of the owners of one kind."""

    def __init__(self, client: Client, revisions: Lister, *, resource: GVR, kind: GVK, hash_label: str) -> None:
        self._client = client
        self._revisions = revisions
        self._resource = resource
        self._kind = kind
        self._hash_label = hash_label

    async def claim(self, owner: Object) -> list[Object]:
        """The owner's revisions, in order; orphans that match are adopted."""
        metadata = owner["metadata"]
        owned = self._revisions.by_index(OWNER_INDEX, metadata["uid"])
        orphans = self._revisions.by_index(OWNER_INDEX, f"orphan/{metadata['namespace']}")
        manager = ControllerRefManager(
            self._client,
            CONTROLLER_REVISIONS,
            owner=owner,
            owner_kind=self._kind,
            matches=selector_of(owner).matches,
            can_adopt=lambda: recheck_deletion(self._client, self._resource, owner),
        )
        return in_order(await manager.claim([*owned, *orphans]))

    async def labelled(self, revision: Object) -> Object:
        """With the label that Pods are known by: the name of one that somebody made without."""
        metadata = revision["metadata"]
        if self._hash_label in (metadata.get("labels") or {}):
            return revision
        labels = {**(metadata.get("labels") or {}), self._hash_label: metadata["name"]}
        return await self._client.update(CONTROLLER_REVISIONS, {**revision, "metadata": {**metadata, "labels": labels}})

    async def current(self, owner: Object, revisions: list[Object], *, collisions: int) -> tuple[Object, int]:
        """The revision of the owner's template, made or brought to the front; and the collision count after that."""
        number = (revisions[-1]["revision"] if revisions else 0) + 1
        wanted = new_revision(owner, self._kind, revision=number, collisions=collisions, hash_label=self._hash_label)
        equal = [each for each in revisions if same_content(each, wanted)]
        if not equal:
            return await self._create(owner, wanted, collisions)
        if same_content(revisions[-1], wanted):
            return revisions[-1], collisions
        return await self._client.update(CONTROLLER_REVISIONS, {**equal[-1], "revision": number}), collisions

    async def _create(self, owner: Object, wanted: Object, collisions: int) -> tuple[Object, int]:
        """Create the revision; another one of that name raises the collision count and the next name is tried."""
        namespace = owner["metadata"]["namespace"]
        while True:
            try:
                return await self._client.create(CONTROLLER_REVISIONS, wanted, namespace=namespace), collisions
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise
            name = wanted["metadata"]["name"]
            there = await self._client.get(CONTROLLER_REVISIONS, name, namespace=namespace)
            if same_content(there, wanted):
                return there, collisions
            collisions += 1
            wanted = new_revision(
                owner,
                self._kind,
                revision=wanted["revision"],
                collisions=collisions,
                hash_label=self._hash_label,
            )

    async def truncate(self, owner: Object, revisions: list[Object], *, live: set[str]) -> None:
        """Delete what nobody uses any more beyond `spec.revisionHistoryLimit`, oldest first. `live` are names."""
        unused = [each for each in revisions if each["metadata"]["name"] not in live]
        surplus = len(unused) - int(owner["spec"].get("revisionHistoryLimit", 10))
        await self.delete(unused[: max(0, surplus)])

    async def delete(self, revisions: Sequence[Object]) -> None:
        for each in revisions:
            metadata = each["metadata"]
            await self._client.delete(CONTROLLER_REVISIONS, metadata["name"], namespace=metadata["namespace"])
