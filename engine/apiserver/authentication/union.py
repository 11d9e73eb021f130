"""The chain of authenticators (apiserver pkg/authentication/request/union, group and anonymous)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from engine.api.errors import ApiError, unauthorized
from engine.api.wire import Request
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import ANONYMOUS, AUTHENTICATED, NOBODY, UNAUTHENTICATED, UserInfo

_OF_ALL = frozenset((AUTHENTICATED, UNAUTHENTICATED))


class Authenticator(Protocol):
    """Knows one kind of credential, and adds to the remarks of a request what is to be said of it.

    None: there is none of that kind. A bad one raises ApiError 401.
    """

    @property
    def name(self) -> str: ...

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None: ...


class Authentication(NamedTuple):
    user: UserInfo
    authenticator: str
    tried: tuple[str, ...]


class UnionAuthenticator:
    """Asks each in order. Every known user is in `system:authenticated`, except who is said to be anonymous or
    unauthenticated; without a credential one is.

    A credential that is there and wrong is refused, never taken for anonymous.
    """

    def __init__(
        self, authenticators: Sequence[Authenticator], *, anonymous: bool = True, paths: Collection[str] = ()
    ) -> None:
        """`paths` are the only ones for which who shows nothing is anonymous; none are all."""
        self._authenticators = tuple(authenticators)
        self._anonymous = anonymous
        self._paths = frozenset(paths)
        self._complete: dict[UserInfo, UserInfo] = {}

    async def authenticate(self, request: Request, remarks: Remarks) -> Authentication:
        tried: list[str] = []
        refusal: ApiError | None = None
        for authenticator in self._authenticators:
            tried.append(authenticator.name)
            try:
                user = await authenticator.authenticate(request, remarks)
            except ApiError as error:
                refusal = error
                continue
            if user is not None:
                return Authentication(self._with_group(user), authenticator.name, tuple(tried))
        if refusal is not None or not self._anonymous or (self._paths and request.path not in self._paths):
            raise refusal or unauthorized()
        return Authentication(NOBODY, "anonymous", (*tried, "anonymous"))

    def _with_group(self, user: UserInfo) -> UserInfo:
        complete = self._complete.get(user)
        if complete is None:
            is_said = user.name == ANONYMOUS or not _OF_ALL.isdisjoint(user.groups)
            groups = user.groups if is_said else (*user.groups, AUTHENTICATED)
            if len(self._complete) > 10_000:
                self._complete.clear()
            complete = self._complete[user] = user._replace(groups=groups)
        return complete
