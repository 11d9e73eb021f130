"""The events of requests, stage by stage (apiserver pkg/endpoints/filters audit.go and authn_audit.go, pkg/audit).

A request is told of when it is known who asks (`RequestReceived`) and when it is answered (`ResponseComplete`); one
that stays open also when its answer begins (`ResponseStarted`). Who is not let in is told of once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import yaml

from engine.api.errors import ApiError
from engine.api.types import Object, copy_object
from engine.api.wire import Request, Response
from engine.apiserver.audit.log import AuditLog
from engine.apiserver.audit.metrics import AuditMetrics
from engine.apiserver.audit.policy import API_VERSION, COMPLETE, RECEIVED, STARTED, AuditPolicy, Level, Told
from engine.apiserver.audit.sources import source_ips
from engine.apiserver.audit.told_objects import as_told
from engine.apiserver.audit.told_streams import tell_end
from engine.apiserver.audit.webhook import AuditWebhook
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.request_info import RequestInfo
from engine.clock import Clock

_AGENT_LENGTH = 1024
_OF_OBJECTS = "patch.webhook.admission.k8s.io/"


Sink = Callable[[Object], Awaitable[bool] | None]


class Trail:
    """What is told of one request. Handlers add to it the objects that came and went."""

    def __init__(self, told: Told, event: Object, sink: Sink, clock: Clock) -> None:
        self._deliveries: list[Awaitable[bool]] = []
        self.told = told
        self.event = event
        self._sink = sink
        self._clock = clock

    @property
    def wants_request(self) -> bool:
        return self.told.level >= Level.REQUEST

    def stage(self, stage: str) -> None:
        """Tell of a stage; what has to be waited for before the request goes on is `delivery`."""
        if stage in self.told.omit_stages:
            return
        at = self.event["requestReceivedTimestamp"] if stage == RECEIVED else self._clock.micro_timestamp()
        if (delivery := self._sink(_ordered({**self.event, "stage": stage, "stageTimestamp": at}))) is not None:
            self._deliveries.append(delivery)

    async def delivered(self) -> bool:
        """Wait until what was told has arrived where that must be waited for; whether it has."""
        deliveries, self._deliveries = self._deliveries, []
        return all([await each for each in deliveries])

    def annotate(self, annotations: dict[str, str]) -> None:
        """What is there already stays as it is. What tells of the object is for who is told the object."""
        known = self.event.setdefault("annotations", {})
        for name, text in annotations.items():
            if self.told.level >= Level.REQUEST or not name.startswith(_OF_OBJECTS):
                known.setdefault(name, text)

    def impersonates(self, user: UserInfo, constraint: str) -> None:
        self.event["impersonatedUser"] = user.to_json()
        if constraint:
            self.event["authenticationMetadata"] = {"impersonationConstraint": constraint}

    def asked_with(self, obj: Any) -> None:
        """The object that a request carries; of a `Metadata` event it gives the name alone."""
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if isinstance(metadata, dict):
            reference = self.event.setdefault("objectRef", {})
            for field in ("namespace", "name", "uid", "resourceVersion"):
                if metadata.get(field):
                    reference.setdefault(field, metadata[field])
        if self.wants_request:
            self.event["requestObject"] = as_told(obj, omit_managed_fields=self.told.omit_managed_fields)

    def patched_with(self, request: Request) -> None:
        """The patch itself is what is shown of the request."""
        if self.wants_request:
            body = request.body
            if isinstance(body, bytes):
                try:
                    body = yaml.safe_load(body)  # which takes JSON too
                except yaml.YAMLError:
                    return
            self.event["requestObject"] = copy_object({"patch": body})["patch"]

    def answered_with(self, response: Response) -> None:
        body = response.body
        status: Object = {"metadata": {}}
        if isinstance(body, dict) and body.get("kind") == "Status" and body.get("apiVersion") == "v1":
            status |= {name: body[name] for name in ("status", "message", "reason", "details") if body.get(name)}
        self.event["responseStatus"] = {**status, "code": 101 if response.upgrade is not None else response.status}
        if self.told.level >= Level.REQUEST_RESPONSE and isinstance(body, dict):
            self.event["responseObject"] = as_told(
                body, omit_managed_fields=self.told.omit_managed_fields, untyped=response.untyped
            )


class Auditor:
    """Tells what the policy wants told into a log, and to a webhook."""

    def __init__(
        self,
        policy: AuditPolicy,
        log: AuditLog | None,
        clock: Clock,
        metrics: AuditMetrics,
        *,
        webhook: AuditWebhook | None = None,
    ) -> None:
        self._log = log
        self._webhook = webhook
        self.blocks = webhook is not None and webhook.blocks
        self._metrics = metrics
        self._policy = policy
        self._clock = clock

    def received(
        self, request: Request, info: RequestInfo, user: UserInfo, audit_id: str, annotations: dict[str, str]
    ) -> Trail | None:
        """The trail of a request whose user is known; None where nothing is told of it. `annotations` are what there is
        to say of who asks."""
        trail = self._trail(request, info, user, audit_id)
        if trail is not None:
            if annotations:
                trail.annotate(annotations)
            trail.stage(RECEIVED)
        return trail

    def refused(
        self, request: Request, info: RequestInfo, audit_id: str, annotations: dict[str, str], error: ApiError
    ) -> None:
        """Tell of a request that was refused before it was known who asks."""
        trail = self._trail(request, info, UserInfo(""), audit_id)
        if trail is not None:
            trail.event["user"] = {}
            if annotations:
                trail.annotate(annotations)
            trail.answered_with(Response(error.code, error.status))
            trail.stage(STARTED)

    def _trail(self, request: Request, info: RequestInfo, user: UserInfo, audit_id: str) -> Trail | None:
        told = self._policy.evaluate(user, info)
        self._metrics.levels.add(told.level.word)
        if told.level is Level.NONE:
            return None
        event: Object = {
            "level": told.level.word,
            "auditID": audit_id,
            "requestURI": _uri(request),
            "verb": info.verb,
            "user": user.to_json(),
            "sourceIPs": source_ips(request),
            "requestReceivedTimestamp": self._clock.micro_timestamp(),
        }
        if agent := request.headers.get("user-agent", ""):
            event["userAgent"] = agent if len(agent) <= _AGENT_LENGTH else f"{agent[:_AGENT_LENGTH]}...TRUNCATED"
        if info.is_resource:
            event["objectRef"] = _reference(info)
        return Trail(told, event, self._tell, self._clock)

    def _tell(self, event: Object) -> Awaitable[bool] | None:
        self._metrics.events.add()
        if self._log is not None:
            self._log.write(event)
        return self._webhook.write(event) if self._webhook is not None else None

    async def begun(self, trail: Trail) -> bool:
        """Wait until it is told that a request has come, where that must be waited for. False where the request is not
        to go on because it could not be told of."""
        arrived = await trail.delivered()
        if arrived or self._webhook is None or not self._webhook.strict:
            return True
        self._metrics.rejected.add()
        return False

    async def flush(self) -> None:
        """Return when all is told."""
        if self._log is not None:
            await self._log.flush()
        if self._webhook is not None:
            await self._webhook.flush()

    def finish(self, trail: Trail, info: RequestInfo, response: Response) -> None:
        """Tell of the answer; of one that goes on, once more at its end."""
        trail.answered_with(response)
        if not info.long_running:
            trail.stage(COMPLETE)
            return
        trail.stage(STARTED)
        tell_end(response, lambda: trail.stage(COMPLETE))


def _reference(info: RequestInfo) -> Object:
    fields = {
        "resource": info.resource, "namespace": info.namespace, "name": info.name, "apiGroup": info.group,
        "apiVersion": info.version, "subresource": info.subresource,
    }  # fmt: skip
    return {name: text for name, text in fields.items() if text}


def _uri(request: Request) -> str:
    query = request.raw_query or urlencode(request.query, doseq=True)
    return f"{request.path}?{query}" if query else request.path


_ORDER = (
    "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser", "authenticationMetadata",
    "sourceIPs", "userAgent", "objectRef", "responseStatus", "requestObject", "responseObject",
    "requestReceivedTimestamp", "stageTimestamp", "annotations",
)  # fmt: skip


def _ordered(event: Object) -> Object:
    """The event with its fields as Go writes them."""
    shown = {name: event[name] for name in _ORDER if name in event}
    if "annotations" in shown:
        shown["annotations"] = dict(sorted(shown["annotations"].items()))
    return {"kind": "Event", "apiVersion": API_VERSION, **shown}
