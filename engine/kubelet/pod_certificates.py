"""Certificates that Pods project: a kubelet makes the key, asks for the certificate in the Pod's name and asks again
when that is to be renewed (pkg/kubelet/podcertificate podcertificatemanager.go; KEP-4317)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from engine.api.errors import ApiError
from engine.api.golang.pem import pem_blocks
from engine.api.types import GVR, SERVICE_ACCOUNTS, Object
from engine.client import WARNING, Client, EventRecorder
from engine.clock import Clock
from engine.kubelet import pods
from engine.kubelet.kuberuntime.errors import ConfigError
from engine.kubelet.trust_anchors import certificate_pem

POD_REQUESTS = GVR("certificates.k8s.io", "v1", "podcertificaterequests")
NOT_YET = "credential bundle is not issued yet"
# A request that is not found so long after it was made has been deleted.
ABANDONED_AFTER = timedelta(minutes=10)

PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey

_KEYS: dict[str, Callable[[], PrivateKey]] = {
    "ED25519": ed25519.Ed25519PrivateKey.generate,
    "ECDSAP256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ECDSAP384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ECDSAP521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "RSA3072": lambda: rsa.generate_private_key(65537, 3072),
    "RSA4096": lambda: rsa.generate_private_key(65537, 4096),
}


class Bundle(NamedTuple):
    """As PEM."""

    key: str
    chain: str


class _Asked(NamedTuple):
    name: str
    key: str
    since: datetime


@dataclass(slots=True)
class _Record:
    """One source of one volume. A refusal is for good."""

    asked: _Asked | None = None
    bundle: Bundle | None = None
    renewed_at: str = ""
    refusal: str = ""


class PodCertificates:
    """Of the Pods of one node. `node` gives the Node as it is known."""

    def __init__(
        self, client: Client, clock: Clock, recorder: EventRecorder, node: Callable[[], Object | None]
    ) -> None:
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._node = node
        self._records: dict[tuple[str, str, int], _Record] = {}  # by uid, volume and source

    def forget(self, uid: str) -> None:
        for key in [key for key in self._records if key[0] == uid]:
            del self._records[key]

    async def bundle(self, pod: Object, volume: str, number: int, source: Object) -> Bundle:
        """The newest that was issued. Raises ConfigError before there is one, and where it was refused."""
        record = self._records.setdefault((pods.uid_of(pod), volume, number), _Record())
        if record.asked is not None:
            await self._look(pod, record, record.asked)
        if record.refusal:
            raise ConfigError(record.refusal)
        if record.asked is None and (record.bundle is None or self._clock.timestamp() >= record.renewed_at):
            await self._ask(pod, record, source)
        if record.bundle is None:
            raise ConfigError(NOT_YET)
        return record.bundle

    async def _look(self, pod: Object, record: _Record, asked: _Asked) -> None:
        namespace = pods.namespace_of(pod)
        try:
            request = await self._client.get(POD_REQUESTS, asked.name, namespace=namespace)
        except ApiError as error:
            # Of what is not there, a node is told that it is none of its own.
            if error.code in (403, 404) and self._clock.now() - asked.since > ABANDONED_AFTER:
                record.asked = None
            return
        status = request.get("status") or {}
        for condition in status.get("conditions") or ():
            why = f"reason={_quoted(condition, 'reason')}", f"message={_quoted(condition, 'message')}"
            where, type = f"PodCertificateRequest {namespace}/{asked.name}", condition["type"]
            if type == "Issued":
                record.bundle, record.asked = Bundle(asked.key, _chain(status)), None
                record.renewed_at = status.get("beginRefreshAt", "")
            elif type in ("Denied", "Failed"):
                how = "was denied" if type == "Denied" else "failed"
                self._recorder.event(pod, WARNING, type, f"{where} {how}, {', '.join(why)}")
                how = "was permanently denied" if type == "Denied" else "failed"
                record.refusal = f"PodCertificateRequest {how}: {' '.join(why)}"

    async def _ask(self, pod: Object, record: _Record, source: Object) -> None:
        """What fails is tried again with the volume."""
        namespace, account = pods.namespace_of(pod), pod["spec"].get("serviceAccountName", "")
        node, key = self._node(), _KEYS[source["keyType"]]()
        if node is None:
            return
        try:
            found = await self._client.get(SERVICE_ACCOUNTS, account, namespace=namespace)
            spec = {
                "signerName": source["signerName"],
                "podName": pods.name_of(pod),
                "podUID": pods.uid_of(pod),
                "serviceAccountName": account,
                "serviceAccountUID": found["metadata"]["uid"],
                "nodeName": node["metadata"]["name"],
                "nodeUID": node["metadata"]["uid"],
                "maxExpirationSeconds": source.get("maxExpirationSeconds"),
                "stubPKCS10Request": _stub(key),
            }
            if annotations := source.get("userAnnotations"):
                spec["unverifiedUserAnnotations"] = annotations
            made = await self._client.create(
                POD_REQUESTS, {"metadata": _metadata(pod), "spec": spec}, namespace=namespace
            )
        except ApiError:
            return
        record.asked = _Asked(made["metadata"]["name"], _private_pem(key), self._clock.now())


def _metadata(pod: Object) -> Object:
    owner = {"apiVersion": "core/v1", "kind": "Pod", "name": pods.name_of(pod), "uid": pods.uid_of(pod)}
    return {"generateName": "req-", "ownerReferences": [owner]}


def _stub(key: PrivateKey) -> str:
    """Says nothing but that whoever asks has the key."""
    how = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    stub = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, how)
    return base64.b64encode(stub.public_bytes(serialization.Encoding.DER)).decode()


def _private_pem(key: PrivateKey) -> str:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


def _chain(status: Object) -> str:
    """The certificates alone, without what stands around them."""
    return "".join(certificate_pem(block.content) for block in pem_blocks(status.get("certificateChain") or ""))


def _quoted(condition: Object, field: str) -> str:
    return json.dumps(condition.get(field, ""), ensure_ascii=False)
