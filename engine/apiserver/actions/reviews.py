"""Reviews: questions to the authorizer and the authenticator, posted as objects that are never stored.

Source: pkg/registry/authorization (subjectaccessreview, selfsubjectaccessreview, localsubjectaccessreview,
selfsubjectrulesreview) and pkg/registry/authentication (selfsubjectreview, tokenreview).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api.errors import ApiError, aggregated, bad_request, invalid
from engine.api.types import Object
from engine.api.unset_times import with_unset_creation
from engine.api.wire import Request
from engine.apiserver.actions.review_rules import access_causes, evaluation_error, field_selector
from engine.apiserver.authentication import UnionAuthenticator, UserInfo
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.token_error import RefusedTokenError, TokenError
from engine.apiserver.authentication.tokens import ISSUER, ServiceAccountAuthenticator
from engine.apiserver.authentication.user import AUTHENTICATED, NOBODY
from engine.apiserver.authorization import Attributes, UnionAuthorizer, Verdict
from engine.apiserver.authorization.abac import AbacAuthorizer
from engine.apiserver.authorization.nodes import is_node
from engine.apiserver.authorization.rbac import Grant, RBACAuthorizer, Resolved
from engine.apiserver.call import Call
from engine.clock import Clock

_UNKNOWN = "invalid bearer token"
_SELECTORS_SINCE = (1, 32)  # AuthorizeWithSelectors
_NOT_ASKED = "webhook authorizer does not support user rule resolution"
_NOT_LISTED = "node authorizer does not support user rule resolution"

_EVERYTHING = (
    Grant("", {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}),
    Grant("", {"verbs": ["*"], "nonResourceURLs": ["*"]}),
)


class Reviews:
    def __init__(
        self,
        authorizer: UnionAuthorizer,
        rbac: RBACAuthorizer,
        tokens: ServiceAccountAuthenticator,
        further: UnionAuthenticator,
        clock: Clock,
        *,
        version: str,
        anonymous: bool,
        modes: Sequence[str],
        abac: AbacAuthorizer | None,
    ) -> None:
        self._authorizer = authorizer
        self._rbac = rbac
        self._tokens = tokens
        self._further = further
        self._clock = clock
        self._version = version
        self._anonymous = anonymous
        self._modes = modes
        self._abac = abac

    @staticmethod
    def check(call: Call, review: Object) -> None:
        """Whether a question is one. Raises ApiError 400, 422."""
        kind, spec = review["kind"], review.get("spec") or {}
        if kind == "TokenReview" and not spec.get("token"):
            raise bad_request("token is required for TokenReview in authentication")
        if kind == "SelfSubjectRulesReview" and not spec.get("namespace"):
            raise bad_request("no namespace on request")
        if kind.endswith("AccessReview"):
            info = call.gvr_resource
            if causes := access_causes(review, call.info.namespace, info.release):
                raise invalid(info.gvk, "", causes)

    async def answer(self, call: Call, review: Object) -> Object:
        """A review that has been checked, with its status filled in; of those of oneself nothing else is given back."""
        kind = review["kind"]
        if kind == "SelfSubjectReview":
            made = {"creationTimestamp": self._clock.timestamp()}
            return {**_head(review), "metadata": made, "status": {"userInfo": call.user.to_json()}}
        if kind == "SelfSubjectRulesReview":
            unset, rules = with_unset_creation({}, self._version), self._rules(call.user, review["spec"]["namespace"])
            return {**_head(review), "metadata": unset, "spec": {}, "status": rules}
        sent = {name: value for name, value in (review.get("metadata") or {}).items() if value is not None}
        review["metadata"] = with_unset_creation(sent, self._version)
        spec: dict[str, Any] = review.get("spec") or {}
        if kind == "TokenReview":
            token = bearer_token(f"Bearer {spec.get('token', '')}", Remarks())
            review["status"] = await self._token(token, spec.get("audiences") or [ISSUER])
        else:
            review["status"] = await self._access(call, review, spec)
        return review

    async def _access(self, call: Call, review: Object, spec: dict[str, Any]) -> Object:
        user = call.user
        if review["kind"] != "SelfSubjectAccessReview":
            extra = tuple((key, tuple(values)) for key, values in (spec.get("extra") or {}).items())
            user = UserInfo(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)
        answer = (await self._authorizer.authorize(_question(user, spec))).decision
        status: Object = {"allowed": answer.verdict is Verdict.ALLOW}
        if answer.verdict is Verdict.DENY:
            status["denied"] = True
        if answer.reason:
            status["reason"] = answer.reason
        if answer.error:
            status["evaluationError"] = answer.error
        if call.gvr_resource.release >= _SELECTORS_SINCE and (
            error := evaluation_error(spec.get("resourceAttributes") or {})
        ):
            status["evaluationError"] = error
        return status

    def _rules(self, user: UserInfo, namespace: str) -> Object:
        """What RBAC grants, and all where everybody may all; what a node may besides that, nobody can list."""
        resources, paths = [], []
        node = "Node" in self._modes and is_node(user)
        resolved = self._rbac.resolve(user, namespace) if "RBAC" in self._modes else Resolved([], [])
        for grant in (*(_EVERYTHING if "AlwaysAllow" in self._modes else ()), *resolved.grants):
            rule = grant.rule
            if rule.get("nonResourceURLs"):
                paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
            if rule.get("resources"):
                fields = ("verbs", "apiGroups", "resources", "resourceNames")
                resources.append({field: rule[field] for field in fields if rule.get(field)})
        if self._abac is not None:
            of_resources, of_paths = self._abac.rules(user, namespace)
            resources, paths = [*resources, *of_resources], [*paths, *of_paths]
        asks = "Webhook" in self._modes
        status: Object = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": node or asks}
        if errors := [*([_NOT_LISTED] if node else ()), *([_NOT_ASKED] if asks else ()), *resolved.errors]:
            status["evaluationError"] = aggregated(errors)
        return status

    async def _token(self, token: str, audiences: list[str]) -> Object:
        """Asks as a request would whose header is `Bearer` and the token, but for these audiences. Nobody is told of
        the remarks that are made of it."""
        if not token and not self._anonymous:
            return {"user": {}}
        if not token:  # as good as none, so that it is anybody's, and for whom it is asked
            return {"authenticated": True, "user": NOBODY.to_json(), "audiences": audiences}
        try:
            user, meant = await self._tokens.examine(token, audiences, Remarks())
        except TokenError as error:
            known = await self._other_token(token, str(error)) if ISSUER in audiences else None
            return known or {"user": {}, "error": _told(str(error))}
        groups = (*user.groups, AUTHENTICATED)
        return {"authenticated": True, "user": user._replace(groups=groups).to_json(), "audiences": meant}

    async def _other_token(self, token: str, unknown: str) -> Object | None:
        """What the status says if one of the further authenticators knows the token: all of theirs are for the API."""
        request = Request("GET", "/", headers={"authorization": f"Bearer {token}"})
        try:
            found = await self._further.authenticate(request, Remarks())
        except RefusedTokenError as error:
            return {"user": {}, "error": _told(error.why if unknown == _UNKNOWN else aggregated((unknown, error.why)))}
        except ApiError:
            return None
        return {"authenticated": True, "user": found.user.to_json(), "audiences": [ISSUER]}


def _head(review: Object) -> Object:
    return {name: review[name] for name in ("kind", "apiVersion")}


def _told(error: str) -> str:
    """What two authenticators say of a bearer token: first that of the server's own loopback, which knows none."""
    return error if error == _UNKNOWN else f"[{_UNKNOWN}, {error}]"


def _question(user: UserInfo, spec: dict[str, Any]) -> Attributes:
    resource = spec.get("resourceAttributes")
    if resource is None:
        path = spec.get("nonResourceAttributes") or {}
        return Attributes(user, path.get("verb", ""), is_resource=False, path=path.get("path", ""))
    return Attributes(
        user,
        resource.get("verb", ""),
        resource.get("group", ""),
        resource.get("version", ""),
        resource.get("resource", ""),
        resource.get("subresource", ""),
        resource.get("namespace", ""),
        resource.get("name", ""),
        field_selector=field_selector(resource.get("fieldSelector") or {}),
    )
