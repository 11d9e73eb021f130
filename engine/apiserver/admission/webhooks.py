"""MutatingAdmissionWebhook and ValidatingAdmissionWebhook.

Source: apiserver pkg/admission/plugin/webhook: mutating/dispatcher.go, validating/dispatcher.go, generic/webhook.go,
request/admissionreview.go, errors/statuserror.go.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import orjson

from engine.api.errors import ApiError, bad_request, forbidden, internal
from engine.api.excluded_resources import is_for_webhooks
from engine.api.golang.json import syntax_error, written_in_order
from engine.api.patch import json_patch
from engine.api.patch.merge_patch import json_kind
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.types import GVR, Object
from engine.apiserver.admission.attributes import Attributes, Plugin, Watched
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.manifests.source import Manifests
from engine.apiserver.admission.matching import CONFIGURATION, Criteria, Matcher
from engine.apiserver.admission.metrics import ADMIT, AdmissionMetrics
from engine.apiserver.admission.reinvocation import Reinvocation
from engine.apiserver.admission.requests import fill, kind_of, request_of, retyped, take_over
from engine.apiserver.admission.versions import Versions
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.deadlines import out_of_time, seconds_left
from engine.apiserver.webhook_client import WebhookClient, WebhookError
from engine.apiserver.webhook_credentials import CredentialsError
from engine.apiserver.webhook_reviews import ADMISSION_REVIEW, details_of
from engine.clock import wall
from engine.rng import Rng

_GROUP = "admissionregistration.k8s.io"
MUTATING = GVR(_GROUP, "v1", "mutatingwebhookconfigurations")
VALIDATING = GVR(_GROUP, "v1", "validatingwebhookconfigurations")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_OK, _BAD_REQUEST, _UNAVAILABLE = 200, 400, 503
_JSON_PATCH = "JSONPatch"


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
    """The webhook could not be asked, or did not answer as it must: what the failure policy is for.

    `code` is that of its answer, or what stands for it in figures."""

    def __init__(self, why: str, code: int = _UNAVAILABLE) -> None:
        super().__init__(why)
        self.code = code


class Webhooks(NamedTuple):
    """What both kinds need."""

    matcher: Matcher
    client: WebhookClient
    uids: Rng
    authorizer: UnionAuthorizer
    definitions: Definitions
    metrics: AdmissionMetrics
    versions: Versions


class _Webhooks(Plugin):
    mutating: ClassVar[bool] = False
    step: ClassVar[str] = "validating"  # as figures call it

    def __init__(
        self,
        caches: WatchCaches,
        configurations: ResourceInfo | None,
        common: Webhooks,
        manifests: Manifests | None = None,
    ) -> None:
        self._caches = caches
        self._configurations = configurations
        self._manifests = manifests
        self._matcher, self._client, self._uids, self._authorizer, self._definitions, self._metrics = common[:6]
        self._versions = common.versions

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        cache = self._caches.of(self._configurations) if self._configurations is not None else None
        if cache is None or self._manifests is not None:
            return () if self._configurations is None else None
        return None if len(cache) else (cache,)

    async def _hooks(self, attributes: Attributes) -> list[Hook]:
        """Those of files, which alone are asked about the configuration of admission, then the others; both by the
        names of their configurations."""
        found = list(self._manifests.loaded.hooks) if self._manifests is not None else []
        if self._configurations is not None and attributes.resource.gvr.group_resource not in CONFIGURATION:
            cache = await self._caches.started(self._configurations)
            found += sorted(cache.objects(), key=lambda each: str(each["metadata"]["name"])) if len(cache) else []
        named = [(each["metadata"]["name"], webhook) for each in found for webhook in each.get("webhooks") or ()]
        return [Hook(name, number, webhook) for number, (name, webhook) in enumerate(named)]

    async def _concerned(self, attributes: Attributes, hook: Hook) -> ResourceInfo | None:
        """The resource as which a request is for the webhook. Raises ApiError 403 if its conditions fail."""
        if not is_for_webhooks(attributes.resource):
            return None
        resource = await self._matcher.match(attributes, Criteria.of_webhook(hook.spec))
        if resource is None or not hook.spec.get("matchConditions"):
            return resource
        from engine.api.cel.admission import Scope
        from engine.apiserver.admission.expressions import CONDITIONS_BUDGET, Expressions, values_of
        from engine.apiserver.admission.questions import asker

        values = values_of(
            obj=await self._shown(attributes, resource, attributes.object),
            old=await self._shown(attributes, resource, attributes.old),
            request=request_of(attributes, resource, uid=""),
        )
        ask = asker(self._authorizer, attributes.user)
        expressions = Expressions(values, Scope(authorizer=True), ask, budget=CONDITIONS_BUDGET)
        labels = hook.name, "webhook", self.step, attributes.operation
        try:
            unmet = await expressions.unmet(hook.spec["matchConditions"], self._metrics.conditions, labels)
        except ExpressionError as error:
            if not hook.ignores_failures:
                raise forbidden(attributes.resource.gvr, attributes.name, str(error)) from None
            unmet = True
        if unmet:
            self._metrics.conditions.exclusions.add(*labels)
        return None if unmet else resource

    async def _shown(self, attributes: Attributes, resource: ResourceInfo, obj: Object | None) -> Object | None:
        """Raises ApiError 500: no failure policy is asked where it is not the webhook that fails."""
        try:
            return await self._versions.shown(attributes, resource, obj)
        except ApiError as error:
            raise internal(error.message) from None

    def _observe(self, attributes: Attributes, hook: Hook, began: float, error: Exception | None, *, no: bool) -> None:
        """What figures say of a call: `no` tells that the webhook itself has refused."""
        code, kind = _OK, ""
        if isinstance(error, CallError):
            code, kind = error.code, "" if hook.ignores_failures else "calling_webhook_error"
            if hook.ignores_failures:
                self._metrics.failed_open.add(hook.name, self.step)
        elif isinstance(error, ApiError):
            code, kind = (error.code, "no_error") if no else (0, "apiserver_internal_error")
        self._metrics.webhook(hook.name, self.step, attributes.operation, wall() - began, code=code, error=kind)

    async def _call(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> Object:
        """The response of an AdmissionReview. Raises CallError, or ApiError 400 for a dry run that it cannot do."""
        if attributes.dry_run and hook.spec.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise bad_request(f'admission webhook "{hook.name}" does not support dry run')
        versions = hook.spec.get("admissionReviewVersions") or _REVIEW_VERSIONS
        version = next((each for each in versions if each in _REVIEW_VERSIONS), "")
        if not version:
            raise CallError(
                "could not create admission objects: webhook does not accept known AdmissionReview versions",
                _BAD_REQUEST,
            )
        uid = self._uids.uid()
        request = request_of(attributes, resource, uid=uid)
        request["object"] = await self._shown(attributes, resource, attributes.object)
        request["oldObject"] = await self._shown(attributes, resource, attributes.old)
        review = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}
        timeout = float(hook.spec.get("timeoutSeconds") or 10)
        if (left := seconds_left()) is not None:
            timeout = max(min(timeout, left), 0)
        try:
            config = hook.spec["clientConfig"]
            answer = await self._client.post(config, review, timeout=timeout, form=ADMISSION_REVIEW)
        except WebhookError as error:
            raise CallError(f"failed to call webhook: {error}", error.code) from None
        except CredentialsError as error:
            raise CallError(f"could not get REST client: {error}", _BAD_REQUEST) from None
        response = _verified(answer, uid, version, mutating=self.mutating)
        for key, value in (response.get("auditAnnotations") or {}).items():
            attributes.annotate(f"{hook.name}/{key}", value or "")
        attributes.warnings.extend(text or "" for text in response.get("warnings") or ())
        return response


def _verified(answer: Object, uid: str, version: str, *, mutating: bool) -> Object:
    """What is in an answer; of one of v1beta1 little is looked at, as it always was: any patch is of the one type."""
    said, response = answer.get("apiVersion", ""), answer.get("response")
    if not isinstance(response, dict):
        raise _invalid_response("webhook response was absent")
    if version == "v1":
        if response.get("uid") != uid:
            raise _invalid_response(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
        expected, kind = "admission.k8s.io/v1, Kind=AdmissionReview", f"{said or '/'}, Kind={answer.get('kind', '')}"
        if kind != expected:
            raise _invalid_response(f"expected webhook response of {expected}, got {kind}")
        _check_patch(response.get("patch"), response.get("patchType"), mutating=mutating)
    else:
        response["patchType"] = _JSON_PATCH
    return response


def _check_patch(patch: str | None, kind: str | None, *, mutating: bool) -> None:
    if not mutating and (patch or kind is not None):
        raise _invalid_response(f"validating webhook may not return response.{'patch' if patch else 'patchType'}")
    if patch and kind is None:
        raise _invalid_response("webhook returned response.patch but not response.patchType")
    if not patch and kind is not None:
        raise _invalid_response("webhook returned response.patchType but not response.patch")
    if kind == "":
        raise _invalid_response('webhook returned invalid response.patchType of ""')


def _invalid_response(why: str) -> CallError:
    return CallError(f"received invalid webhook response: {why}")


def refusal(name: str, status: Object | None) -> ApiError:
    """What a webhook's no becomes (ToStatusErr): a bad request if it says no code that is one, without a reason."""
    status = status or {}
    denied = f'admission webhook "{name}" denied the request'
    if status.get("message"):
        message = f"{denied}: {status['message']}"
    elif status.get("reason"):
        message = f"{denied}: {status['reason']}"
    else:
        message = f"{denied} without explanation"
    code = max(status.get("code") or 0, _BAD_REQUEST)
    details = details_of(status)
    after = (details or {}).get("retryAfterSeconds")
    return ApiError(code, status.get("reason") or "", message, details=details, retry_after=after)


