"""OwnerReferencesPermissionEnforcement: who gives an object an owner could delete it, and hold the owner back.

Source: plugin/pkg/admission/gc.
"""

from __future__ import annotations

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, denied
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict


class OwnerReferencesPermissionEnforcement(Plugin):
    name = "OwnerReferencesPermissionEnforcement"
    operations = WRITES
    default = False

    def __init__(self, resources: ResourceRegistry, authorizer: UnionAuthorizer) -> None:
        self._resources = resources
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Old kubelets spoil Pods' owners in their statuses, which are kept by the strategy anyway."""
        owners, before = _owners(attributes.object), _owners(attributes.old)
        if attributes.key == "pods/status" or owners == before:
            return
        if attributes.operation is not Operation.CREATE:
            gvr = attributes.resource.gvr
            question = Question(attributes.user, "delete", gvr.group, gvr.version, gvr.resource, attributes.subresource,
                                attributes.namespace, attributes.name)  # fmt: skip
            await self._check(attributes, question, "cannot set an ownerRef on a resource you can't delete")
        for owner in _newly_blocking(owners, before):
            await self._block(attributes, owner)

    async def _block(self, attributes: Attributes, owner: Object) -> None:
        group, _, version = owner.get("apiVersion", "").rpartition("/")
        info = self._resources.by_kind(GVK(group, version, owner.get("kind", "")))
        if info is None:
            raise denied(
                attributes,
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion "
                f'{owner.get("apiVersion", "")} Kind {owner.get("kind", "")}: no matches for kind "'
                f'{owner.get("kind", "")}" in version "{owner.get("apiVersion", "")}"',
            )
        namespace = attributes.namespace if info.namespaced else ""
        question = Question(attributes.user, "update", group, version, info.gvr.resource, "finalizers", namespace,
                            owner.get("name", ""))  # fmt: skip
        why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
        await self._check(attributes, question, why)

    async def _check(self, attributes: Attributes, question: Question, why: str) -> None:
        decision = (await self._authorizer.authorize(question)).decision
        if decision.verdict is not Verdict.ALLOW:
            raise denied(attributes, f"{why}: {decision.reason}, <nil>")


def _owners(obj: Object | None) -> list[Object]:
    return ((obj or {}).get("metadata") or {}).get("ownerReferences") or []


def _newly_blocking(owners: list[Object], before: list[Object]) -> list[Object]:
    known = {owner.get("uid"): bool(owner.get("blockOwnerDeletion")) for owner in before}
    return [owner for owner in owners if owner.get("blockOwnerDeletion") and not known.get(owner.get("uid"))]
