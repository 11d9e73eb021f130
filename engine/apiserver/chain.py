"""The order in which a request is looked at, and the spans that show it (apiserver pkg/server/config.go,
DefaultBuildHandlerChain).

A write records every hop from 2 on, as children of the span that the request's `traceparent` names. A read records one
span for authentication and authorisation together, so that informers cost little. A client that sends no
`traceparent` gets a hop-1 span of its own around the whole; the control plane's own components do not, for they are no
clients: their hop 2 then starts the trace. What is asked of `/debug/ktui/` is never traced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from engine.api.errors import ApiError, PlainTextError, bad_request, internal, unavailable
from engine.api.wire import PROTOBUF, Request, Response
from engine.apiserver.aggregation.aggregator import Aggregator
from engine.apiserver.audit import Auditor
from engine.apiserver.authentication import UnionAuthenticator
from engine.apiserver.authentication.constrained_impersonation import Impersonation
from engine.apiserver.authentication.impersonation import asked_for
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.union import Authentication
from engine.apiserver.authorization import AccessDenied, Attributes, UnionAuthorizer, Verdict, forbidden
from engine.apiserver.call import Call, describe
from engine.apiserver.causes import causes_of
from engine.apiserver.cors import CrossOrigin, is_preflight
from engine.apiserver.deadlines import Deadlines, given_up
from engine.apiserver.debug.payloads import Payloads
from engine.apiserver.fairness import PriorityLevels
from engine.apiserver.fairness.flow_classifier import FlowClassifier
from engine.apiserver.metrics.access_metrics import AccessMetrics
from engine.apiserver.metrics.request_metrics import RequestMetrics
from engine.apiserver.metrics.waits import waits
from engine.apiserver.nonresource import NonResource
from engine.apiserver.protobuf.answers import ProtobufAnswers
from engine.apiserver.registry.body import TOO_DEEP
from engine.apiserver.registry.options import manager_of
from engine.apiserver.request_info import RequestInfo, check_path, internal_text, parse
from engine.apiserver.rest import Rest
from engine.apiserver.routing import check_start
from engine.apiserver.warning_headers import warning_header
from engine.clock import wall
from engine.rng import Rng
from engine.store.types import StoreError
from engine.trace import Hop, SpanContext
from engine.world import World

log = logging.getLogger(__name__)

DEBUG_PREFIX = "/debug/ktui"

_TIMEOUT = 504
_AUDIT_ID = "audit-id"
_TOO_DEEP_TO_WRITE = "Recursion limit reached"  # orjson, whose error has no class of its own
_AUTHORIZATION = "authorization.k8s.io"
_NO_SNIFFING = {"x-content-type-options": "nosniff"}
_PLAIN_TEXT = {"content-type": "text/plain; charset=utf-8", **_NO_SNIFFING}

Step = Callable[[Call], Awaitable[Response]]


class Chain:
    def __init__(
        self,
        *,
        world: World,
        authenticator: UnionAuthenticator,
        authorizer: UnionAuthorizer,
        impersonation: Impersonation,
        rest: Rest,
        nonresource: NonResource,
        payloads: Payloads,
        flows: FlowClassifier,
        metrics: RequestMetrics,
        access: AccessMetrics,
        audit_ids: Rng,
        levels: PriorityLevels,
        deadlines: Deadlines,
        protobuf: ProtobufAnswers,
        cross_origin: CrossOrigin,
        aggregator: Aggregator,
        auditor: Auditor | None = None,
    ) -> None:
        self._world = world
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._impersonation = impersonation
        self._rest = rest
        self._nonresource = nonresource
        self._payloads = payloads
        self._flows = flows
        self._metrics = metrics
        self._access = access
        self._audit_ids = audit_ids
        self._levels = levels
        self._deadlines = deadlines
        self._protobuf = protobuf
        self._cross_origin = cross_origin
        self._aggregator = aggregator
        self._auditor = auditor

    async def handle(self, request: Request) -> Response:
        """The answer to a request; never raises but when it is cancelled, as for a client that has gone."""
        info = parse(request)
        cause = SpanContext.parse(request.headers.get("traceparent", ""))
        call = Call(request, info, self._world.tracer, cause, _is_component(request))
        began = wall()
        self._metrics.began(info)
        try:
            with waits() as waited:
                response = await self._timely(call)
        except asyncio.CancelledError:
            self._metrics.terminated(call, _TIMEOUT)
            self._settle(call, _failed(given_up()), wall() - began, waited)
            raise
        finally:
            self._metrics.ended(info)
            if call.seat is not None:
                call.seat.leave()
        self._settle(call, response, wall() - began, waited)
        if call.trail is not None and self._auditor is not None and self._auditor.blocks:
            await call.trail.delivered()
        if call.payload:
            self._payloads.keep(call.payload, request, response)
        self._say_more(call, response)
        if PROTOBUF in request.headers.get("accept", "") and not response.relayed:
            await self._protobuf.convert(request, response)
        return response

    def _settle(self, call: Call, response: Response, seconds: float, waited: waits) -> None:
        """What the audit log and the metrics tell of a request that is over."""
        if call.trail is not None and self._auditor is not None:
            call.trail.annotate(call.annotations)
            self._auditor.finish(call.trail, call.info, response)
        if call.handled:
            self._metrics.record(call, response.status, seconds, own=max(seconds - waited.seconds, 0.0))
            response.sized = self._metrics.sizes(call)

    async def _timely(self, call: Call) -> Response:
        try:
            answer = self._across_origins(call) if "origin" in call.request.headers else self._answer(call)
            return await self._deadlines.keep(call.request, call.info, answer)
        except ApiError as error:
            if error.code == _TIMEOUT:
                self._metrics.terminated(call, error.code)
            elif self._auditor is not None and not call.user.name:
                self._auditor.refused(call.request, call.info, self._audit_id(call), call.annotations, error)
            return _failed(error)

    async def _across_origins(self, call: Call) -> Response:
        """Browsers ask for leave without saying who they are: before authentication."""
        headers = self._cross_origin.headers(call.request)
        if headers and is_preflight(call.request):
            return Response(204, b"", headers)
        response = await self._answer(call)
        response.headers.update(headers)
        return response

    async def _answer(self, call: Call) -> Response:
        request = call.request
        try:
            return await self._traced(call)
        except ApiError as error:
            return _failed(error)
        except StoreError as error:
            # What etcd says is passed on as it is (apiserver handlers/responsewriters/status.go, ErrorToAPIStatus).
            is_etcds = str(error).startswith(("etcdserver: ", "rpc error: "))
            return _failed(ApiError(500, "", str(error)) if is_etcds else unavailable(str(error)))
        except RecursionError:  # Go looks deeper into a body than Python can call
            return _failed(bad_request(TOO_DEEP))
        except Exception as error:
            if str(error) == _TOO_DEEP_TO_WRITE:
                return _failed(bad_request(TOO_DEEP))
            log.exception("%s %s", request.method, request.path)
            return _failed(internal(f"{type(error).__name__}: {error}"))

    def _say_more(self, call: Call, response: Response) -> None:
        """The headers that the filters of the chain set."""
        headers = response.headers
        if call.warnings and (warned := warning_header(call.warnings)):
            headers["warning"] = warned
        if call.by_component:
            return
        headers[_AUDIT_ID] = self._audit_id(call)
        if call.flow is not None:
            headers.update(call.flow.headers())

    def _audit_id(self, call: Call) -> str:
        if not call.audit_id:
            call.audit_id = call.request.headers.get(_AUDIT_ID) or self._audit_ids.uid()
        return call.audit_id

    async def _traced(self, call: Call) -> Response:
        request = call.request
        if request.path.startswith(DEBUG_PREFIX):
            return await self._untraced(call)
        call.object = self._object(call.info)
        if call.by_component and call.info.verb == "list":
            response = await self._run(call)
            if isinstance(response.body, dict):
                response.causes = await causes_of(self._rest.backend.storage.store, response.body)
            return response
        if (call.cause is not None and request.in_process) or call.by_component:
            return await self._run(call)
        detail: dict[str, Any] = {"method": request.method, "path": request.path, "query": request.query}
        with self._world.tracer.span(
            Hop.CLIENT,
            component=manager_of(request.headers.get("user-agent", "")),
            verb=call.info.verb,
            object=call.object,
            cause=call.cause,  # a client of another process that traces for itself: its span is the parent
            detail=detail,
        ) as span:
            call.cause = span.context
            try:
                response = await self._run(call)
            except ApiError as error:
                detail["status"] = error.code
                raise
            finally:
                span.object = call.object
            detail["status"] = response.status
            span.revision = call.revision or _revision(response)
            return response

    def _object(self, info: RequestInfo) -> str:
        if not info.is_resource:
            return info.path
        resource = self._rest.backend.resources.get(info.group, info.version, info.resource)
        return describe(resource, info.namespace, info.name) if resource is not None else info.path

    async def _run(self, call: Call) -> Response:
        info = call.info
        if not info.is_resource:
            check_path(call.request)
        if not info.is_resource or info.reading:
            await self._admit_read(call)
        else:
            await self._admit_write(call)
        check_start(call.request)
        if (api_service := self._aggregator.elsewhere(info)) is not None:
            return await self._aggregator.relay(call, api_service)
        if not info.is_resource:
            response = await self._nonresource.answer(call)
            call.handled = True
            return response
        call.resource = self._rest.resolve(call)
        call.handled = True
        return await self._rest.answer(call)

    # -- hops 2 and 3

    async def _admit_write(self, call: Call) -> None:
        with call.span(Hop.AUTHENTICATION) as span:
            call.payload = span.detail["payload"] = span.id
            await self._world.latency.pause("authentication")
            await self._authenticate(call, span.detail)
            await self._take_seat(call)
        with call.span(Hop.AUTHORIZATION) as span:
            await self._world.latency.pause("authorization")
            await self._authorize(call, span.detail)

    async def _admit_read(self, call: Call) -> None:
        with call.span(Hop.AUTHENTICATION) as span:
            if not call.by_component:
                call.payload = span.detail["payload"] = span.id
            # Who has stopped the model's time looks around meanwhile: a read changes nothing in it.
            is_delayed = call.request.in_process or self._world.clock.mode != "paused"
            if is_delayed:
                await self._world.latency.pause("authentication")
            await self._authenticate(call, span.detail)
            await self._take_seat(call)
            if is_delayed:
                await self._world.latency.pause("authorization")
            await self._authorize(call, span.detail)

    async def _untraced(self, call: Call) -> Response:
        await self._authenticate(call, {})
        await self._authorize(call, {})
        return await self._nonresource.answer(call)

    async def _authenticate(self, call: Call, detail: dict[str, Any]) -> None:
        call.user = (found := await self._known(call)).user
        detail["user"] = found.user.name
        detail["groups"] = list(found.user.groups)
        detail["authenticator"] = found.authenticator
        detail["tried"] = list(found.tried)
        detail["userAgent"] = call.request.headers.get("user-agent", "")
        if (wanted := asked_for(call.request, constrained=self._impersonation.constrained)) is not None:
            call.user, constraint = await self._impersonation.user(call.user, wanted, call.info)
            if call.trail is not None:
                call.trail.impersonates(call.user, constraint)
            detail["impersonated"] = wanted.name
        if not call.by_component and (call.info.watching or not call.info.long_running):
            call.flow = self._flows.classify(call.user, call.info)

    async def _take_seat(self, call: Call) -> None:
        """Raises ApiError 429."""
        if call.flow is None:
            return
        try:
            call.seat = await self._levels.enter(call.flow, call.user, call.info)
        except ApiError:
            self._metrics.dropped(call)
            raise

    async def _known(self, call: Call) -> Authentication:
        """Who asks; from here on the audit log tells of the request."""
        began = wall()
        try:
            found = await self._authenticator.authenticate(call.request, Remarks(call.warnings, call.annotations))
        except ApiError as error:
            self._access.authenticated(None, wall() - began)
            if self._auditor is not None:
                self._auditor.refused(call.request, call.info, self._audit_id(call), call.annotations, error)
            raise
        self._access.authenticated(found.user.name, wall() - began)
        if self._auditor is not None:
            call.trail = self._auditor.received(
                call.request, call.info, found.user, self._audit_id(call), call.annotations
            )
            if call.trail is not None and self._auditor.blocks and not await self._auditor.begun(call.trail):
                raise internal_text(call.request, "failed to store audit event")
        return found

    async def _authorize(self, call: Call, detail: dict[str, Any]) -> None:
        question = Attributes.of(call.user, call.info)
        if "fieldSelector" in call.request.query and question.verb in ("list", "watch", "deletecollection"):
            question = question._replace(field_selector=call.request.parameter("fieldSelector"))
        if "labelSelector" in call.request.query and question.verb in ("list", "watch", "deletecollection"):
            question = question._replace(label_selector=call.request.parameter("labelSelector"))
        began = wall()
        answer = await self._authorizer.authorize(question)
        decision = answer.decision
        self._access.authorized(decision, wall() - began)
        if question.is_resource:
            detail["resource"] = question.resource + (f"/{question.subresource}" if question.subresource else "")
        detail["verdicts"] = dict(answer.verdicts)
        detail["verdict"] = "allow" if decision.verdict is Verdict.ALLOW else "deny"
        detail["authorizer"] = decision.authorizer
        detail["reason"] = decision.reason or decision.note
        if call.trail is not None:
            verdict = "allow" if decision.verdict is Verdict.ALLOW else "forbid"
            call.trail.annotate({f"{_AUTHORIZATION}/decision": verdict, f"{_AUTHORIZATION}/reason": decision.reason})
        if decision.verdict is not Verdict.ALLOW:
            if decision.error:
                raise internal_text(call.request, decision.error)
            raise forbidden(question, decision.reason)


def _is_component(request: Request) -> bool:
    certificate = request.certificate
    return request.in_process and certificate is not None and certificate.common_name.startswith("system:")


def _revision(response: Response) -> int:
    body = response.body
    version = (body.get("metadata") or {}).get("resourceVersion", "") if isinstance(body, dict) else ""
    return int(version) if isinstance(version, str) and version.isdigit() else 0


def _failed(error: ApiError) -> Response:
    headers = {"retry-after": str(error.retry_after)} if error.retry_after else {}
    if isinstance(error, AccessDenied):
        headers |= _NO_SNIFFING
    if isinstance(error, PlainTextError):  # as Go's http.Error writes it
        return Response(error.code, f"{error.text}\n".encode(), {**_PLAIN_TEXT, **headers})
    return Response(error.code, error.status, headers)
