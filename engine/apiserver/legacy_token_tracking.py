"""Keeps the ConfigMap that says since when this cluster notes the use of tokens in Secrets.

Source: pkg/controlplane/controller/legacytokentracking. It is made at the start and, where it was deleted, made again
with that day's date; a date that is none is replaced. It is made once in half an hour at most: servers of which some
do not track would otherwise make and delete it by turns.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from engine.api.legacy_tokens import TRACKING_CONFIG_MAP, TRACKING_SINCE, read_date, written_date
from engine.api.types import CONFIGMAPS, Object, copy_object
from engine.apiserver.corrupt_objects import CorruptObjectError
from engine.apiserver.followed_key import AGAIN, follow_key
from engine.apiserver.lookup import Lookup
from engine.apiserver.loopback import Loopback
from engine.clock import Clock
from engine.store.types import Store, StoreError
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

TRACKED_SINCE = (1, 27)  # the release in which LegacyServiceAccountTokenTracking came on by default
CREATION_INTERVAL = timedelta(minutes=30)
_RETRY = 10.0  # seconds after a write that was refused
_NAMESPACE = "kube-system"
TRACKING_KEY = f"/registry/configmaps/{_NAMESPACE}/{TRACKING_CONFIG_MAP}"


def tracking_config_map(now: datetime) -> Object:
    """As a cluster has it that begins to track now."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": TRACKING_CONFIG_MAP, "namespace": _NAMESPACE},
        "data": {TRACKING_SINCE: written_date(now)},
    }


class LegacyTokenTracking:
    def __init__(self, store: Store, lookup: Lookup, loopback: Loopback, clock: Clock) -> None:
        self._store = store
        self._lookup = lookup
        self._loopback = loopback
        self._clock = clock
        self._made_at: datetime | None = None  # the last time that this server made it
        self._waits = False

    def start(self, tasks: Supervisor, *, made: bool) -> None:
        """`made`: this server has just made it, with the other objects of a new cluster."""
        self._made_at = self._clock.now() if made else None
        self._waits = False

        async def look() -> None:
            seconds = await self._look()
            if seconds and not self._waits:
                self._waits = True
                tasks.spawn(self._look_after(seconds), "legacy token tracking, later")

        followed = follow_key(self._store, self._clock, TRACKING_KEY, look, wakes=lambda _: True)
        tasks.spawn(followed, "legacy token tracking")

    async def _look_after(self, seconds: float) -> None:
        while seconds:
            await self._clock.sleep(seconds)
            try:
                seconds = await self._look()
            except StoreError:
                seconds = AGAIN
        self._waits = False

    async def _look(self) -> float:
        """See to it that it is there and has a date; after how many seconds to look again, 0 for none.

        Raises StoreError.
        """
        now = self._clock.now()
        try:
            found = await self._lookup.find(CONFIGMAPS, _NAMESPACE, TRACKING_CONFIG_MAP)
        except CorruptObjectError:
            return 0
        if found is not None:
            return await self._mend(found, now)
        if self._made_at is not None and (left := self._made_at + CREATION_INTERVAL - now) > timedelta():
            return left.total_seconds()
        answer = await self._loopback.ask("POST", CONFIGMAPS.path(_NAMESPACE), tracking_config_map(now))
        if answer.status in (201, 409):
            self._made_at = now if answer.status == 201 else self._made_at
            return 0
        log.warning("the ConfigMap %s is not made: %s", TRACKING_CONFIG_MAP, answer.body)
        return _RETRY

    async def _mend(self, found: Object, now: datetime) -> float:
        if read_date((found.get("data") or {}).get(TRACKING_SINCE)) is not None:
            return 0
        changed = copy_object(found)
        changed["data"] = {**(found.get("data") or {}), TRACKING_SINCE: written_date(now)}
        answer = await self._loopback.ask("PUT", CONFIGMAPS.path(_NAMESPACE, TRACKING_CONFIG_MAP), changed)
        return _RETRY if answer.status >= 400 and answer.status not in (404, 409) else 0
