"""What of the cluster the Pods of this node refer to, asked for when a container needs it (pkg/kubelet/configmap,
secret, token and volumemanager; the service lister of kubelet.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from engine.api.csi_volumes import CSI_DRIVERS, needs_attachment, unique_name
from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS, VOLUMES
from engine.api.quantity import Quantity
from engine.api.selectors import LabelSelector
from engine.api.types import CONFIGMAPS, GVR, SECRETS, SERVICE_ACCOUNTS, Object
from engine.client import Client, SharedInformer
from engine.clock import Clock
from engine.disks import DIRECTORY_MODE, Disks, Volume
from engine.kubelet import pods
from engine.kubelet.host_files import furnish
from engine.kubelet.kuberuntime.env import decoded
from engine.kubelet.pod_certificates import PodCertificates
from engine.kubelet.trust_anchors import TRUST_BUNDLES

TOKEN_SECONDS = 3600
# A token is asked for anew when so much of its life is over, or a day (token_manager.go requiresRefresh).
REFRESHED_AFTER = 0.8
LONGEST_USE = 24 * 3600.0


class ObjectReferences:
    """`services` is the node's informer of Services; `node` gives the Node as it is known."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        disks: Disks,
        services: SharedInformer,
        node: Callable[[], Object | None],
        certificates: PodCertificates,
        *,
        node_name: str,
    ) -> None:
        self._client = client
        self._clock = clock
        self._disks = disks
        self._services = services
        self._node = node
        self._certificates = certificates
        self._node_name = node_name
        self._tokens: dict[tuple[str, str, int], tuple[str, datetime, datetime]] = {}  # token, asked for, ends

    def forget(self, uid: str) -> None:
        """The Pod is gone, and its tokens and certificates with it."""
        self._certificates.forget(uid)
        for key in [key for key in self._tokens if key[0] == uid]:
            del self._tokens[key]

    async def disk(self, namespace: str, claim: str) -> Volume | None:
        """What is on the volume that a claim is bound to; None if it is bound to none."""
        found = await self._find(CLAIMS, namespace, claim)
        volume = found["spec"].get("volumeName") if found is not None else None
        return self._disks.open(volume) if volume else None

    def host_root(self) -> Volume:
        """The node's own file system."""
        root = self._disks.open(f"{self._node_name}:/")
        if not root.directories:
            furnish(root, self._node_name, self._node())
            root.modes[""] = DIRECTORY_MODE
        return root

    async def is_attached(self, namespace: str, claim: str) -> bool:
        """As the Node's status says; a volume of no CSI driver, or of one that does without, need not be attached."""
        found = await self._find(CLAIMS, namespace, claim)
        name = found["spec"].get("volumeName") if found is not None else None
        volume = await self._find(VOLUMES, None, name, absent=(403, 404)) if name else None
        csi = volume["spec"].get("csi") if volume is not None else None
        if volume is None or csi is None:
            return True
        attached = ((self._node() or {}).get("status") or {}).get("volumesAttached") or ()
        if any(each["name"] == unique_name(volume) for each in attached):
            return True
        return not needs_attachment(await self._find(CSI_DRIVERS, None, csi["driver"]))

    async def claimed(self, namespace: str, claim: str) -> Quantity | None:
        """How large the volume of a claim is; None where it is bound to none."""
        found = await self._find(CLAIMS, namespace, claim)
        size = (((found or {}).get("status") or {}).get("capacity") or {}).get("storage")
        return Quantity.parse(size) if size else None

    async def data(self, kind: str, namespace: str, name: str, *, binary: bool = False) -> dict[str, str] | None:
        """The data of a `configmap` or `secret`, decoded; None if there is none. Other failures raise ApiError."""
        secret = kind == "secret"
        found = await self._find(SECRETS if secret else CONFIGMAPS, namespace, name)
        return decoded(found, secret=secret, binary=binary) if found is not None else None

    async def _find(
        self, resource: GVR, namespace: str | None, name: str, *, absent: tuple[int, ...] = (404,)
    ) -> Object | None:
        """None for what is not there: of a PersistentVolume that is not, a node is told that it has no part in it."""
        try:
            return await self._client.get(resource, name, namespace=namespace)
        except ApiError as error:
            if error.code in absent:
                return None
            raise

    async def token(self, pod: Object, projection: Object) -> str:
        """A token of the Pod's service account, bound to the Pod; the last one while it is good. Raises ApiError."""
        audience, seconds = projection.get("audience", ""), projection.get("expirationSeconds") or TOKEN_SECONDS
        key = (pods.uid_of(pod), audience, seconds)
        known = self._tokens.get(key)
        if known is None or self._is_old(*known[1:]):
            answer = await self._request(pod, audience, seconds)
            ends = pods.parse_time(answer["status"]["expirationTimestamp"])
            known = self._tokens[key] = (answer["status"]["token"], self._clock.now(), ends)
        return known[0]

    def _is_old(self, since: datetime, ends: datetime) -> bool:
        used = (self._clock.now() - since).total_seconds()
        return used > min(LONGEST_USE, REFRESHED_AFTER * (ends - since).total_seconds())

    async def _request(self, pod: Object, audience: str, seconds: int) -> Object:
        spec: Object = {
            "expirationSeconds": seconds,
            "boundObjectRef": {
                "apiVersion": "v1", "kind": "Pod", "name": pods.name_of(pod), "uid": pods.uid_of(pod),
            },
        }  # fmt: skip
        if audience:
            spec["audiences"] = [audience]
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        account = pod["spec"].get("serviceAccountName") or "default"
        return await self._client.create(
            SERVICE_ACCOUNTS, request, namespace=pods.namespace_of(pod), name=account, subresource="token"
        )

    async def pod_certificate(self, pod: Object, volume: str, number: int, source: Object) -> tuple[str, str]:
        return await self._certificates.bundle(pod, volume, number, source)

    async def trust_bundle(self, name: str) -> Object | None:
        return await self._find(TRUST_BUNDLES, None, name)

    async def trust_bundles(self, signer: str, selector: Object | None) -> Sequence[Object]:
        if selector is None:
            return []
        labels = str(LabelSelector.from_object(selector))
        listed = await self._client.list(
            TRUST_BUNDLES, label_selector=labels, field_selector=f"spec.signerName={signer}"
        )
        return listed.items

    async def services(self) -> Sequence[Object]:
        await self._services.wait_for_sync()
        return self._services.lister.list()

    def allocatable(self) -> Mapping[str, str]:
        return ((self._node() or {}).get("status") or {}).get("allocatable") or {}
