"""Certificates that kubelets request for Pods (pkg/apis/certificates/validation, PodCertificateRequest)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509

from engine.api.errors import OMITTED
from engine.api.golang.mail import is_address
from engine.api.golang.pem import PemBlock, pem_blocks
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.certificates import parsed_certificate
from engine.api.validation.conditions import conditions
from engine.api.validation.labels import annotation_map
from engine.api.validation.pod_certificate_keys import asks_for, stub_request
from engine.api.validation.problems import Problems
from engine.api.validation.signers import signer_name

_KNOWN = ("Issued", "Denied", "Failed")
_UID_LENGTH = 128
_SHORTEST, _LONGEST, _LONGEST_OF_KUBERNETES = 3600, 91 * 86400, 86400
_ONE_KNOWN = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
_NOT_ENDED = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
_ONLY_CONDITIONS = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
_CHAIN_LENGTH = 100 * 1024
_MARGIN, _NEAR = timedelta(minutes=10), timedelta(minutes=5)
_CONSISTENT = "must be present and consistent with the issued certificate"
_TIMES = (
    ("notBefore", _CONSISTENT),
    ("notAfter", _CONSISTENT),
    ("beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"),
)


def pod_certificate_request(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    signer = spec.get("signerName", "")
    signer_name(signer, "spec.signerName", problems)
    annotation_map(spec.get("unverifiedUserAnnotations"), "spec.unverifiedUserAnnotations", problems)
    for kind in ("pod", "serviceAccount", "node"):
        name = spec.get(f"{kind}Name", "")
        problems.all_invalid(f"spec.{kind}Name", name, text.dns_subdomain(name))
        _uid(spec.get(f"{kind}UID", ""), f"spec.{kind}UID", problems)
    seconds, path = spec.get("maxExpirationSeconds"), "spec.maxExpirationSeconds"
    if seconds is None:
        problems.required(path, "must be set")
        return
    longest = _LONGEST_OF_KUBERNETES if signer.startswith("kubernetes.io/") else _LONGEST
    if not _SHORTEST <= seconds <= longest:
        problems.invalid(path, seconds, f"must be in the range [{_SHORTEST}, {longest}]")
    stub_request(spec, problems)


def _uid(uid: str, path: str, problems: Problems) -> None:
    if not uid:
        problems.invalid(path, uid, "must not be empty")
    elif len(uid) > _UID_LENGTH:
        problems.too_long(path, _UID_LENGTH)


def pod_certificate_request_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("spec", new.get("spec"), old.get("spec"))


def pod_certificate_request_status(new: Object, old: Object, problems: Problems, now: datetime | None) -> None:
    """`now` is what the API server's clock says; without one a certificate may be from any time."""
    status, before = new.get("status") or {}, old.get("status") or {}
    found, at_start = status.get("conditions") or [], len(problems)
    _known_conditions(found, problems)
    conditions(found, "status.conditions", problems)
    if len(problems) > at_start:
        return
    if before.get("conditions"):
        _same(status, before, "immutable after PodCertificateRequest is issued, denied, or failed", problems)
    elif not found:
        _same(status, before, _NOT_ENDED, problems)
    elif found[0]["type"] != "Issued":
        _same(status, {"conditions": found}, _ONLY_CONDITIONS, problems)
    else:
        _issued(new.get("spec") or {}, status, problems, now)


def _same(status: Object, wanted: Object, detail: str, problems: Problems) -> None:
    if status != wanted:
        problems.invalid("status", OMITTED, detail)


def _known_conditions(found: list[Object], problems: Problems) -> None:
    known = 0
    for index, condition in enumerate(found):
        kind, path = condition.get("type", ""), f"status.conditions.[{index}]"
        if kind not in _KNOWN:
            problems.not_supported(f"{path}.type", kind, _KNOWN)
            continue
        known += 1
        if known > 1:
            problems.invalid(f"{path}.type", kind, _ONE_KNOWN)
        if condition.get("status") != "True":
            problems.not_supported(f"{path}.status", condition.get("status", ""), ("True",))


