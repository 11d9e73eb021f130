"""A signing request as a client sends it, in PEM: whether it can be read, and whose key signed it.

Source: Go's crypto/x509 (ParseCertificateRequest, CheckSignature), whose words are told.
"""

from __future__ import annotations

import base64
import binascii

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from engine.api.golang.pem import PemBlock, pem_blocks

_NOT_SIGNED = "x509: ECDSA verification failure"


def encoded_blocks(encoded: str) -> list[PemBlock]:
    """The PEM blocks in a field of bytes."""
    try:
        return pem_blocks(base64.b64decode(encoded).decode("latin-1"))
    except (binascii.Error, ValueError):
        return []


def request_error(encoded: str) -> str:
    """Why a signing request cannot be read, in the words of Go's crypto/x509."""
    blocks = encoded_blocks(encoded)
    if not blocks or blocks[0].kind != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    if not blocks[0].content:
        return "asn1: syntax error: sequence truncated"
    try:
        x509.load_der_x509_csr(blocks[0].content)
    except (ValueError, UnsupportedAlgorithm):
        return "asn1: structure error: tags don't match"
    return ""


def signature_error(encoded: str) -> str:
    """Of a signing request that can be read, in the words that Go has for the kind of its key."""
    request = x509.load_der_x509_csr(encoded_blocks(encoded)[0].content)
    try:
        key = request.public_key()
        signed = request.is_signature_valid
    except (ValueError, UnsupportedAlgorithm, InvalidSignature):
        return _NOT_SIGNED
    if signed:
        return ""
    if isinstance(key, RSAPublicKey):
        return "crypto/rsa: verification error"
    return "x509: Ed25519 verification failure" if isinstance(key, Ed25519PublicKey) else _NOT_SIGNED
