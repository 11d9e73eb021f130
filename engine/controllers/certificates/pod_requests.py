"""The cleaner of PodCertificateRequests, which are of use for minutes only
(pkg/controller/certificates/cleaner/pcrcleaner.go)."""

from __future__ import annotations

from datetime import timedelta

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import serves_pod_certificates
from engine.controllers.pods import parse_time

POD_REQUESTS = GVR("certificates.k8s.io", "v1", "podcertificaterequests")
PERIOD, KEPT_FOR = 300.0, timedelta(minutes=15)


class PodCertificateRequestCleaner(Controller):
    name = "podcertificaterequestcleaner"
    kind = "podcertificaterequest"
    view = "podcertificaterequest-cleaner-controller"
    workers = 0

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return serves_pod_certificates(config.kubernetes_version)

    def set_up(self) -> None:
        self._requests = self.lister(POD_REQUESTS)

    async def run(self) -> None:
        while True:
            for request in self._requests.list():
                if self.clock.now() >= parse_time(request["metadata"]["creationTimestamp"]) + KEPT_FOR:
                    await self._delete(request["metadata"])
            await self.clock.sleep(PERIOD)

    async def _delete(self, metadata: Object) -> None:
        uid = {"uid": metadata["uid"]}
        try:
            await self.client.delete(POD_REQUESTS, metadata["name"], namespace=metadata["namespace"], preconditions=uid)
        except ApiError as error:
            if error.code not in (404, 409):
                raise
