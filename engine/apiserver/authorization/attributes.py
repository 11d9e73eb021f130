"""What an authorizer is asked and what it answers (apiserver pkg/authorization/authorizer)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol

from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.request_info import RequestInfo


class Attributes(NamedTuple):
    user: UserInfo
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    is_resource: bool = True
    path: str = ""
    field_selector: str = ""  # of a list, watch or deletecollection
    label_selector: str = ""

    @classmethod
    def of(cls, user: UserInfo, info: RequestInfo) -> Attributes:
        return cls(
            user,
            info.verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            info.namespace,
            info.name,
            info.is_resource,
            info.path,
        )


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


class Decision(NamedTuple):
    """`note` is for who looks at the hop, where there is no reason to tell clients; `error` is what went wrong."""

    verdict: Verdict
    reason: str = ""
    authorizer: str = ""
    note: str = ""
    error: str = ""


class Authorizer(Protocol):
    @property
    def name(self) -> str: ...

    async def authorize(self, attributes: Attributes) -> Decision: ...
