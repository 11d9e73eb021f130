"""Bootstrap tokens, by which somebody new joins a cluster: `ID.SECRET`, each with a Secret in kube-system that says
what it is good for (cluster-bootstrap token/api, token/util and util/secrets)."""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import datetime

from engine.api.golang.time import TimeError, instant
from engine.api.types import Object

NAMESPACE = "kube-system"
SECRET_TYPE = "bootstrap.kubernetes.io/token"
NAME_PREFIX = "bootstrap-token-"
USER_PREFIX = "system:bootstrap:"
BOOTSTRAPPERS = "system:bootstrappers"
# Keys of a Secret's data.
ID, SECRET, EXPIRATION = "token-id", "token-secret", "expiration"
EXTRA_GROUPS, FOR_AUTHENTICATION, FOR_SIGNING = (
    "auth-extra-groups",
    "usage-bootstrap-authentication",
    "usage-bootstrap-signing",
)
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_NAME = re.compile(rf"{NAME_PREFIX}([a-z0-9]{{6}})")
_GROUP = re.compile(rf"{BOOTSTRAPPERS}:[a-z0-9:-]{{0,255}}[a-z0-9]")


def parts_of(token: str) -> tuple[str, str] | None:
    """The id and the secret of a token; None for what has not its form."""
    found = _TOKEN.fullmatch(token)
    return (found[1], found[2]) if found else None


def id_in_name(name: str) -> str:
    """The id for which a Secret of this name may stand, or ""."""
    found = _NAME.fullmatch(name)
    return found[1] if found else ""


def value_of(secret: Object, key: str) -> str:
    """What a Secret has under a key; "" for nothing."""
    return b64decode((secret.get("data") or {}).get(key) or "").decode(errors="replace")


def seconds_left(secret: Object, now: datetime) -> float | None:
    """How long its token is still good: None for ever, 0 where the time is over or is no time."""
    if not (expiration := value_of(secret, EXPIRATION)):
        return None
    try:
        end, _ = instant(expiration)
    except TimeError:
        return 0.0
    return max(0.0, end / 10**9 - now.timestamp())


def has_expired(secret: Object, now: datetime) -> bool:
    return seconds_left(secret, now) == 0


def groups_of(secret: Object) -> tuple[str, ...] | None:
    """The groups of who shows the token; None where one of them may not be."""
    extra = value_of(secret, EXTRA_GROUPS)
    named = extra.split(",") if extra else []
    if not all(_GROUP.fullmatch(group) for group in named):
        return None
    return tuple(sorted({BOOTSTRAPPERS, *named}))
