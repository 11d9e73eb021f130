"""Reviews: questions to the authorizer and the authenticator, posted as objects that are never stored.

Source: pkg/registry/authorization (subjectaccessreview, selfsubjectaccessreview, localsubjectaccessreview,
selfsubjectrulesreview) and pkg/registry/authentication (selfsubjectreview, tokenreview).
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError, Cause, bad_request, field_invalid, field_required, invalid
from engine.api.types import Object
from engine.api.wire import Request
from engine.apiserver.authentication import UnionAuthenticator, UserInfo
from engine.apiserver.authorization import Attributes, UnionAuthorizer, Verdict
from engine.apiserver.authorization.rbac import RBACAuthorizer
from engine.apiserver.call import Call


class Reviews:
    def __init__(self, authorizer: UnionAuthorizer, rbac: RBACAuthorizer, authenticator: UnionAuthenticator) -> None:
        self._authorizer = authorizer
        self._rbac = rbac
        self._authenticator = authenticator

    async def answer(self, call: Call, review: Object) -> Object:
        """The review with its status filled in. Raises ApiError 422."""
        kind = review["kind"]
        review.setdefault("metadata", {})["creationTimestamp"] = None
        spec: dict[str, Any] = review.get("spec") or {}
        if kind == "SelfSubjectReview":
            review["status"] = {"userInfo": call.user.to_json()}
        elif kind == "TokenReview":
            review["status"] = await self._token(spec.get("token", ""))
        elif kind == "SelfSubjectRulesReview":
            review["status"] = self._rules(call.user, spec.get("namespace", ""))
        else:
            review["status"] = await self._access(call, review, spec)
        return review

    async def _access(self, call: Call, review: Object, spec: dict[str, Any]) -> Object:
        causes = _access_causes(spec, own=review["kind"] == "SelfSubjectAccessReview")
        if causes:
            raise invalid(call.gvr_resource.gvk, "", causes)
        if review["kind"] == "LocalSubjectAccessReview":
            wanted = (spec.get("resourceAttributes") or {}).get("namespace", "")
            if wanted != call.info.namespace:
                raise bad_request("spec.resourceAttributes.namespace must match namespace: " + call.info.namespace)
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
        return status

    def _rules(self, user: UserInfo, namespace: str) -> Object:
        if not namespace:
            raise bad_request("no namespace on request")
        resources, paths = [], []
        for grant in self._rbac.grants(user, namespace):
            rule = grant.rule
            if rule.get("nonResourceURLs"):
                paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
            if rule.get("resources"):
                fields = ("verbs", "apiGroups", "resources", "resourceNames")
                resources.append({field: rule[field] for field in fields if rule.get(field)})
        return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}

    async def _token(self, token: str) -> Object:
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        request = Request("GET", "/", headers={"authorization": f"Bearer {token}"})
        try:
            found = await self._authenticator.authenticate(request)
        except ApiError as error:
            return {"user": {}, "error": error.message}
        return {"authenticated": True, "user": found.user.to_json()}


def _access_causes(spec: dict[str, Any], *, own: bool) -> list[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    causes = []
    if resource is not None and path is not None:
        causes.append(
            field_invalid(
                "spec.nonResourceAttributes", path, "cannot be specified in combination with resourceAttributes"
            )
        )
    if resource is None and path is None:
        causes.append(
            field_invalid(
                "spec.resourceAttributes",
                None,
                "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            )
        )
    if not own and not spec.get("user") and not spec.get("groups"):
        causes.append(field_required("spec.user", "at least one of user or group must be specified"))
    return causes


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
    )
