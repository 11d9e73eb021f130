"""Requests for certificates and bundles of trust, after upstream's tables (pkg/apis/certificates/validation)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from engine.api.validation.certificates import validate_approval
from engine.api.validation.declared import declaratively
from tests.api.objects import info, prepared, problems

REQUEST = GVK("certificates.k8s.io", "v1", "CertificateSigningRequest")
BUNDLE = GVK("certificates.k8s.io", "v1", "ClusterTrustBundle")

_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
_PEM = x509.CertificateSigningRequestBuilder(_NAME).sign(Ed25519PrivateKey.generate(), None).public_bytes(Encoding.PEM)
_ENCODED = base64.b64encode(_PEM).decode()

_KEY = Ed25519PrivateKey.generate()
_LIFE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
_BUILDER = x509.CertificateBuilder(_NAME, _NAME, _KEY.public_key(), 1, *_LIFE)
_ROOT = (
    _BUILDER.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    .sign(_KEY, None)
    .public_bytes(Encoding.DER)
)


def block(content: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{content}-----END CERTIFICATE-----\n"


def pem(content: str) -> str:
    return base64.b64encode(block(content).encode()).decode()


def request(**spec: Any) -> Object:
    whole = {"request": _ENCODED, "usages": ["client auth"], "signerName": "example.com/one", **spec}
    return {"metadata": {"name": "jane"}, "spec": whole}


NEW: dict[str, tuple[Object, list[str]]] = {
    "all is well": (request(), []),
    "no request": (
        request(request="aGVsbG8="),
        ['spec.request: Invalid value: "aGVsbG8=": PEM block type must be CERTIFICATE REQUEST'],
    ),
    "no usage": (request(usages=[]), ["spec.usages: Required value"]),
    "a usage twice, and one that is none": (
        request(usages=["client auth", "client auth", "flying"]),
        [
            'spec.usages[2]: Unsupported value: "flying": supported values: "any", "cert sign", "client auth", '
            '"code signing", "content commitment", "crl sign", "data encipherment", "decipher only", '
            '"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", '
            '"ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", '
            '"s/mime", "server auth", "signing", "timestamping"',
            'spec.usages[1]: Duplicate value: "client auth"',
        ],
    ),
    "the signer of old": (
        request(signerName="kubernetes.io/legacy-unknown"),
        [
            'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via '
            "this API version"
        ],
    ),
    "a signer without a path": (
        request(signerName="example.com"),
        [
            'spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form '
            "'example.com/signer-name'"
        ],
    ),
    "no signer": (request(signerName=""), ["spec.signerName: Required value"]),
    "too short a life": (
        request(expirationSeconds=599),
        ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_new_requests(name: str) -> None:
    value, expected = NEW[name]
    assert problems(REQUEST, value) == expected


_SIGNED_BY_ANOTHER: dict[str, tuple[Any, SHA256 | None]] = {
    "x509: Ed25519 verification failure": (Ed25519PrivateKey.generate(), None),
    "x509: ECDSA verification failure": (ec.generate_private_key(ec.SECP256R1()), SHA256()),
    "crypto/rsa: verification error": (rsa.generate_private_key(65537, 2048), SHA256()),
}


@pytest.mark.parametrize("expected", _SIGNED_BY_ANOTHER)
def test_a_request_is_signed_by_its_own_key(expected: str) -> None:
    signed = x509.CertificateSigningRequestBuilder(_NAME).sign(*_SIGNED_BY_ANOTHER[expected])
    broken = bytearray(signed.public_bytes(Encoding.DER))
    broken[-1] ^= 1
    begin, end = (f"-----{mark} CERTIFICATE REQUEST-----\n".encode() for mark in ("BEGIN", "END"))
    sent = base64.b64encode(begin + base64.encodebytes(broken) + end).decode()
    assert problems(REQUEST, request(request=sent)) == [f'spec.request: Invalid value: "{sent}": {expected}']


def condition(kind: str, status: str = "True", **fields: Any) -> Object:
    return {"type": kind, "status": status, **fields}


def changed(before: Object, after: Object) -> tuple[Object, Object]:
    old = prepared(REQUEST, request())
    old["metadata"]["resourceVersion"] = "1"
    return {**old, "status": after}, {**old, "status": before}


_APPROVED, _DENIED = condition("Approved"), condition("Denied")
STATUSES: dict[str, tuple[Object, Object, list[str]]] = {
    "an approval where there is none": (
        {},
        {"conditions": [_APPROVED]},
        ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ),
    "an approval for another reason": (
        {"conditions": [_APPROVED]},
        {"conditions": [{**_APPROVED, "reason": "Other"}]},
        [
            'status.conditions: Forbidden: updates may not modify a condition of type "Approved"\n@@ -2,7 +2,7 @@\n'
            '  {\n   "Type": "Approved",\n   "Status": "True",\n-  "Reason": "",\n+  "Reason": "Other",\n'
            '   "Message": "",\n   "LastUpdateTime": null,\n   "LastTransitionTime": null\n'
        ],
    ),
    "a failure that goes away": (
        {"conditions": [condition("Failed")]},
        {},
        ['status.conditions: Forbidden: updates may not remove a condition of type "Failed"'],
    ),
    "a failure that is none, twice": (
        {},
        {"conditions": [condition("Failed", "False"), condition("Failed")]},
        [
            'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
            'status.conditions[1].type: Duplicate value: "Failed"',
        ],
    ),
    "a certificate that is none": (
        {},
        {"certificate": "aGVsbG8="},
        ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ),
    "a certificate whose end is no base64": (
        {},
        {"certificate": pem("aGVsbG8???\n")},
        ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ),
    "an empty block": (
        {},
        {"certificate": pem("")},
        [
            'status.certificate: Invalid value: "<certificate data>": found CERTIFICATE PEM block containing 0 '
            "certificates"
        ],
    ),
    "no certificate in the block": (
        {},
        {"certificate": pem("aGVsbG8=\n")},
        ['status.certificate: Invalid value: "<certificate data>": x509: malformed certificate'],
    ),
    "a subject that is no name": (
        {},
        {"certificate": pem(base64.b64encode(_ROOT.replace(b"\x31\x0d\x30", b"\x35\x0d\x30")).decode() + "\n")},
        ['status.certificate: Invalid value: "<certificate data>": x509: invalid RDNSequence'],
    ),
    "a request for a certificate": (
        {},
        {"certificate": _ENCODED},
        [
            'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found '
            '"CERTIFICATE REQUEST"'
        ],
    ),
    "another certificate": (
        {"certificate": "aGVsbG8="},
        {},
        ["status.certificate: Forbidden: updates may not modify existing certificate content"],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_statuses_of_requests(name: str) -> None:
    before, after, expected = STATUSES[name]
    assert [str(cause) for cause in validate_status_update(info(REQUEST), *changed(before, after))] == expected


APPROVALS: dict[str, tuple[Object, Object, list[str]]] = {
    "an approval": ({}, {"conditions": [_APPROVED]}, []),
    "both": (
        {},
        {"conditions": [_APPROVED, _DENIED]},
        [
            'status.conditions: Invalid value: "{conditions[{\\"type\\": \\"Approved\\"}], conditions[{\\"type\\": '
            '\\"Denied\\"}]}": must specify at most one of: `conditions[{"type": "Approved"}]`, '
            '`conditions[{"type": "Denied"}]`'
        ],
    ),
    "no longer": (
        {"conditions": [_APPROVED]},
        {},
        ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ),
}


@pytest.mark.parametrize("name", APPROVALS)
def test_approvals(name: str) -> None:
    before, after, expected = APPROVALS[name]
    new, old = changed(before, after)
    causes = declaratively(info(REQUEST), new, old, validate_approval(new, old))
    assert [str(cause) for cause in causes] == expected


def test_only_the_status_gets_the_certificate() -> None:
    new, old = changed({}, {"certificate": _ENCODED})
    assert "status.certificate: Forbidden: updates may not set certificate content" in [
        str(cause) for cause in validate_update(info(REQUEST), new, old)
    ]


_ANCHOR = block(base64.b64encode(_ROOT).decode() + "\n")


def bundle(text: str, name: str = "a", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"trustBundle": text, **spec}}


BUNDLES: dict[str, tuple[Object, list[str]]] = {
    "all is well": (bundle(_ANCHOR), []),
    "named after its signer": (bundle(_ANCHOR, "example.com:one:a", signerName="example.com/one"), []),
    "named after a signer that it has not": (
        bundle(_ANCHOR, "example.com:one:a"),
        [
            'metadata.name: Invalid value: "example.com:one:a": ClusterTrustBundle without signer name must not have '
            '":" in its name'
        ],
    ),
    "not named after its signer": (
        bundle(_ANCHOR, signerName="example.com/one"),
        [
            'metadata.name: Invalid value: "a": ClusterTrustBundle for signerName example.com/one must be named with '
            "prefix example.com:one:"
        ],
    ),
    "the same twice, in other lines": (
        bundle(_ANCHOR + _ANCHOR.replace("\n", "\n\t\n")),
        ['spec.trustBundle: Invalid value: "<value omitted>": duplicate trust anchor (indices [0 1])'],
    ),
    "nothing to trust": (
        bundle("hello"),
        ['spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided'],
    ),
    "a request": (
        bundle(_PEM.decode()),
        ['spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: CERTIFICATE REQUEST'],
    ),
    "garbage": (
        bundle("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"),
        ['spec.trustBundle: Invalid value: "<value omitted>": entry 0 does not parse as X.509'],
    ),
}


@pytest.mark.parametrize("name", BUNDLES)
def test_bundles(name: str) -> None:
    value, expected = BUNDLES[name]
    assert problems(BUNDLE, value) == expected


def test_a_bundle_keeps_its_signer_and_anchors_that_are_not_read_again() -> None:
    old, new = (
        prepared(BUNDLE, bundle("hello", "example.com:one:a", signerName=f"example.com/{signer}"))
        for signer in ("one", "two")
    )
    for each in (old, new):
        each["metadata"]["resourceVersion"] = "1"
    assert [str(cause) for cause in validate_update(info(BUNDLE), new, old)] == [
        'metadata.name: Invalid value: "example.com:one:a": ClusterTrustBundle for signerName example.com/two must be '
        "named with prefix example.com:two:",
        'spec.signerName: Invalid value: "example.com/two": field is immutable',
    ]
