"""What an expression asks the authorizer, put to it (apiserver pkg/cel/library/authz.go)."""

from __future__ import annotations

from engine.api.cel.library.authorization import Answer, Asked
from engine.apiserver.admission.expressions import Ask
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.authorization import Attributes, UnionAuthorizer, Verdict

_SERVICE_ACCOUNT = "system:serviceaccount:"


def asker(authorizer: UnionAuthorizer, requester: UserInfo) -> Ask:
    async def ask(asked: Asked) -> Answer:
        user = _service_account(asked.user) if asked.user else requester
        decision = (await authorizer.authorize(_attributes(user, asked))).decision
        return Answer(decision.verdict is Verdict.ALLOW, decision.reason)

    return ask


def _service_account(name: str) -> UserInfo:
    """One that nobody has authenticated: it is in none of the groups that come with that."""
    namespace = name.removeprefix(_SERVICE_ACCOUNT).partition(":")[0]
    return UserInfo(name, groups=("system:serviceaccounts", f"system:serviceaccounts:{namespace}"))


def _attributes(user: UserInfo, asked: Asked) -> Attributes:
    if asked.path:
        return Attributes(user, asked.verb, is_resource=False, path=asked.path)
    return Attributes(
        user,
        asked.verb,
        asked.group,
        "*",
        asked.resource,
        asked.subresource,
        asked.namespace,
        asked.name,
        field_selector=asked.field_selector,
    )
