"""Certificates of authorities that a Pod projects out of ClusterTrustBundles (pkg/kubelet/clustertrustbundle
clustertrustbundle_manager.go; KEP-3257)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence

from engine.api.golang.pem import pem_blocks
from engine.api.types import GVR, Object
from engine.kubelet.kuberuntime.env import References
from engine.kubelet.kuberuntime.errors import ConfigError

TRUST_BUNDLES = GVR("certificates.k8s.io", "v1", "clustertrustbundles")
_COLUMNS = 64


async def trust_anchors(projection: Object, references: References) -> str:
    """What the file of a `clusterTrustBundle` source holds: nothing where it is optional and there is no bundle. Raises
    ConfigError for one that is to be there."""
    if name := projection.get("name"):
        found = await references.trust_bundle(name)
        bundles: Sequence[Object] = [found] if found is not None else []
        missing = f'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "{name}" not found'
    else:
        bundles = await references.trust_bundles(projection.get("signerName", ""), projection.get("labelSelector"))
        missing = "combination of signerName and labelSelector matched zero ClusterTrustBundles"
    if not bundles and not projection.get("optional"):
        raise ConfigError(missing)
    return _normalized(bundles)


def _normalized(bundles: Iterable[Object]) -> str:
    """Each certificate once, in an order that does not tell of the bundles'."""
    anchors = {block.content for bundle in bundles for block in pem_blocks(bundle["spec"].get("trustBundle") or "")}
    return "".join(certificate_pem(anchor) for anchor in sorted(anchors))


def certificate_pem(certificate: bytes) -> str:
    text = b64encode(certificate).decode()
    lines = [text[start : start + _COLUMNS] for start in range(0, len(text), _COLUMNS)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])
