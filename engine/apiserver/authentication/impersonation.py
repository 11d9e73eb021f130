"""Acting as somebody else: the Impersonate-* headers, for those who may (apiserver filters/impersonation)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import unquote

from engine.api.errors import bad_request
from engine.api.golang.text import quoted
from engine.api.wire import Request
from engine.apiserver.authentication.user import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    UserInfo,
    service_account_of,
    service_account_user,
)
from engine.apiserver.authorization import Attributes, Verdict, forbidden
from engine.apiserver.authorization.attributes import Decision
from engine.apiserver.request_info import internal_text

_USER, _UID, _GROUP, _EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"
_ANY = "impersonate-"
_AUTHENTICATION = "authentication.k8s.io"
Ask = Callable[[Attributes], Awaitable[Decision]]  # an authorizer


def asked_for(request: Request, *, constrained: bool) -> UserInfo | None:
    """The user that a request wants to be. Raises ApiError for groups and the like without a user: 400 where
    impersonation is `constrained`, 500 in plain text before, as upstream."""
    headers = request.headers
    if _ANY not in "\n".join(headers):
        return None
    extra = tuple(
        (unquote(name.removeprefix(_EXTRA)), tuple(value.split("\n")))
        for name, value in headers.items()
        if name.startswith(_EXTRA)
    )
    groups = tuple(headers[_GROUP].split("\n")) if _GROUP in headers else ()
    uid = headers.get(_UID, "").partition("\n")[0]
    name = headers.get(_USER, "").partition("\n")[0]
    if not name:
        if (groups or uid or extra) and constrained:
            raise bad_request(f"requested {_as_go(uid, groups, extra)} without impersonating a user name")
        if groups or uid or extra:
            raise internal_text(request, f"requested {_as_references(uid, groups, extra)} without impersonating a user")
        return None
    return UserInfo(name, uid, groups, extra)


def _as_go(uid: str, groups: tuple[str, ...], extra: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """A user without a name as Go writes the struct with %#v."""

    def texts(values: tuple[str, ...]) -> str:
        return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"

    pairs = ", ".join(f"{quoted(key)}:{texts(values)}" for key, values in sorted(extra))
    shown = f"map[string][]string{{{pairs}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{texts(groups)}, Extra:{shown}}}'


def _as_references(uid: str, groups: tuple[str, ...], extra: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """What is asked for as Go writes a list of ObjectReferences with %v, which are structs of seven texts."""
    version = f"{_AUTHENTICATION}/v1"
    references = [("Group", group, "", "") for group in groups]
    references += [("UserExtra", value, version, key) for key, values in sorted(extra) for value in values]
    references += [("UID", uid, version, "")] if uid else []
    return f"[{' '.join(f'{{{kind}  {name}  {of}  {path}}}' for kind, name, of, path in references)}]"


def _questions(actor: UserInfo, wanted: UserInfo, *, uid_first: bool) -> Iterator[Attributes]:
    verb = "impersonate"
    if (account := service_account_of(wanted.name)) is not None:
        namespace, name = account
        yield Attributes(actor, verb, "", "v1", "serviceaccounts", namespace=namespace, name=name)
    else:
        yield Attributes(actor, verb, "", "v1", "users", name=wanted.name)
    uid = Attributes(actor, verb, _AUTHENTICATION, "v1", "uids", name=wanted.uid)
    if wanted.uid and uid_first:
        yield uid
    for group in wanted.groups:
        yield Attributes(actor, verb, "", "v1", "groups", name=group)
    for key, values in wanted.extra:
        for value in values:
            yield Attributes(actor, verb, _AUTHENTICATION, "v1", "userextras", key, name=value)
    if wanted.uid and not uid_first:
        yield uid


async def impersonate(actor: UserInfo, wanted: UserInfo, ask: Ask, *, uid_first: bool) -> UserInfo:
    """The user to go on as; the right to its UID is asked for before those to its groups since the modes came. Raises
    ApiError 403."""
    for question in _questions(actor, wanted, uid_first=uid_first):
        decision = await ask(question)
        if decision.verdict is not Verdict.ALLOW:
            raise forbidden(question, decision.reason)
    account = service_account_of(wanted.name)
    groups = service_account_user(*account).groups if account is not None and not wanted.groups else wanted.groups
    return with_default_groups(wanted._replace(groups=groups))


def with_default_groups(user: UserInfo) -> UserInfo:
    """A user as one that has been authenticated."""
    groups = list(user.groups)
    if user.name == ANONYMOUS:
        if UNAUTHENTICATED not in groups:
            groups.append(UNAUTHENTICATED)
    elif AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        groups.append(AUTHENTICATED)
    return user._replace(groups=tuple(groups))