def _note_failed_open(attributes: Attributes, hook: Hook, which: str, round_: int) -> None:
    """For the audit log: that the webhook was to be asked, and was not."""
    key = f"failed-open.{which}.webhook.admission.k8s.io/round_{round_}_index_{hook.number}"
    attributes.annotations[key] = hook.name


def _failed(hook: Hook, error: CallError) -> ApiError:
    return internal(f'failed calling webhook "{hook.name}": {error}')


class MutatingAdmissionWebhook(_Webhooks):
    """One webhook after the other, each with what those before it have made."""

    name = "MutatingAdmissionWebhook"
    mutating = True
    step = ADMIT

    async def ground(self, attributes: Attributes) -> Hashable:
        return None if await self._hooks(attributes) else ()

    async def mutate(self, attributes: Attributes) -> bool:
        rounds = attributes.rounds.setdefault(self.name, Reinvocation())
        if attributes.reinvoked:
            rounds.begin(attributes.object)
        try:
            return await self._all(attributes, rounds)
        finally:
            rounds.end(attributes.object)

    async def _all(self, attributes: Attributes, rounds: Reinvocation) -> bool:
        changed_any = False
        if hooks := await self._hooks(attributes):
            fill(attributes)
        for hook in hooks:
            resource = await self._concerned(attributes, hook)
            identity = f"{hook.configuration}/{hook.name}"
            if resource is None or (attributes.reinvoked and not rounds.is_due(identity)):
                continue
            changed = False
            try:
                changed = await self._apply(attributes, hook, resource)
            finally:
                key = f"mutation.{_place(attributes, hook)}"
                said = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
                attributes.annotations[key] = written_in_order(said)
            if changed:
                rounds.require()
                attributes.wants_reinvocation = changed_any = True
            if hook.spec.get("reinvocationPolicy") == "IfNeeded":
                rounds.add(identity)
        return changed_any

    async def _apply(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> bool:
        began, no = wall(), False
        error: CallError | ApiError | None = None
        try:
            response = await self._call(attributes, hook, resource)
            if not response.get("allowed"):
                no = True
                raise refusal(hook.name, response.get("status"))
            return await self._patch(attributes, hook, resource, response)
        except CallError as failure:
            error = failure
            if hook.ignores_failures:
                _note_failed_open(attributes, hook, "mutation", int(attributes.reinvoked))
                _check_time()
                return False
            raise _failed(hook, failure) from None
        except ApiError as failure:
            error = failure
            raise
        finally:
            self._observe(attributes, hook, began, error, no=no)

    async def _patch(self, attributes: Attributes, hook: Hook, resource: ResourceInfo, response: Object) -> bool:
        patch = _decoded(response.get("patch") or "")
        if not patch:
            return False
        obj, kind = attributes.object, response.get("patchType")
        if kind != _JSON_PATCH and obj is not None:
            raise CallError(f'unsupported patch type "{kind}"')
        if obj is None:
            raise internal(
                f'admission webhook "{hook.name}" attempted to modify the object, which is not supported for this '
                "operation"
            )
        shown = await self._shown(attributes, resource, obj)
        try:
            patched = json_patch(shown or obj, patch)
        except ApiError as error:
            raise internal(str(error.__cause__ or error.message)) from None
        made = retyped(self._definitions, kind_of(attributes, resource), patched, strict=False)
        steps = [dict(sorted(step.items())) for step in patch]  # maps, to Go
        said = {"configuration": hook.configuration, "webhook": hook.name, "patch": steps, "patchType": _JSON_PATCH}
        attributes.annotations[f"patch.{_place(attributes, hook)}"] = written_in_order(said)
        changed = await self._versions.read_back(attributes, resource, made)
        return take_over(attributes, obj, changed, patched=True)


def _check_time() -> None:
    """Raises ApiError 504 where the request is out of time: no webhook is asked any more, whatever its policy."""
    left = seconds_left()
    if left is not None and left <= 0:
        raise out_of_time()


def _place(attributes: Attributes, hook: Hook) -> str:
    """Where an annotation of a webhook belongs."""
    return f"webhook.admission.k8s.io/round_{int(attributes.reinvoked)}_index_{hook.number}"


def _decoded(patch: str | list[int]) -> list[Object]:
    """The operations of a JSON patch: bytes, which JSON has as base64 or as a list of them. Raises CallError."""
    text = (bytes(patch) if isinstance(patch, list) else b64decode(patch)) or b"[]"
    problem = syntax_error(text)
    made = None if problem else orjson.loads(text)
    if problem := problem or _no_patch(made):
        raise CallError(f"received undecodable patch in webhook response: {problem}")
    return [step or {} for step in made or ()]


def _no_patch(made: Any) -> str:
    """Why it is none; nothing where it is one."""
    if made is not None and not isinstance(made, list):
        return f"json: cannot unmarshal {json_kind(made)} into Go value of type jsonpatch.Patch"
    wrong = next((json_kind(step) for step in made or () if step is not None and not isinstance(step, dict)), "")
    return f"json: cannot unmarshal {wrong} into Go value of type jsonpatch.Operation" if wrong else ""


class ValidatingAdmissionWebhook(_Webhooks):
    """All webhooks at once; the first no, in their order, is the answer."""

    name = "ValidatingAdmissionWebhook"

    async def validate(self, attributes: Attributes) -> None:
        concerned = []
        for hook in await self._hooks(attributes):
            resource = await self._concerned(attributes, hook)
            if resource is not None:
                concerned.append((hook, resource))
        if not concerned:
            return
        _check_time()
        verdicts = await asyncio.gather(*(self._ask(attributes, hook, resource) for hook, resource in concerned))
        for verdict in verdicts:
            if verdict is not None:
                raise verdict

    async def _ask(self, attributes: Attributes, hook: Hook, resource: ResourceInfo) -> ApiError | None:
        began = wall()
        try:
            response = await self._call(attributes, hook, resource)
        except CallError as error:
            self._observe(attributes, hook, began, error, no=False)
            if hook.ignores_failures:
                _note_failed_open(attributes, hook, "validating", 0)
                return None
            return _failed(hook, error)
        except ApiError as error:
            self._observe(attributes, hook, began, error, no=False)
            return error
        verdict = None if response.get("allowed") else refusal(hook.name, response.get("status"))
        self._observe(attributes, hook, began, verdict, no=True)
        return verdict
