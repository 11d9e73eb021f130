"""The signer: certificates for approved requests to the signers of Kubernetes itself, from the cluster's CA
(pkg/controller/certificates/signer/signer.go). A cluster that is not served has no CA to sign with."""

from __future__ import annotations

import base64
from datetime import timedelta

from engine.api.types import Object
from engine.client import object_key
from engine.controllers.certificates.requests import REQUESTS, SIGNERS, NotSignableError, check, has, parsed
from engine.controllers.conditions import conditions_of
from engine.controllers.controller import Controller
from engine.pki import Authority, KeyPair

# --cluster-signing-duration, and the least that anybody gets.
LONGEST = timedelta(days=365)
SHORTEST = timedelta(minutes=10)


class CertificateSigner(Controller):
    name = "certificate-controller"
    kind = "certificatesigningrequest"
    view = "certificatesigningrequest-signing-controller"
    workers = 1

    def set_up(self) -> None:
        self._requests = self.lister(REQUESTS)
        key = self.config.signing_key.get_secret_value()
        self._authority = Authority(KeyPair(self.config.root_ca.encode(), key.encode())) if key else None
        self.watch(REQUESTS, lambda old, new: [object_key(new)] if new is not None else [])

    async def reconcile(self, key: str) -> None:
        request = self._requests.by_key(key)
        if request is None or self._authority is None or request["spec"]["signerName"] not in SIGNERS:
            return
        if (request.get("status") or {}).get("certificate") or not has(request, "Approved") or has(request, "Failed"):
            return
        status: Object = dict(request.get("status") or {})
        self.note(desired={"signer": request["spec"]["signerName"]}, actual={})
        try:
            status["certificate"] = base64.b64encode(self._signed(self._authority, request)).decode()
        except (NotSignableError, ValueError) as error:
            status["conditions"] = [*conditions_of(status), self._failed(str(error))]
        await self.client.update_status(REQUESTS, {**request, "status": status})

    def _signed(self, authority: Authority, request: Object) -> bytes:
        """PEM. Raises NotSignableError; ValueError for what is no request."""
        spec, asked = request["spec"], parsed(request)
        check(spec["signerName"], asked, spec.get("usages") or ())
        seconds = spec.get("expirationSeconds")
        validity = LONGEST if seconds is None else min(LONGEST, max(SHORTEST, timedelta(seconds=seconds)))
        return authority.sign(asked, spec.get("usages") or (), self.clock.now(), validity)

    def _failed(self, message: str) -> Object:
        now = self.clock.timestamp()
        return {
            "type": "Failed",
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
