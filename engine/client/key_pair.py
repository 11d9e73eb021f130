"""What Go says of a client certificate, its key and of root certificates that it cannot use.

Source: crypto/tls X509KeyPair, client-go transport/transport.go (rootCertPool, createErrorParsingCAData).
"""

from __future__ import annotations

from engine.api.golang.pem import PemBlock, pem_blocks

_SWITCHED = (
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
    "PEM inputs may have been switched"
)


def pair_problem(certificate: str, key: str) -> str:
    """Why the two are no pair; "" if they are."""
    chain = pem_blocks(certificate)
    leaf = next((block for block in chain if block.kind == "CERTIFICATE"), None)
    if leaf is None:
        return _no_certificate(chain)
    blocks = pem_blocks(key)
    secret = next((block for block in blocks if _is_key(block)), None)
    if secret is None:
        return _no_key(blocks)
    return ""


def content_problem(certificate: str, key: str) -> str:
    """Why the certificate and the key in two texts that hold one each do not go together; "" if they do."""
    # Loaded for what cannot be used only: it takes as long as all else that a command loads.
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    leaf = next(block for block in pem_blocks(certificate) if block.kind == "CERTIFICATE")
    secret = next(block for block in pem_blocks(key) if _is_key(block))
    try:
        public = x509.load_der_x509_certificate(leaf.content).public_key()
    except ValueError:
        return "x509: malformed certificate"
    try:
        own = serialization.load_der_private_key(secret.content, None).public_key()
    except (ValueError, TypeError):
        return "tls: failed to parse private key"
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if public.public_bytes(encoding, form) != own.public_bytes(encoding, form):
        return "tls: private key does not match public key"
    return ""


def _is_key(block: PemBlock) -> bool:
    return block.kind == "PRIVATE KEY" or block.kind.endswith(" PRIVATE KEY")


def _no_certificate(blocks: list[PemBlock]) -> str:
    if not blocks:
        return "tls: failed to find any PEM data in certificate input"
    if len(blocks) == 1 and blocks[0].kind.endswith("PRIVATE KEY"):
        return _SWITCHED
    return f'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping {_skipped(blocks)}'


def _no_key(blocks: list[PemBlock]) -> str:
    if not blocks:
        return "tls: failed to find any PEM data in key input"
    if len(blocks) == 1 and blocks[0].kind == "CERTIFICATE":
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping '
        f"{_skipped(blocks)}"
    )


def _skipped(blocks: list[PemBlock]) -> str:
    return f"PEM blocks of the following types: [{' '.join(block.kind for block in blocks)}]"


def roots_problem(pem: str) -> str:
    """Why no root certificates are in a text; "" where there are blocks that may be."""
    blocks = pem_blocks(pem)
    if not blocks:
        return "unable to parse bytes as PEM block"
    if not any(block.kind == "CERTIFICATE" and not block.headers for block in blocks):
        return "no valid certificate authority data seen"
    return ""
