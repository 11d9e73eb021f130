"""MutatingAdmissionWebhook and ValidatingAdmissionWebhook.

Source: apiserver pkg/admission/plugin/webhook: mutating/dispatcher.go, validating/dispatcher.go, generic/webhook.go,
request/admissionreview.go, errors/statuserror.go.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from binascii import Error as Base64Error
from typing import NamedTuple

import orjson

from engine.api.errors import ApiError, bad_request, forbidden, internal
from engine.api.patch import json_patch
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.admission.attributes import Attributes, Plugin
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.matching import Criteria, Matcher
from engine.apiserver.admission.requests import read_back, request_of, shown_as, take_over
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.caches import WatchCaches
from engine.apiserver.webhook_client import WebhookClient, WebhookError
from engine.rng import Rng

_GROUP = "admissionregistration.k8s.io"
MUTATING = GVR(_GROUP, "v1", "mutatingwebhookconfigurations")
VALIDATING = GVR(_GROUP, "v1", "validatingwebhookconfigurations")
_REVIEW_VERSIONS = ("v1", "v1beta1")


class Hook(NamedTuple):
    """One webhook of a configuration. `number` is its place among those of all configurations."""

    configuration: str
    number: int
    spec: Object

    @property
    def name(self) -> str:
        return str(self.spec["name"])

    @property
    def ignores_failures(self) -> bool:
        return self.spec.get("failurePolicy") == "Ignore"


class CallError(Exception):
    """The webhook could not be asked, or did not answer as it must: what the failure policy is for."""


class Webhooks(NamedTuple):
    """What both kinds need."""

    matcher: Matcher
    client: WebhookClient
    uids: Rng
    authorizer: UnionAuthorizer


class _Webhooks(Plugin):
    def __init__(self, caches: WatchCaches, configurations: ResourceInfo | None, common: Webhooks) -> None:
        self._caches = caches
        self._configurations = configurations
        self._matcher, self._client, self._uids, self._authorizer = common

    async def _hooks(self) -> list[Hook]:
        """By the names of their configurations."""
        if self._configurations is None:
            return []
        cache = await self._caches.started(self._configurations)
        if not len(cache):
            return []
        found = sorted(cache.objects(), key=lambda each: str(each["metadata"]["name"]))
        named = [(each["metadata"]["name"], webhook) for each in found for webhook in each.get("webhooks") or ()]
        return [Hook(name, number, webhook) for number, (name, webhook) in enumerate(named)]

    async def _concerned(self, attributes: Attributes, hook: Hook) -> ResourceInfo | None:
        """The resource as which a request is for the webhook. Raises ApiError 403 if its conditions fail."""
        resource = await self._matcher.match(attributes, Criteria.of_webhook(hook.spec))
        if resource is None or not hook.spec.get("matchConditions"):
            return resource
        from engine.api.cel.admission import Scope
        from engine.apiserver.admission.expressions import CONDITIONS_BUDGET, Expressions, values_of
        from engine.apiserver.admission.questions import asker

        values = values_of(
            obj=shown_as(attributes, resource, attributes.object),
            old=shown_as(attributes, resource, attributes.old),
            request=request_of(attributes, resource, uid=""),
        )
        ask = asker(self._authorizer, attributes.user)
        expressions = Expressions(values, Scope(authorizer=True), ask, budget=CONDITIONS_BUDGET)
        try:
            return None if await expressions.unmet(hook.spec["matchConditions"]) else resource
        except ExpressionError as error:
            if hook.ignores_failures:
                return None
            raise forbidden(attributes.resource.gvr, attributes.name, str(error)) from None

    async def _call(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> Object:
        """The response of an AdmissionReview. Raises CallError, or ApiError 400 for a dry run that it cannot do."""
        if attributes.dry_run and hook.spec.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise bad_request(f'admission webhook "{hook.name}" does not support dry run')
        versions = hook.spec.get("admissionReviewVersions") or _REVIEW_VERSIONS
        version = next((each for each in versions if each in _REVIEW_VERSIONS), "")
        if not version:
            raise CallError(
                "could not create admission objects: webhook does not accept known AdmissionReview versions"
            )
        uid = self._uids.uid()
        request = request_of(attributes, resource, uid=uid)
        request["object"] = shown_as(attributes, resource, attributes.object)
        request["oldObject"] = shown_as(attributes, resource, attributes.old)
        review = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}
        try:
            answer = await self._client.post(
                hook.spec["clientConfig"], review, timeout=int(hook.spec.get("timeoutSeconds") or 10)
            )
        except WebhookError as error:
            raise CallError(f"failed to call webhook: {error}") from None
        response = _verified(answer, uid, version)
        for key, value in (response.get("auditAnnotations") or {}).items():
            attributes.annotations[f"{hook.name}/{key}"] = str(value)
        attributes.warnings.extend(str(text) for text in response.get("warnings") or ())
        return response


def _verified(answer: Object, uid: str, version: str) -> Object:
    expected = f"admission.k8s.io/{version}"
    if (answer.get("apiVersion"), answer.get("kind")) != (expected, "AdmissionReview"):
        raise CallError(
            f"received invalid webhook response: expected webhook response of {expected}, Kind=AdmissionReview, got "
            f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
        )
    response = answer.get("response")
    if not isinstance(response, dict):
        raise CallError("received invalid webhook response: webhook response was absent")
    if version == "v1" and response.get("uid") != uid:
        raise CallError(
            f'received invalid webhook response: expected response.uid="{uid}", got "{response.get("uid", "")}"'
        )
    if response.get("patch") and version == "v1" and response.get("patchType") != "JSONPatch":
        what = response.get("patchType")
        why = f'webhook returned invalid response.patchType of "{what}"' if what else (
            "webhook returned response.patch but not response.patchType"
        )  # fmt: skip
        raise CallError(f"received invalid webhook response: {why}")
    return response


def refusal(name: str, status: Object | None) -> ApiError:
    """What a webhook's no becomes."""
    status = status or {}
    denied = f'admission webhook "{name}" denied the request'
    if status.get("message"):
        message = f"{denied}: {status['message']}"
    elif status.get("reason"):
        message = f"{denied}: {status['reason']}"
    else:
        message = f"{denied} without explanation"
    code = int(status.get("code") or 403)
    reason = str(status.get("reason") or ("" if status.get("code") else "Forbidden"))
    return ApiError(code, reason, message, details=status.get("details"))


