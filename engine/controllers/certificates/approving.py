"""The approver: a kubelet that asks for its own client certificate gets it, if access reviews say that it may
(pkg/controller/certificates/approver/sarapprove.go)."""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import GVR, Object
from engine.client import object_key
from engine.controllers.certificates.requests import (
    KUBELET_CLIENT,
    REQUESTS,
    NotSignableError,
    check_kubelet_client,
    common_name,
    has,
    parsed,
)
from engine.controllers.conditions import conditions_of
from engine.controllers.controller import Controller, RetryLaterError

REVIEWS = GVR("authorization.k8s.io", "v1", "subjectaccessreviews")


class _Recognizer(NamedTuple):
    own: bool  # only what a node asks for itself
    subresource: str
    message: str


_RECOGNIZERS = (
    _Recognizer(True, "selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),
    _Recognizer(False, "nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),
)


class CertificateApprover(Controller):
    name = "certificate-controller"
    kind = "certificatesigningrequest"
    view = "certificatesigningrequest-approving-controller"
    workers = 1

    def set_up(self) -> None:
        self._requests = self.lister(REQUESTS)
        self.watch(REQUESTS, lambda old, new: [object_key(new)] if new is not None else [])

    async def reconcile(self, key: str) -> None:
        request = self._requests.by_key(key)
        if request is None or request["spec"]["signerName"] != KUBELET_CLIENT:
            return
        if (request.get("status") or {}).get("certificate") or has(request, "Approved") or has(request, "Denied"):
            return
        recognized = [each for each in _RECOGNIZERS if _recognizes(each, request)]
        for recognizer in recognized:
            if await self._may(request, recognizer.subresource):
                await self._approve(request, recognizer.message)
                return
        if recognized:
            names = " ".join(each.subresource for each in recognized)
            raise RetryLaterError(f'recognized csr "{key}" as [{names}] but subject access review was not approved')

    async def _may(self, request: Object, subresource: str) -> bool:
        spec = request["spec"]
        attributes = {
            "group": REQUESTS.group,
            "resource": REQUESTS.resource,
            "verb": "create",
            "subresource": subresource,
            "version": "*",
        }
        review: Object = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": spec.get("username", ""),
                "uid": spec.get("uid", ""),
                "groups": spec.get("groups") or [],
                "resourceAttributes": attributes,
            },
        }
        if spec.get("extra"):
            review["spec"]["extra"] = spec["extra"]
        return bool((await self.client.create(REVIEWS, review))["status"].get("allowed"))

    async def _approve(self, request: Object, message: str) -> None:
        now = self.clock.timestamp()
        approved = {
            "type": "Approved",
            "status": "True",
            "reason": "AutoApproved",
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
        status = request.get("status") or {}
        changed = {**request, "status": {**status, "conditions": [*conditions_of(status), approved]}}
        await self.client.update(REQUESTS, changed, subresource="approval")


def _recognizes(recognizer: _Recognizer, request: Object) -> bool:
    spec = request["spec"]
    try:
        asked = parsed(request)
        check_kubelet_client(asked, spec.get("usages") or ())
    except (NotSignableError, ValueError):
        return False
    return not recognizer.own or spec.get("username") == common_name(asked.subject)
