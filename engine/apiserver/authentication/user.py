"""Who makes a request, in the words of authentication.k8s.io UserInfo (apiserver pkg/authentication/user)."""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import Object
from engine.api.validation.text import dns_label, dns_subdomain

SYSTEM_MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"
NODES_GROUP = "system:nodes"
NODE_PREFIX = "system:node:"
SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"
SERVICE_ACCOUNTS_GROUP = "system:serviceaccounts"


class UserInfo(NamedTuple):
    """Hashable, so that what was decided for a user can be kept."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def to_json(self) -> Object:
        shown: Object = {"username": self.name}
        if self.uid:
            shown["uid"] = self.uid
        if self.groups:
            shown["groups"] = list(self.groups)
        if self.extra:
            shown["extra"] = {key: list(values) for key, values in sorted(self.extra)}  # as Go writes a map
        return shown


NOBODY = UserInfo(ANONYMOUS, groups=(UNAUTHENTICATED,))


def service_account_user(namespace: str, name: str, uid: str = "") -> UserInfo:
    return UserInfo(
        f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}",
        uid,
        (SERVICE_ACCOUNTS_GROUP, f"{SERVICE_ACCOUNTS_GROUP}:{namespace}"),
    )


def service_account_of(username: str) -> tuple[str, str] | None:
    """The namespace and the name of a service account; None of any other user, also of one whose name only begins like
    an account's (authentication/serviceaccount, SplitUsername)."""
    parts = username.removeprefix(SERVICE_ACCOUNT_PREFIX).split(":")
    if not username.startswith(SERVICE_ACCOUNT_PREFIX) or len(parts) != 2:
        return None
    namespace, name = parts
    return None if dns_label(namespace) or dns_subdomain(name) else (namespace, name)
