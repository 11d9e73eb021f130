"""A server that is asked what one may, by SubjectAccessReviews (apiserver plugin/pkg/authorizer/webhook).

What it said is remembered for a while, by the model's clock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from engine.api.errors import ApiError
from engine.api.golang.forms import BOOL, STRING, Struct
from engine.api.selectors import FieldSelector, LabelSelector
from engine.api.types import GVK, Object
from engine.apiserver.authorization.attributes import Attributes, Decision, Verdict
from engine.apiserver.authorization.match_conditions import ConditionError, MatchConditions
from engine.apiserver.authorization.webhook_metrics import WebhookMetrics
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.lru_expire_cache import LruExpireCache
from engine.apiserver.webhook_client import WebhookError
from engine.clock import Clock, wall

log = logging.getLogger(__name__)

_GROUP, _KIND = "authorization.k8s.io", "SubjectAccessReview"
_STATUS = Struct(
    "SubjectAccessReviewStatus",
    {"allowed": BOOL, "denied": BOOL, "reason": STRING, "evaluationError": STRING},
)
_FORM = Struct(_KIND, {"kind": STRING, "apiVersion": STRING, "status": _STATUS})
_SCHEME = "k8s.io/client-go/kubernetes/scheme/register.go:82"
_SIZE = 8192  # answers that are remembered
_LONGEST = 10_000  # of what a client can say in a question that is remembered
_LABEL_OPERATORS = {
    **dict.fromkeys(("=", "==", "in"), "In"),
    **dict.fromkeys(("!=", "notin"), "NotIn"),
    "exists": "Exists",
    "!": "DoesNotExist",
}
_BOTH = "webhook subject access review returned both allow and deny response"


class WebhookSettings(NamedTuple):
    """Times are in seconds; `denies` says that who cannot be asked about may not."""

    name: str = "webhook"
    version: str = "v1"
    authorized_ttl: float = 300.0
    unauthorized_ttl: float = 30.0
    timeout: float = 30.0
    denies: bool = False
    conditions: tuple[str, ...] = ()


class WebhookAuthorizer:
    def __init__(
        self, webhook: KubeconfigWebhook, settings: WebhookSettings, clock: Clock, metrics: WebhookMetrics
    ) -> None:
        self.name = settings.name
        self._webhook = webhook
        self._settings = settings
        self._metrics = metrics
        self._conditions = MatchConditions(settings.conditions)
        self._answers: LruExpireCache[bytes, Object] = LruExpireCache(_SIZE, clock)

    async def authorize(self, attributes: Attributes) -> Decision:
        spec = spec_of(attributes)
        if self._conditions:
            try:
                with self._metrics.matching(self.name):
                    matched = self._conditions.match(spec)
            except ConditionError as error:
                self._metrics.condition_errors.add("Webhook", self.name)
                return self._failed(str(error))
            if not matched:
                self._metrics.exclusions.add("Webhook", self.name)
                return Decision(Verdict.NO_OPINION)
        key = orjson.dumps(spec)
        status = self._answers.get(key)
        if status is None:
            try:
                status = await self._asked(spec)
            except WebhookError as error:
                log.error("Failed to make webhook authorizer request: %s", error)
                return self._failed(str(error))
            if sum(map(len, attributes[1:8])) + len(attributes.path) < _LONGEST:
                ttl = self._settings.authorized_ttl if status.get("allowed") else self._settings.unauthorized_ttl
                self._answers.put(key, status, ttl)
        return self._decision(status)

    def _decision(self, status: Object) -> Decision:
        reason, allowed = str(status.get("reason") or ""), bool(status.get("allowed"))
        if status.get("denied"):
            return Decision(Verdict.DENY, reason, self.name, error=_BOTH if allowed else "")
        return Decision(Verdict.ALLOW, reason, self.name) if allowed else Decision(Verdict.NO_OPINION, reason)

    def _failed(self, why: str) -> Decision:
        verdict = Verdict.DENY if self._settings.denies else Verdict.NO_OPINION
        return Decision(verdict, authorizer=self.name, error=why)

    async def _asked(self, spec: Object) -> Object:
        kind = GVK(_GROUP, self._settings.version, _KIND)
        if kind.version == "v1beta1" and "groups" in spec:  # which calls them otherwise
            spec = {"group" if name == "groups" else name: value for name, value in spec.items()}
        head = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}}
        body, began, result = {**head, "spec": spec, "status": {"allowed": False}}, wall(), "error"
        try:
            found = await self._webhook.ask(body, kind, _FORM, scheme=_SCHEME, timeout=self._settings.timeout)
            result = "success"
        except WebhookError as error:
            result = "timeout" if error.timed_out else "error"
            if not self._settings.denies:
                self._metrics.failed_open.add(self.name, result)
            raise
        finally:
            self._metrics.evaluated(self.name, result, wall() - began)
        status: Object = found.get("status") or {}
        return status


def spec_of(attributes: Attributes) -> Object:
    """Of a SubjectAccessReview, in the order of Go's fields, without those that are empty."""
    spec: Object = {}
    if attributes.is_resource:
        named = {
            "namespace": attributes.namespace,
            "verb": attributes.verb,
            "group": attributes.group,
            "version": attributes.version,
            "resource": attributes.resource,
            "subresource": attributes.subresource,
            "name": attributes.name,
        }
        resource: Object = {name: text for name, text in named.items() if text}
        if requirements := list(_fields(attributes.field_selector)):
            resource["fieldSelector"] = {"requirements": requirements}
        if requirements := list(_labels(attributes.label_selector)):
            resource["labelSelector"] = {"requirements": requirements}
        spec["resourceAttributes"] = resource
    else:
        named = {"path": attributes.path, "verb": attributes.verb}
        spec["nonResourceAttributes"] = {name: text for name, text in named.items() if text}
    user = attributes.user
    shown = {"user": user.name, "groups": list(user.groups)}
    extra = {key: list(values) for key, values in sorted(user.extra)}
    return spec | {name: value for name, value in {**shown, "extra": extra, "uid": user.uid}.items() if value}


def _fields(text: str) -> Iterator[Object]:
    """What cannot be read narrows nothing down."""
    try:
        requirements = FieldSelector.parse(text).requirements if text else ()
    except ApiError:
        return
    for field, operator, value in requirements:
        yield {"key": field, "operator": "NotIn" if operator == "!=" else "In", "values": [value]}


def _labels(text: str) -> Iterator[Object]:
    try:
        requirements = LabelSelector.parse(text).requirements if text else ()
    except ApiError:
        return
    for each in requirements:
        if (operator := _LABEL_OPERATORS.get(each.operator)) is not None:
            yield {"key": each.key, "operator": operator, **({"values": list(each.values)} if each.values else {})}