def _issued(spec: Object, status: Object, problems: Problems, now: datetime | None) -> None:
    """The chain as a whole, its first certificate, and then the times that go with that: the first that is wrong.
    Of the names in that certificate everything is told, and no time is looked at then."""
    chain, path = status.get("certificateChain", ""), "status.certificateChain"
    if len(chain) > _CHAIN_LENGTH:
        problems.too_long(path, _CHAIN_LENGTH)
        return
    blocks = pem_blocks(chain)
    if not blocks:
        problems.invalid(path, chain, "issued certificate chain must contain at least one certificate")
        return
    if blocks[0].kind != "CERTIFICATE":
        problems.invalid(path, chain, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
        return
    leaf = parsed_certificate(blocks[0].content)
    if leaf is None:
        problems.invalid(path, chain, "leaf certificate does not parse as valid X.509")
        return
    _names(leaf, path, problems)
    if not asks_for(spec, leaf):
        problems.invalid(path, chain, "leaf certificate was not issued to the requested public key")
        return
    for field, wanted in _TIMES:
        if not status.get(field):
            problems.required(f"status.{field}", wanted)
    if not problems and _lifetime(spec, status, leaf, problems, now):
        _intermediates(chain, blocks[1:], path, problems)


def _names(leaf: x509.Certificate, path: str, problems: Problems) -> None:
    """Names that no client could be reached by, which the parser lets through."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return
    for name in names.get_values_for_type(x509.DNSName):
        if not name:
            problems.invalid(path, name, "leaf certificate should not contain empty DNSName")
        if ".." in name:
            problems.invalid(path, name, "leaf certificate's DNSName should not contain '..'")
        if name.startswith(".") or name.endswith("."):
            problems.invalid(path, name, "leaf certificate's DNSName should not start or end with '.'")
    for address in names.get_values_for_type(x509.RFC822Name):
        if not is_address(address):
            problems.invalid(path, address, "leaf certificate should not contain invalid EmailAddress")


def _lifetime(spec: Object, status: Object, leaf: x509.Certificate, problems: Problems, now: datetime | None) -> bool:
    start, end, refresh = (_moment(status[field]) for field, _ in _TIMES)
    lifetime, most = leaf.not_valid_after_utc - leaf.not_valid_before_utc, spec.get("maxExpirationSeconds", 0)
    shown = lifetime // timedelta(microseconds=1) * 1000  # a time.Duration in JSON
    checks: tuple[tuple[bool, str, Any, str], ...] = (
        (
            start == leaf.not_valid_before_utc,
            "notBefore",
            _shown(start),
            "must be set to the NotBefore time encoded in the leaf certificate",
        ),
        (
            now is None or abs(start - now) < _NEAR,
            "notBefore",
            _shown(start),
            "must be set to within 5 minutes of kube-apiserver's current time",
        ),
        (
            end == leaf.not_valid_after_utc,
            "notAfter",
            _shown(end),
            "must be set to the NotAfter time encoded in the leaf certificate",
        ),
        (
            lifetime >= timedelta(hours=1),
            "certificateChain",
            shown,
            "leaf certificate lifetime must be >= 1 hour",
        ),
        (
            lifetime <= timedelta(seconds=most),
            "certificateChain",
            shown,
            f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most})",
        ),
        (
            refresh >= start + _MARGIN,
            "beginRefreshAt",
            _shown(refresh),
            "must be at least 10 minutes after status.notBefore",
        ),
        (
            refresh <= end - _MARGIN,
            "beginRefreshAt",
            _shown(refresh),
            "must be at least 10 minutes before status.notAfter",
        ),
    )
    for holds, field, value, detail in checks:
        if not holds:
            problems.invalid(f"status.{field}", value, detail)
            return False
    return True


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time)


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _intermediates(chain: str, blocks: list[PemBlock], path: str, problems: Problems) -> None:
    for block in blocks:
        if block.kind != "CERTIFICATE":
            problems.invalid(path, chain, "issued certificate chain must consist entirely of CERTFICATE PEM blocks")
            return
        if parsed_certificate(block.content) is None:
            problems.invalid(path, chain, "intermediate certificate does not parse as valid X.509")
            return
