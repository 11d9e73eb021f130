"""What somebody outside needs to check service account tokens: the issuer's OpenID configuration and its public keys.

Source: pkg/serviceaccount/openidmetadata.go and pkg/routes/openidmetadata.go (KEP-1393).
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

CONFIGURATION_PATH = "/.well-known/openid-configuration"
KEYS_PATH = "/openid/v1/jwks"
KEYS_TYPE = "application/jwk-set+json"
CACHED = "public, max-age=3600"
_COORDINATE = 32  # bytes, on the curve P-256


def configuration(issuer: str, algorithm: str) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "jwks_uri": f"{issuer}{KEYS_PATH}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [algorithm],
    }


def key_id(key: ec.EllipticCurvePublicKey) -> str:
    """The hash of the public key, so that a verifier finds it among several (keyIDFromPublicKey)."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return _encoded(hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).digest())


def key_set(key: ec.EllipticCurvePublicKey, algorithm: str) -> dict[str, Any]:
    numbers = key.public_numbers()
    shown = {
        "use": "sig",
        "kty": "EC",
        "kid": key_id(key),
        "crv": "P-256",
        "alg": algorithm,
        "x": _encoded(numbers.x.to_bytes(_COORDINATE, "big")),
        "y": _encoded(numbers.y.to_bytes(_COORDINATE, "big")),
    }
    return {"keys": [shown]}


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
