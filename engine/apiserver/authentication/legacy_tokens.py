"""Tokens that lie in Secrets of type kubernetes.io/service-account-token: when one is good, and how its use is noted.

Source: pkg/serviceaccount legacy.go and jwt.go. Such a token has an issuer of its own, no end and no audience.
"""

from __future__ import annotations

import base64
import binascii
import logging
from datetime import timedelta
from hmac import compare_digest
from typing import Any

from engine.api.legacy_tokens import (
    INVALID_SINCE_LABEL,
    LAST_USED_LABEL,
    is_auto_generated,
    written_date,
)
from engine.api.types import SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import MERGE_PATCH
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.token_error import TokenError
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo, service_account_user
from engine.apiserver.lookup import Lookup
from engine.apiserver.loopback import Loopback
from engine.apiserver.metrics.token_metrics import TokenMetrics
from engine.clock import Clock

log = logging.getLogger(__name__)

LEGACY_ISSUER = "kubernetes/serviceaccount"
_CLAIM = "kubernetes.io/serviceaccount"
_NAMESPACE, _SECRET, _ACCOUNT, _ACCOUNT_UID = (
    "namespace",
    "secret.name",
    "service-account.name",
    "service-account.uid",
)
_TRACKED_SINCE = (1, 27)  # LegacyServiceAccountTokenTracking
_CLEANED_SINCE = (1, 29)  # LegacyServiceAccountTokenCleanUp, and with it what the audit log is told of the Secret
_ANNOTATION = "authentication.k8s.io/legacy-token"
_ADVICE = "Use tokens from the TokenRequest API or manually created secret-based tokens"


def legacy_claims(account: Object, secret: Object) -> dict[str, Any]:
    """What the token in a Secret says."""
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    return {
        "iss": LEGACY_ISSUER,
        f"{_CLAIM}/{_NAMESPACE}": namespace,
        f"{_CLAIM}/{_SECRET}": secret["metadata"]["name"],
        f"{_CLAIM}/{_ACCOUNT}": name,
        f"{_CLAIM}/{_ACCOUNT_UID}": metadata["uid"],
        "sub": f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}",
    }


class LegacyTokens:
    def __init__(
        self, lookup: Lookup, loopback: Loopback, clock: Clock, metrics: TokenMetrics, *, release: tuple[int, int]
    ) -> None:
        self._lookup = lookup
        self._loopback = loopback
        self._clock = clock
        self._metrics = metrics
        self._release = release

    def note(self, claims: dict[str, Any], remarks: Remarks) -> None:
        """Say that a signed token is of this kind, whether it is good or not."""
        remarks.annotations[_ANNOTATION] = claims.get("sub", "")
        self._metrics.legacy.add()

    async def user(self, token: str, claims: dict[str, Any], remarks: Remarks) -> UserInfo:
        """Whose token it is. Raises TokenError for one that is not good."""
        namespace, name, uid = (claims[f"{_CLAIM}/{part}"] for part in (_NAMESPACE, _ACCOUNT, _ACCOUNT_UID))
        secret = await self._lookup.find(SECRETS, namespace, claims[f"{_CLAIM}/{_SECRET}"])
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            raise TokenError("Token has been invalidated")
        if not compare_digest(_token_of(secret), token.encode()):
            raise TokenError("Token does not match server's copy")
        stored = await self._account(namespace, name, uid)
        if self._release >= _TRACKED_SINCE:
            await self._track(secret, stored, remarks)
        return service_account_user(namespace, name, uid)

    async def _account(self, namespace: str, name: str, expected: str) -> Object:
        stored = await self._lookup.find(SERVICE_ACCOUNTS, namespace, name)
        if stored is None:
            raise TokenError(f'serviceaccounts "{name}" not found')
        if "deletionTimestamp" in stored["metadata"]:
            raise TokenError(f"ServiceAccount {namespace}/{name} has been deleted")
        if (uid := stored["metadata"]["uid"]) != expected:
            raise TokenError(f"ServiceAccount UID ({uid}) does not match claim ({expected})")
        return stored

    async def _track(self, secret: Object, account: Object, remarks: Remarks) -> None:
        metadata, told = secret["metadata"], self._release >= _CLEANED_SINCE
        name, namespace = metadata["name"], metadata["namespace"]
        if told and (metadata.get("labels") or {}).get(INVALID_SINCE_LABEL):
            remarks.annotations[f"{_ANNOTATION}-invalidated"] = f"{name}/{namespace}"
            self._metrics.invalid.add()
            await self._note_use(secret)
            who = f"{namespace}/{name} for service account {namespace}/{account['metadata']['name']}"
            raise TokenError(
                f"the token in secret {who} has been marked invalid. {_ADVICE}, or remove the '{INVALID_SINCE_LABEL}' "
                "label from the secret to temporarily allow use of this token"
            )
        generated = is_auto_generated(name, account)
        (self._metrics.automatic if generated else self._metrics.manual).add()
        if generated:
            remarks.warnings.append(f"{_ADVICE} instead of auto-generated secret-based tokens.")
        if told:
            remarks.annotations[f"{_ANNOTATION}-{'autogenerated' if generated else 'manual'}-secret"] = name
        await self._note_use(secret)

    async def _note_use(self, secret: Object) -> None:
        """Say on the Secret that it was used today. Another server's today may be tomorrow already."""
        metadata, now = secret["metadata"], self._clock.now()
        today, tomorrow = written_date(now), written_date(now + timedelta(days=1))
        if (metadata.get("labels") or {}).get(LAST_USED_LABEL) in (today, tomorrow):
            return
        named = {field: metadata[field] for field in ("name", "namespace", "uid")}
        patch = {"apiVersion": "v1", "kind": "Secret", "metadata": {**named, "labels": {LAST_USED_LABEL: today}}}
        path = SECRETS.path(metadata["namespace"], metadata["name"])
        answer = await self._loopback.ask("PATCH", path, patch, content_type=MERGE_PATCH)
        if answer.status >= 400:
            log.warning("the use of the token in %s is not noted: %s", path, answer.body)


def _token_of(secret: Object) -> bytes:
    try:
        return base64.b64decode((secret.get("data") or {}).get("token", ""))
    except binascii.Error:
        return b""
