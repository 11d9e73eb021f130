"""The publisher of the CA that API servers are believed by: a ClusterTrustBundle, which Pods can project
(pkg/controller/certificates/clustertrustbundlepublisher/publisher.go). Bundles of another CA for the same signer go."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import serves_trust_bundles

TRUST_BUNDLES = GVR("certificates.k8s.io", "v1", "clustertrustbundles")
SIGNER = "kubernetes.io/kube-apiserver-serving"


class ClusterTrustBundlePublisher(Controller):
    """Its one key is the signer. A cluster without a CA has nothing to publish."""

    name = "kube-apiserver-serving-clustertrustbundle-publisher"
    kind = "clustertrustbundle"
    workers = 1

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return bool(config.root_ca) and serves_trust_bundles(config.kubernetes_version)

    def set_up(self) -> None:
        self._bundles = self.lister(TRUST_BUNDLES)
        self.watch(TRUST_BUNDLES, _changed)

    async def run(self) -> None:
        self.queue.add(SIGNER)

    async def reconcile(self, key: str) -> None:
        name, spec = bundle_name(key, self.config.root_ca), {"signerName": key, "trustBundle": self.config.root_ca}
        found = {each["metadata"]["name"]: each for each in self._bundles.list() if _signer(each) == key}
        self.note(desired=[name], actual=sorted(found))
        same = found.pop(name, None)
        if same is None:
            made = {"apiVersion": "certificates.k8s.io/v1", "kind": "ClusterTrustBundle", "metadata": {"name": name}}
            await self.client.create(TRUST_BUNDLES, {**made, "spec": spec})
        elif same["spec"].get("trustBundle") != spec["trustBundle"]:
            await self.client.update(TRUST_BUNDLES, {**same, "spec": {**same["spec"], **spec}})
        for other in sorted(found):
            await self._delete(other)

    async def _delete(self, name: str) -> None:
        try:
            await self.client.delete(TRUST_BUNDLES, name)
        except ApiError as error:
            if error.code != 404:
                raise


def bundle_name(signer: str, bundle: str) -> str:
    """The name tells what the bundle holds, so that another CA makes another object."""
    return f"{signer.replace('/', ':')}:{sha256(bundle.encode()).hexdigest()[:24]}"


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    return [SIGNER] if _signer(new or old or {}) == SIGNER else []


def _signer(bundle: Object) -> str:
    return str(bundle["spec"].get("signerName", ""))