def _note_failed_open(attributes: Attributes, hook: Hook, which: str, round_: int) -> None:
    """For the audit log: that the webhook was to be asked, and was not."""
    key = f"failed-open.{which}.webhook.admission.k8s.io/round_{round_}_index_{hook.number}"
    attributes.annotations[key] = hook.name


def _failed(hook: Hook, error: CallError) -> ApiError:
    return internal(f'failed calling webhook "{hook.name}": {error}')


class MutatingAdmissionWebhook(_Webhooks):
    """One webhook after the other, each with what those before it have made."""

    name = "MutatingAdmissionWebhook"

    async def mutate(self, attributes: Attributes) -> bool:
        changed_any = False
        for hook in await self._hooks():
            identity = f"{hook.configuration}/{hook.name}"
            if attributes.reinvoked and not self._again(attributes, identity):
                continue
            resource = await self._concerned(attributes, hook)
            if resource is None:
                continue
            changed = await self._apply(attributes, hook, resource)
            changed_any |= changed
            key = f"mutation.webhook.admission.k8s.io/round_{int(attributes.reinvoked)}_index_{hook.number}"
            said = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
            attributes.annotations[key] = orjson.dumps(said).decode()
            if changed:
                attributes.wants_reinvocation = True
            if hook.spec.get("reinvocationPolicy") == "IfNeeded":
                attributes.reinvocable[identity] = _digest(attributes.object)
        return changed_any

    @staticmethod
    def _again(attributes: Attributes, identity: str) -> bool:
        """In the second round only who asked for it is called, and only if the object is no longer what it left."""
        before = attributes.reinvocable.get(identity)
        return before is not None and before != _digest(attributes.object)

    async def _apply(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> bool:
        try:
            response = await self._call(attributes, hook, resource)
            if not response.get("allowed"):
                raise refusal(hook.name, response.get("status"))
            return self._patch(attributes, hook, resource, response)
        except CallError as error:
            if hook.ignores_failures:
                _note_failed_open(attributes, hook, "mutation", int(attributes.reinvoked))
                return False
            raise _failed(hook, error) from None

    @staticmethod
    def _patch(attributes: Attributes, hook: Hook, resource: ResourceInfo, response: Object) -> bool:
        try:
            patch = orjson.loads(b64decode(response.get("patch") or "W10="))
        except (Base64Error, orjson.JSONDecodeError, ValueError) as error:
            raise CallError(f"received undecodable patch in webhook response: {error}") from None
        if not patch:
            return False
        obj = attributes.object
        if obj is None:
            raise internal(
                f'admission webhook "{hook.name}" attempted to modify the object, which is not supported for this '
                "operation"
            )
        try:
            shown = shown_as(attributes, resource, obj) or obj
            changed = copy_object(read_back(attributes, resource, json_patch(shown, patch)))
        except ApiError as error:
            raise internal(error.message) from None
        return take_over(attributes, obj, changed)


def _digest(obj: Object | None) -> str:
    return orjson.dumps(obj, option=orjson.OPT_SORT_KEYS).decode()


class ValidatingAdmissionWebhook(_Webhooks):
    """All webhooks at once; the first no, in their order, is the answer."""

    name = "ValidatingAdmissionWebhook"

    async def validate(self, attributes: Attributes) -> None:
        concerned = []
        for hook in await self._hooks():
            resource = await self._concerned(attributes, hook)
            if resource is not None:
                concerned.append((hook, resource))
        if not concerned:
            return
        verdicts = await asyncio.gather(*(self._ask(attributes, hook, resource) for hook, resource in concerned))
        for verdict in verdicts:
            if verdict is not None:
                raise verdict

    async def _ask(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> ApiError | None:
        try:
            response = await self._call(attributes, hook, resource)
        except CallError as error:
            if hook.ignores_failures:
                _note_failed_open(attributes, hook, "validating", 0)
                return None
            return _failed(hook, error)
        except ApiError as error:
            return error
        return None if response.get("allowed") else refusal(hook.name, response.get("status"))
