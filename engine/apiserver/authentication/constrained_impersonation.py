"""Acting as somebody else for some requests alone (KEP-5284): who may be acted as, and what for, in a mode for nodes,
for service accounts and for all others; after them comes the old way, by the verb `impersonate`.

Source: apiserver pkg/endpoints/filters/impersonation (mode.go, constrained_impersonation.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine.api.errors import ApiError
from engine.api.validation.text import dns_subdomain, domain_prefixed_path
from engine.apiserver.authentication.impersonation import impersonate, with_default_groups
from engine.apiserver.authentication.user import (
    NODE_PREFIX,
    NODES_GROUP,
    SYSTEM_MASTERS,
    UserInfo,
    service_account_of,
    service_account_user,
)
from engine.apiserver.authorization import Attributes, UnionAuthorizer, Verdict, forbidden
from engine.apiserver.authorization.attributes import Decision
from engine.apiserver.metrics.impersonation_metrics import ImpersonationMetrics
from engine.apiserver.request_info import RequestInfo
from engine.clock import wall

SINCE = (1, 36)  # ConstrainedImpersonation
_GROUP = "authentication.k8s.io"
_NODE, _ANY_NODE, _ACCOUNT, _OTHERS, _OLD = "associated-node", "arbitrary-node", "serviceaccount", "user-info", ""
_LEGACY = "legacy"  # what metrics call the old way
_NODE_NAME_KEY = "authentication.kubernetes.io/node-name"
_NODE_KEYS_KEY = "authentication.kubernetes.io/associated-node-keys"
_MANY = 4  # groups or extra values, of which all are asked for at once first
_REMEMBERED = 1024


class Impersonation:
    """`constrained` says whether the release knows of the modes. The mode that a user may act in is tried first."""

    def __init__(self, authorizer: UnionAuthorizer, *, constrained: bool) -> None:
        self.constrained = constrained
        self.metrics = ImpersonationMetrics()
        self._authorizer = authorizer
        self._last: dict[UserInfo, str] = {}

    async def user(self, actor: UserInfo, wanted: UserInfo, info: RequestInfo) -> tuple[UserInfo, str]:
        """The user to go on as, and the verb that allows it ("" in the old way). Raises ApiError 403."""
        if not self.constrained:
            return await impersonate(actor, wanted, self._decide, uid_first=False), ""
        began = wall()
        first: ApiError | None = None
        for mode in self._modes(actor, wanted):
            try:
                found = await self._in_mode(mode, actor, wanted, info)
            except ApiError as error:
                first = first or error
                continue
            if len(self._last) >= _REMEMBERED:
                self._last.clear()
            self._last[actor] = mode
            self.metrics.attempted(mode or _LEGACY, wall() - began, allowed=True)
            return found, f"impersonate:{mode}" if mode else ""
        self.metrics.attempted("", wall() - began, allowed=False)
        assert first is not None  # the old way is always tried
        raise first

    def _modes(self, actor: UserInfo, wanted: UserInfo) -> list[str]:
        modes = [*_modes_for(actor, wanted), _OLD]
        return sorted(modes, key=lambda mode: mode != self._last.get(actor))

    async def _in_mode(self, mode: str, actor: UserInfo, wanted: UserInfo, info: RequestInfo) -> UserInfo:
        if mode == _OLD:
            return await impersonate(actor, wanted, partial(self._decide_in, _LEGACY), uid_first=True)
        asker = _without_node(actor) if mode == _NODE else actor
        asked = Attributes.of(asker, info)
        await self._check(asked._replace(verb=f"impersonate-on:{mode}:{asked.verb}"))
        verb = f"impersonate:{mode}"
        await self._check(_of_name(asker, verb, wanted.name, any_node=mode == _NODE))
        if wanted.uid:
            await self._check(Attributes(asker, verb, _GROUP, "v1", "uids", name=wanted.uid))
        await self._groups(asker, verb, wanted.groups)
        await self._extra(asker, verb, wanted)
        return with_default_groups(wanted._replace(groups=_groups_of(wanted)))

    async def _groups(self, actor: UserInfo, verb: str, groups: tuple[str, ...]) -> None:
        question = Attributes(actor, verb, _GROUP, "v1", "groups")
        if "" in groups:
            raise forbidden(question, "impersonating the empty string group is not allowed")
        if SYSTEM_MASTERS in groups:
            why = f"impersonating the {SYSTEM_MASTERS} group is not allowed"
            raise forbidden(question._replace(name=SYSTEM_MASTERS), why)
        if len(groups) >= _MANY and await self._may(question._replace(name="*")):
            return
        for group in groups:
            await self._check(question._replace(name=group))

    async def _extra(self, actor: UserInfo, verb: str, wanted: UserInfo) -> None:
        question = Attributes(actor, verb, _GROUP, "v1", "userextras")
        for why in _wrong_extra(wanted):
            raise forbidden(question, why)
        count = sum(len(values) for _, values in wanted.extra)
        if count >= _MANY and await self._may(question._replace(subresource="*", name="*")):
            return
        for key, values in wanted.extra:
            for value in values:
                await self._check(question._replace(subresource=key, name=value))

    async def _may(self, question: Attributes) -> bool:
        return (await self._decide_in(_mode_of(question), question)).verdict is Verdict.ALLOW

    async def _check(self, question: Attributes) -> None:
        decision = await self._decide_in(_mode_of(question), question)
        if decision.verdict is not Verdict.ALLOW:
            raise forbidden(question, decision.reason)

    async def _decide(self, question: Attributes) -> Decision:
        return (await self._authorizer.authorize(question)).decision

    async def _decide_in(self, mode: str, question: Attributes) -> Decision:
        began = wall()
        decision = await self._decide(question)
        self.metrics.checked(mode, wall() - began, allowed=decision.verdict is Verdict.ALLOW)
        return decision


def _mode_of(question: Attributes) -> str:
    """The verb says it: impersonate:MODE or impersonate-on:MODE:VERB."""
    return question.verb.split(":")[1]


def _modes_for(actor: UserInfo, wanted: UserInfo) -> Iterator[str]:
    node, account = _node_of(wanted.name), service_account_of(wanted.name)
    if not node and account is None:
        yield _OTHERS
    if wanted.uid or wanted.groups or wanted.extra:
        return
    if node:
        if service_account_of(actor.name) is not None and dict(actor.extra).get(_NODE_NAME_KEY) == (node,):
            yield _NODE
        yield _ANY_NODE
    elif account is not None:
        yield _ACCOUNT


def _node_of(username: str) -> str:
    name = username.removeprefix(NODE_PREFIX) if username.startswith(NODE_PREFIX) else ""
    return name if name and not dns_subdomain(name) else ""


def _of_name(actor: UserInfo, verb: str, username: str, *, any_node: bool) -> Attributes:
    if node := _node_of(username):
        return Attributes(actor, verb, _GROUP, "v1", "nodes", name="*" if any_node else node)
    if (account := service_account_of(username)) is not None:
        namespace, name = account
        return Attributes(actor, verb, _GROUP, "v1", "serviceaccounts", namespace=namespace, name=name)
    return Attributes(actor, verb, _GROUP, "v1", "users", name=username)


def _groups_of(wanted: UserInfo) -> tuple[str, ...]:
    if _node_of(wanted.name):
        return (NODES_GROUP,)
    account = service_account_of(wanted.name)
    return service_account_user(*account).groups if account is not None else wanted.groups


def _without_node(actor: UserInfo) -> UserInfo:
    """What is asked for an agent holds on all of its nodes."""
    return actor._replace(extra=((_NODE_KEYS_KEY, tuple(sorted(key for key, _ in actor.extra))),))


def _wrong_extra(wanted: UserInfo) -> Iterator[str]:
    for key, values in wanted.extra:
        if not key:
            yield "impersonating the empty string key in extra is not allowed"
        for value, why in domain_prefixed_path(key):
            yield f'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "{value}": {why}'
        if key != key.lower():
            yield f'impersonating a non-lowercase key in extra is not allowed: "{key}"'
        if "" in values:
            yield "impersonating the empty string value in extra is not allowed"
