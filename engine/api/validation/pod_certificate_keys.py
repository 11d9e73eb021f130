"""The key that a kubelet asks a certificate for: in a request without a name (validateStubPKCS10Request)."""

from __future__ import annotations

import base64
import binascii

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from engine.api.errors import OMITTED
from engine.api.types import Object
from engine.api.validation.problems import Problems

_PATH = "spec.stubPKCS10Request"
_SIZE = 10 * 1024
_CURVES = ("secp256r1", "secp384r1", "secp521r1")
_BITS = (3072, 4096)
_ONE_KEY = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"


def stub_request(spec: Object, problems: Problems) -> None:
    stub = _stub(spec)
    if not stub:
        problems.invalid("spec", OMITTED, _ONE_KEY)
    elif len(stub) > _SIZE:
        problems.too_long(_PATH, _SIZE)
    elif (request := _parsed(stub)) is None:
        problems.invalid(_PATH, OMITTED, "must be a valid PKCS#10 CSR")
    elif _usable(request, problems) and not _signed(request):
        problems.invalid(_PATH, OMITTED, "invalid signature")


def asks_for(spec: Object, certificate: x509.Certificate) -> bool:
    """Whether a certificate is for the key of the request."""
    request = _parsed(_stub(spec))
    return request is not None and request.public_key() == certificate.public_key()


def _stub(spec: Object) -> bytes:
    try:
        return base64.b64decode(spec.get("stubPKCS10Request") or "")
    except binascii.Error:
        return b""


def _parsed(stub: bytes) -> x509.CertificateSigningRequest | None:
    try:
        return x509.load_der_x509_csr(stub)
    except ValueError:
        return None


def _usable(request: x509.CertificateSigningRequest, problems: Problems) -> bool:
    try:
        key = request.public_key()
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, EllipticCurvePublicKey):
        if key.curve.name in _CURVES:
            return True
        problems.invalid(_PATH, f"curve {key.curve.name}", "elliptic public keys must use curve P256, P384, or P521")
    elif isinstance(key, RSAPublicKey):
        if key.key_size in _BITS:
            return True
        problems.invalid(_PATH, f"{key.key_size}-bit modulus", "RSA keys must have modulus size 3072 or 4096")
    elif isinstance(key, Ed25519PublicKey):
        return True
    else:
        problems.invalid(_PATH, OMITTED, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
    return False


def _signed(request: x509.CertificateSigningRequest) -> bool:
    try:
        return request.is_signature_valid
    except (ValueError, UnsupportedAlgorithm, InvalidSignature):
        return False
