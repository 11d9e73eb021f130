"""The cleaner: requests that nobody needs any more (pkg/controller/certificates/cleaner/cleaner.go)."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta

from cryptography import x509

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.controllers.certificates.requests import REQUESTS, has
from engine.controllers.conditions import conditions_of
from engine.controllers.controller import Controller
from engine.controllers.pods import parse_time

PERIOD = 3600.0
APPROVED_FOR, DENIED_FOR, PENDING_FOR = timedelta(hours=1), timedelta(hours=1), timedelta(hours=24)


class CertificateCleaner(Controller):
    name = "certificate-controller"
    kind = "certificatesigningrequest"
    view = "certificatesigningrequest-cleaner-controller"
    workers = 0

    def set_up(self) -> None:
        self._requests = self.lister(REQUESTS)

    async def run(self) -> None:
        while True:
            for request in self._requests.list():
                if is_over(request, self.clock.now()):
                    await self._delete(request)
            await self.clock.sleep(PERIOD)

    async def _delete(self, request: Object) -> None:
        try:
            await self.client.delete(REQUESTS, request["metadata"]["name"])
        except ApiError as error:
            if error.code != 404:
                raise


def is_over(request: Object, now: datetime) -> bool:
    """Issued, denied, failed or pending for long enough, or with a certificate that has expired."""
    status = request.get("status") or {}
    if not conditions_of(status):
        return now - parse_time(request["metadata"]["creationTimestamp"]) > PENDING_FOR
    if (certificate := status.get("certificate")) and has(request, "Approved"):
        return _has_expired(certificate, now) or _older(request, "Approved", APPROVED_FOR, now)
    return any(_older(request, type, DENIED_FOR, now) for type in ("Denied", "Failed"))


def _older(request: Object, type: str, age: timedelta, now: datetime) -> bool:
    return any(
        now - parse_time(each["lastUpdateTime"]) > age
        for each in conditions_of(request.get("status") or {})
        if each["type"] == type and each.get("lastUpdateTime")
    )


def _has_expired(certificate: str, now: datetime) -> bool:
    try:
        return x509.load_pem_x509_certificate(base64.b64decode(certificate)).not_valid_after_utc < now
    except ValueError:
        return False
