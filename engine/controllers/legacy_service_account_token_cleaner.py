"""Once a day: tokens that were made for service accounts unasked and that nobody has used for a year.

They are marked as invalid first, which refuses them, and deleted a year later. Source:
pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go (KEP-2799).
"""

from __future__ import annotations

import logging
from datetime import datetime, time, timedelta

from engine.api.errors import ApiError
from engine.api.legacy_tokens import (
    ACCOUNT_NAME,
    ACCOUNT_UID,
    INVALID_SINCE_LABEL,
    LAST_USED_LABEL,
    TOKEN_SECRET,
    TRACKING_CONFIG_MAP,
    TRACKING_SINCE,
    is_auto_generated,
    read_date,
    written_date,
)
from engine.api.pod_references import secrets_of
from engine.api.types import CONFIGMAPS, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import MERGE_PATCH
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import cleans_legacy_tokens
from engine.controllers.pods import parse_time
from engine.trace import Hop

log = logging.getLogger(__name__)

PERIOD = 24 * 3600.0
CLEAN_UP_PERIOD = timedelta(days=365)  # --legacy-service-account-token-clean-up-period


class LegacyServiceAccountTokenCleaner(Controller):
    name = "legacy-service-account-token-cleaner"
    kind = "secret"
    workers = 0

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return cleans_legacy_tokens(config.kubernetes_version)

    def set_up(self) -> None:
        self._accounts = self.lister(SERVICE_ACCOUNTS)
        self._secrets = self.lister(SECRETS)
        self._pods = self.lister(PODS)

    async def run(self) -> None:
        while True:
            now = self.clock.now()
            if await self._has_tracked_long_enough(now):
                await self._clean(now)
            await self.clock.sleep(PERIOD)

    async def _has_tracked_long_enough(self, now: datetime) -> bool:
        """Whether a Secret without a date of its last use was not used for so long: from the day after the first on."""
        try:
            found = await self.client.get(CONFIGMAPS, TRACKING_CONFIG_MAP, namespace="kube-system")
        except (ApiError, ConnectionError) as error:
            log.info("%s: nothing is known of the use of tokens: %s", self.name, error)
            return False
        since = read_date((found.get("data") or {}).get(TRACKING_SINCE))
        if since is None:
            return False
        return now >= datetime.combine(since, time(), now.tzinfo) + timedelta(days=1) + CLEAN_UP_PERIOD

    async def _clean(self, now: datetime) -> None:
        mounted: dict[str, set[str]] = {}
        edge = now - CLEAN_UP_PERIOD
        for secret in self._secrets.list():
            if not _is_unused(secret, edge) or not self._is_auto_generated(secret):
                continue
            metadata = secret["metadata"]
            namespace = metadata["namespace"]
            if namespace not in mounted:
                mounted[namespace] = set().union(*map(secrets_of, self._pods.list(namespace)))
            if metadata["name"] in mounted[namespace]:
                continue
            invalid_since = (metadata.get("labels") or {}).get(INVALID_SINCE_LABEL)
            if invalid_since is None or read_date(invalid_since) is None:
                await self._act("mark", secret, now)
            elif invalid_since < written_date(edge):
                await self._act("delete", secret, now)

    def _is_auto_generated(self, secret: Object) -> bool:
        """Whether the account that a Secret names, and no other of that name, lists it."""
        metadata = secret["metadata"]
        annotations = metadata.get("annotations") or {}
        account = self._accounts.get(annotations.get(ACCOUNT_NAME, ""), metadata["namespace"])
        if account is None or annotations.get(ACCOUNT_UID) not in (None, "", account["metadata"]["uid"]):
            return False
        return is_auto_generated(metadata["name"], account)

    async def _act(self, verb: str, secret: Object, now: datetime) -> None:
        """Mark or delete a Secret; one that fails has its turn again tomorrow."""
        name, namespace = secret["metadata"]["name"], secret["metadata"]["namespace"]
        with self.world.tracer.span(
            Hop.CONTROLLER, component=self.title, verb=verb, object=f"secret/{namespace}/{name}"
        ) as span:
            try:
                if verb == "mark":
                    await self._mark(secret, now)
                else:
                    version = {"resourceVersion": secret["metadata"]["resourceVersion"]}
                    await self.client.delete(SECRETS, name, namespace=namespace, preconditions=version)
            except (ApiError, ConnectionError) as error:
                span.outcome = getattr(error, "reason", "") or type(error).__name__
                log.info("%s: %s %s/%s: %s", self.name, verb, namespace, name, error)

    async def _mark(self, secret: Object, now: datetime) -> None:
        metadata = secret["metadata"]
        named = {field: metadata[field] for field in ("name", "namespace", "uid")}
        patch = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**named, "labels": {INVALID_SINCE_LABEL: written_date(now)}},
        }
        await self.client.patch(
            SECRETS, metadata["name"], patch, namespace=metadata["namespace"], content_type=MERGE_PATCH
        )


def _is_unused(secret: Object, edge: datetime) -> bool:
    """Whether it holds a token that was made before `edge` and not used since; a date that is none tells nothing."""
    metadata = secret["metadata"]
    if secret.get("type") != TOKEN_SECRET or "deletionTimestamp" in metadata:
        return False
    if parse_time(metadata["creationTimestamp"]) >= edge:
        return False
    last_used = (metadata.get("labels") or {}).get(LAST_USED_LABEL)
    return last_used is None or (read_date(last_used) is not None and last_used < written_date(edge))
