"""Reading a CertificateSigningRequest: its state, what it asks for, and whether its signer would sign that: pure
(pkg/apis/certificates helpers.go, pkg/controller/certificates/signer)."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from cryptography import x509
from cryptography.x509.oid import NameOID

from engine.api.types import GVR, Object
from engine.controllers.conditions import conditions_of, is_true

REQUESTS = GVR("certificates.k8s.io", "v1", "certificatesigningrequests")
CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
LEGACY = "kubernetes.io/legacy-unknown"
SIGNERS = (KUBELET_SERVING, KUBELET_CLIENT, CLIENT, LEGACY)
_NODE = "system:node:"
_NODES = "system:nodes"


class NotSignableError(Exception):
    """The signer would not sign this; the message is that of the condition `Failed`."""


def has(request: Object, type: str) -> bool:
    return is_true(conditions_of(request.get("status") or {}), type)


def parsed(request: Object) -> x509.CertificateSigningRequest:
    """Raises ValueError."""
    return x509.load_pem_x509_csr(base64.b64decode(request["spec"]["request"]))


def common_name(subject: x509.Name) -> str:
    return next((str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)), "")


def organizations(subject: x509.Name) -> list[str]:
    return [str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def alternatives(asked: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    try:
        return list(asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def check(signer: str, asked: x509.CertificateSigningRequest, usages: Sequence[str]) -> None:
    """Raises NotSignableError."""
    if signer == CLIENT:
        _check_client_usages(usages)
    elif signer == KUBELET_CLIENT:
        check_kubelet_client(asked, usages)
    elif signer == KUBELET_SERVING:
        _check_kubelet_serving(asked, usages)


def _check_client_usages(usages: Sequence[str]) -> None:
    for usage in usages:
        if usage not in ("digital signature", "key encipherment", "client auth"):
            raise NotSignableError(f"invalid usage for client certificate: {usage}")
    if "client auth" not in usages:
        raise NotSignableError("missing required usage for client certificate: client auth")


def check_kubelet_client(asked: x509.CertificateSigningRequest, usages: Sequence[str]) -> None:
    if organizations(asked.subject) != [_NODES]:
        raise NotSignableError("subject organization is not system:nodes")
    _no_alternatives(asked, x509.DNSName, "DNS")
    _no_alternatives(asked, x509.RFC822Name, "Email")
    _no_alternatives(asked, x509.IPAddress, "IP")
    _no_alternatives(asked, x509.UniformResourceIdentifier, "URI")
    _check_node(asked)
    _exact_usages(usages, "client auth")


def _check_kubelet_serving(asked: x509.CertificateSigningRequest, usages: Sequence[str]) -> None:
    if organizations(asked.subject) != [_NODES]:
        raise NotSignableError("subject organization is not system:nodes")
    if not any(isinstance(name, x509.DNSName | x509.IPAddress) for name in alternatives(asked)):
        raise NotSignableError("DNS or IP subjectAltName is required")
    _no_alternatives(asked, x509.RFC822Name, "Email")
    _no_alternatives(asked, x509.UniformResourceIdentifier, "URI")
    _exact_usages(usages, "server auth")
    _check_node(asked)


def _check_node(asked: x509.CertificateSigningRequest) -> None:
    if not common_name(asked.subject).startswith(_NODE):
        raise NotSignableError("subject common name does not begin with system:node: ")


def _no_alternatives(asked: x509.CertificateSigningRequest, kind: type[x509.GeneralName], word: str) -> None:
    if any(isinstance(name, kind) for name in alternatives(asked)):
        raise NotSignableError(f"{word} subjectAltNames are not allowed")


def _exact_usages(usages: Sequence[str], purpose: str) -> None:
    """Encrypting keys is of use to RSA alone: it may be left out, and is told of anyway."""
    required = {"digital signature", "key encipherment", purpose}
    if set(usages) not in (required, required - {"key encipherment"}):
        raise NotSignableError(f"usages did not match [{' '.join(sorted(required))}]")
