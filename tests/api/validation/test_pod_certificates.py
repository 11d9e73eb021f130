"""Certificates for Pods and storage migrations, after upstream's tables of both groups' validation."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from json import dumps
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import info, prepared, problems

REQUEST = GVK("certificates.k8s.io", "v1", "PodCertificateRequest")
MIGRATION, LEASE = (
    GVK("storagemigration.k8s.io", "v1", "StorageVersionMigration"),
    GVK("coordination.k8s.io", "v1", "Lease"),
)

_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pod")])
_KEY = Ed25519PrivateKey.generate()


def stub(key: Any) -> str:
    algorithm = None if isinstance(key, Ed25519PrivateKey) else SHA256()
    request = x509.CertificateSigningRequestBuilder(_NAME).sign(key, algorithm)
    return base64.b64encode(request.public_bytes(Encoding.DER)).decode()


_STUB = stub(_KEY)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def request(**spec: Any) -> Object:
    whole = {"signerName": "example.com/one", "maxExpirationSeconds": 86400, "stubPKCS10Request": _STUB}
    for kind in ("pod", "serviceAccount", "node"):
        whole |= {f"{kind}Name": "a", f"{kind}UID": "1"}
    return {"metadata": {"name": "a", "namespace": "default"}, "spec": {**whole, **spec}}


NEW: dict[str, tuple[Object, list[str]]] = {
    "all is well": (request(), []),
    "names and ids that are none": (
        request(podName="!", podUID="", nodeUID="x" * 129),
        [
            f'spec.podName: Invalid value: "!": {_SUBDOMAIN}',
            'spec.podUID: Invalid value: "": must not be empty',
            "spec.nodeUID: Too long: may not be more than 128 bytes",
        ],
    ),
    "a life of a day, if nothing is said": (request(maxExpirationSeconds=None), []),
    "too short a life": (
        request(maxExpirationSeconds=3599),
        ["spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"],
    ),
    "no key": (
        request(stubPKCS10Request=""),
        ["spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"],
    ),
    "a key that is none": (
        request(stubPKCS10Request="AAAA"),
        ["spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"],
    ),
    "a short key": (
        request(stubPKCS10Request=stub(generate_private_key(65537, 2048))),
        ['spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096'],
    ),
    "a signature of another key": (
        request(stubPKCS10Request=base64.b64encode(base64.b64decode(_STUB)[:-1] + b"!").decode()),
        ["spec.stubPKCS10Request: Invalid value: invalid signature"],
    ),
    "too long a life for Kubernetes' own signers": (
        request(signerName="kubernetes.io/kube-apiserver-client-pod", maxExpirationSeconds=86401),
        ["spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"],
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_new_requests(name: str) -> None:
    value, expected = NEW[name]
    assert problems(REQUEST, value) == expected


_OTHER = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


def certificate(hours: float = 24, key: Ed25519PrivateKey = _KEY, names: Sequence[x509.GeneralName] = ()) -> str:
    builder = x509.CertificateBuilder(_NAME, _NAME, key.public_key(), 1, _START, _START + timedelta(hours=hours))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(_KEY, None).public_bytes(Encoding.PEM).decode()


def condition(kind: str, status: str = "True") -> Object:
    return {"type": kind, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Asked"}


def issued(**fields: Any) -> Object:
    return {
        "conditions": [condition("Issued")],
        "certificateChain": certificate(),
        "notBefore": "2026-01-01T00:00:00Z",
        "beginRefreshAt": "2026-01-01T12:00:00Z",
        "notAfter": "2026-01-02T00:00:00Z",
        **fields,
    }


_MAILS = [x509.RFC822Name(address) for address in ("nobody", "a@example.com")]
_CHAIN, _REFRESH = "status.certificateChain", "status.beginRefreshAt"
STATUSES: dict[str, tuple[Object, Object, list[str]]] = {
    "issued": ({}, issued(), []),
    "denied": ({}, {"conditions": [condition("Denied")]}, []),
    "denied, with a certificate": (
        {},
        issued(conditions=[condition("Denied")]),
        [
            "status: Invalid value: non-condition status fields must be empty when denying or failing the "
            "PodCertificateRequest"
        ],
    ),
    "neither": (
        {},
        issued(conditions=[]),
        ['status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
    ),
    "again": (
        issued(),
        issued(beginRefreshAt="2026-01-01T13:00:00Z"),
        ["status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"],
    ),
    "two ends, and not for sure": (
        {},
        issued(conditions=[condition("Issued"), condition("Failed", "False"), condition("Odd")]),
        [
            'status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type '
            '"Issued", "Denied", or "Failed"',
            'status.conditions.[1].status: Unsupported value: "False": supported values: "True"',
            'status.conditions.[2].type: Unsupported value: "Odd": supported values: "Issued", "Denied", "Failed"',
        ],
    ),
    "a certificate for another key": (
        {},
        issued(certificateChain=certificate(key=_OTHER)),
        [
            f"{_CHAIN}: Invalid value: {dumps(certificate(key=_OTHER))}: leaf certificate was not issued to the "
            "requested public key"
        ],
    ),
    "no certificate": (
        {},
        issued(certificateChain="none"),
        [f'{_CHAIN}: Invalid value: "none": issued certificate chain must contain at least one certificate'],
    ),
    "names of nobody": (
        {},
        issued(
            certificateChain=certificate(names=[*map(x509.DNSName, ("", "a..b.", "c.d")), *_MAILS]),
            notBefore="2026-01-01T00:00:01Z",
        ),
        [
            f'{_CHAIN}: Invalid value: "": leaf certificate should not contain empty DNSName',
            f"{_CHAIN}: Invalid value: \"a..b.\": leaf certificate's DNSName should not contain '..'",
            f"{_CHAIN}: Invalid value: \"a..b.\": leaf certificate's DNSName should not start or end with '.'",
            f'{_CHAIN}: Invalid value: "nobody": leaf certificate should not contain invalid EmailAddress',
        ],
    ),
    "no times": (
        {},
        {"conditions": [condition("Issued")], "certificateChain": certificate()},
        [
            "status.notBefore: Required value: must be present and consistent with the issued certificate",
            "status.notAfter: Required value: must be present and consistent with the issued certificate",
            f"{_REFRESH}: Required value: must be present and in the range [notbefore+10min, notafter-10min]",
        ],
    ),
    "another time": (
        {},
        issued(notBefore="2026-01-01T00:00:01Z"),
        [
            'status.notBefore: Invalid value: "2026-01-01T00:00:01Z": must be set to the NotBefore time encoded in the '
            "leaf certificate"
        ],
    ),
    "half an hour": (
        {},
        issued(certificateChain=certificate(0.5), notAfter="2026-01-01T00:30:00Z"),
        [f"{_CHAIN}: Invalid value: 1800000000000: leaf certificate lifetime must be >= 1 hour"],
    ),
    "longer than asked for": (
        {},
        issued(certificateChain=certificate(25), notAfter="2026-01-02T01:00:00Z"),
        [
            f"{_CHAIN}: Invalid value: 90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds "
            "(86400)"
        ],
    ),
    "a late renewal": (
        {},
        issued(beginRefreshAt="2026-01-01T23:51:00Z"),
        [f'{_REFRESH}: Invalid value: "2026-01-01T23:51:00Z": must be at least 10 minutes before status.notAfter'],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_what_came_of_requests(name: str) -> None:
    before, after, expected = STATUSES[name]
    stored = prepared(REQUEST, request())
    stored["metadata"]["resourceVersion"] = "1"
    old, new = {**stored, "status": before}, {**stored, "status": after}
    assert [str(cause) for cause in validate_status_update(info(REQUEST), new, old)] == expected


_FAR = (
    'status.notBefore: Invalid value: "2026-01-01T00:00:00Z": must be set to within 5 minutes of kube-apiserver\'s '
    "current time"
)


@pytest.mark.parametrize(("minutes", "expected"), [(-4.9, []), (4.9, []), (-5, [_FAR]), (5, [_FAR])])
def test_a_certificate_is_issued_about_now(minutes: float, expected: list[str]) -> None:
    stored = prepared(REQUEST, request())
    stored["metadata"]["resourceVersion"] = "1"
    new, now = {**stored, "status": issued()}, _START + timedelta(minutes=minutes)
    assert [str(cause) for cause in validate_status_update(info(REQUEST), new, stored, now=now)] == expected


def migration(resource: str, group: str = "") -> Object:
    return {"metadata": {"name": "a"}, "spec": {"resource": {"resource": resource, "group": group}}}


def test_a_migration_names_a_resource_for_good() -> None:
    assert problems(MIGRATION, migration("deployments", "apps")) == []
    assert problems(MIGRATION, migration("", "!")) == [
        "spec.resource.resource: Required value: resource is required to be set",
        f'spec.resource.group: Invalid value: "!": {_SUBDOMAIN}',
    ]
    old, new = (prepared(MIGRATION, migration(name)) for name in ("pods", "nodes"))
    old["metadata"]["resourceVersion"] = new["metadata"]["resourceVersion"] = "1"
    assert [cause.field for cause in validate_update(info(MIGRATION), new, old)] == ["spec"]


def test_a_migration_ends_once() -> None:
    old = prepared(MIGRATION, migration("pods"))
    old["metadata"]["resourceVersion"] = "1"
    running = {**old, "status": {"resourceVersion": "5", "conditions": [condition("Running")]}}
    both = {**old, "status": {"conditions": [condition("Succeeded"), condition("Failed"), condition("Running")]}}
    told = [
        (cause.field, cause.message.rpartition(": ")[2])
        for cause in validate_status_update(info(MIGRATION), both, running)
    ]
    assert told == [
        ("status.resourceVersion", "field is immutable"),
        ("status.conditions", "Both success and failed conditions cannot be true at the same time"),
    ]
    odd = {**old, "status": {"resourceVersion": "0x5"}}
    assert [str(cause) for cause in validate_status_update(info(MIGRATION), odd, old)] == [
        'status.resourceVersion: Invalid value: "0x5": resource version is not well formed: 0x5'
    ]


def test_a_strategy_of_leases_has_a_domain_or_is_known() -> None:
    """A new Lease has none, since the feature is off: one that has been given one before may give it another."""
    metadata = {"name": "a", "namespace": "default", "resourceVersion": "1"}
    new = {"metadata": metadata, "spec": {"strategy": "example.com/"}}
    old = {"metadata": metadata, "spec": {"strategy": "OldestEmulationVersion"}}
    assert str(validate_update(info(LEASE), new, old)[0]) == (
        'spec.strategy.strategy: Invalid value: "example.com/": name part must be non-empty'
    )
    assert problems(LEASE, new) == [], "it is dropped"
