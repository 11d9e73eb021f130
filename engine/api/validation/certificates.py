"""Requests for certificates, and bundles of trust (pkg/apis/certificates/validation).

What a stored object has wrong from before these rules stays allowed: only what a request brings in is told of.
"""

from __future__ import annotations

import json

from cryptography import x509

from engine.api.golang.pem import PemBlock, pem_blocks
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.certificate_requests import encoded_blocks, request_error, signature_error
from engine.api.validation.differences import difference
from engine.api.validation.go_structs import struct_shown
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated
from engine.api.validation.signers import bundle_name, signer_name

_USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
_LEGACY = "kubernetes.io/legacy-unknown"
_SHORTEST = 600  # seconds
_ALWAYS_TRUE = ("Approved", "Denied", "Failed")
_STATUSES = ("False", "True", "Unknown")
_APPROVAL = ("Approved", "Denied")
_CONDITION = "CertificateSigningRequestCondition"
_BUNDLE_SIZE = 1024 * 1024
_HIDDEN = "<value omitted>"


def signing_request(obj: Object, problems: Problems) -> None:
    _signing_request(obj, {}, problems)


def signing_request_update(new: Object, old: Object, problems: Problems) -> None:
    _signing_request(new, old, problems)
    _kept_conditions(new, old, problems)
    _approval_kept(new, old, problems)
    if _certificate(new) != _certificate(old):
        problems.forbidden("status.certificate", "updates may not set certificate content")


def signing_request_status(new: Object, old: Object, problems: Problems) -> None:
    _signing_request(new, old, problems)
    _kept_conditions(new, old, problems)
    _approval_kept(new, old, problems)
    if _certificate(old) and _certificate(new) != _certificate(old):
        problems.forbidden("status.certificate", "updates may not modify existing certificate content")


def validate_approval(new: Object, old: Object) -> Problems:
    """The approval subresource: the one place where a request is approved or denied."""
    problems = Problems()
    _signing_request(new, old, problems)
    _kept_conditions(new, old, problems)
    return problems


def _certificate(obj: Object) -> str:
    return (obj.get("status") or {}).get("certificate") or ""


def _conditions(obj: Object, kind: str = "") -> list[Object]:
    found = (obj.get("status") or {}).get("conditions") or ()
    return [condition for condition in found if not kind or condition.get("type") == kind]


def _signing_request(obj: Object, old: Object, problems: Problems) -> None:
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    request = spec.get("request") or ""
    if error := request_error(request) or signature_error(request):
        problems.invalid("spec.request", spec.get("request"), error)
    _usages(spec.get("usages") or [], before.get("usages") or [], problems)
    signer = spec.get("signerName") or ""
    if signer == _LEGACY and before.get("signerName") != _LEGACY:
        problems.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version")
    else:
        signer_name(signer, "spec.signerName", problems)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        problems.invalid("spec.expirationSeconds", seconds, detail)
    _status_conditions(_conditions(obj), _conditions(old), problems)
    looked_at = _certificate(obj) != _certificate(old) and not _certificate_error(_certificate(old))
    if looked_at and (error := _certificate_error(_certificate(obj))):
        problems.invalid("status.certificate", "<certificate data>", error)


def _usages(usages: list[str], before: list[str], problems: Problems) -> None:
    if not usages:
        problems.required("spec.usages")
    if all(usage in _USAGES for usage in before):
        for index, usage in enumerate(usages):
            problems.unless_in(f"spec.usages[{index}]", usage, _USAGES)
    if len(set(before)) == len(before):
        for index in sorted(repeated(usages)):
            problems.duplicate(f"spec.usages[{index}]", usages[index])


def _status_conditions(found: list[Object], before: list[Object], problems: Problems) -> None:
    old_kinds, kinds = [item.get("type", "") for item in before], [item.get("type", "") for item in found]
    both = all(kind in old_kinds for kind in _APPROVAL)
    twins = set() if repeated(old_kinds) else repeated(kinds)
    for index, (kind, condition) in enumerate(zip(kinds, found, strict=True)):
        path = f"status.conditions[{index}]"
        if not kind and "" not in old_kinds:
            problems.required(f"{path}.type")
        allowed = ("True",) if kind in _ALWAYS_TRUE else _STATUSES
        problems.one_of(f"{path}.status", condition.get("status"), allowed)
        if kind in _APPROVAL and not both and set(_APPROVAL) - {kind} <= set(kinds[:index]):
            problems.invalid("status.conditions", kind, "Approved and Denied conditions are mutually exclusive")
        if index in twins:
            problems.duplicate(f"{path}.type", kind)


def _kept_conditions(new: Object, old: Object, problems: Problems) -> None:
    for kind in _ALWAYS_TRUE:
        if len(_conditions(new, kind)) < len(_conditions(old, kind)):
            problems.forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"')


def _approval_kept(new: Object, old: Object, problems: Problems) -> None:
    """Approval has a subresource of its own: elsewhere its conditions stay as they are."""
    for kind in _APPROVAL:
        after, before = _conditions(new, kind), _conditions(old, kind)
        if len(after) > len(before):
            problems.forbidden("status.conditions", f'updates may not add a condition of type "{kind}"')
        elif len(after) == len(before) and after != before:
            shown = difference(*([struct_shown(each, _CONDITION) for each in side] for side in (before, after)))
            detail = f'updates may not modify a condition of type "{kind}"\n{shown}'
            problems.forbidden("status.conditions", detail)


def _certificate_error(encoded: str) -> str:
    """What is wrong with an issued certificate: it is at least one PEM block, and all of them are certificates."""
    if not encoded:
        return ""
    blocks = encoded_blocks(encoded)
    if not blocks:
        return "must contain at least one CERTIFICATE PEM block"
    for block in blocks:
        if block.kind != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {json.dumps(block.kind)}"
        if block.headers:
            return "no PEM block headers are permitted"
        if not block.content:
            return "found CERTIFICATE PEM block containing 0 certificates"
        if error := _x509_error(block.content):
            return error
    return ""


def _x509_error(content: bytes) -> str:
    """In the words of Go's crypto/x509, as far as the parser here says where it stopped."""
    try:
        x509.load_der_x509_certificate(content)
    except ValueError as error:
        names = ("TbsCertificate::issuer", "TbsCertificate::subject")
        return (
            f"x509: {'invalid RDNSequence' if any(name in str(error) for name in names) else 'malformed certificate'}"
        )
    return ""


def parsed_certificate(content: bytes) -> x509.Certificate | None:
    try:
        return x509.load_der_x509_certificate(content)
    except ValueError:
        return None


def trust_bundle(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    _named_after_signer(obj.get("metadata") or {}, spec.get("signerName") or "", problems)
    _anchors(spec.get("trustBundle") or "", problems)


def changed_trust_bundle(new: Object, old: Object, problems: Problems) -> None:
    """Anchors that stay as they are are not read again."""
    if (spec := new.get("spec") or {}).get("trustBundle") != (old.get("spec") or {}).get("trustBundle"):
        trust_bundle(new, problems)
    else:
        _named_after_signer(new.get("metadata") or {}, spec.get("signerName") or "", problems)


def trust_bundle_update(new: Object, old: Object, problems: Problems) -> None:
    signers = ((each.get("spec") or {}).get("signerName") or "" for each in (new, old))
    problems.immutable("spec.signerName", *signers)


def _named_after_signer(metadata: Object, signer: str, problems: Problems) -> None:
    """The name starts with the signer's, if there is one, which the rules for names alone cannot know."""
    if prefix := metadata.get("generateName"):
        problems.all_invalid("metadata.generateName", prefix, bundle_name(text.unmasked(prefix), signer))
    if name := metadata.get("name"):
        problems.all_invalid("metadata.name", name, bundle_name(name, signer))
    if signer:
        signer_name(signer, "spec.signerName", problems)


def _anchors(bundle: str, problems: Problems) -> None:
    path = "spec.trustBundle"
    if len(bundle) > _BUNDLE_SIZE:
        problems.too_long(path, _BUNDLE_SIZE)
        return
    entries: dict[bytes, list[int]] = {}
    wrong = False
    for index, block in enumerate(pem_blocks(bundle)):
        if error := _anchor_error(block):
            wrong = True
            problems.invalid(path, _HIDDEN, f"entry {index} {error}")
        else:
            entries.setdefault(block.content, []).append(index)
    if wrong:
        return
    if not entries:
        problems.invalid(path, _HIDDEN, "at least one trust anchor must be provided")
    for indexes in entries.values():
        if len(indexes) > 1:
            shown = " ".join(map(str, indexes))
            problems.invalid(path, _HIDDEN, f"duplicate trust anchor (indices [{shown}])")


def _anchor_error(block: PemBlock) -> str:
    if block.kind != "CERTIFICATE":
        return f"has bad block type: {block.kind}"
    if block.headers:
        return "has PEM block headers"
    certificate = parsed_certificate(block.content)
    if certificate is None:
        return "does not parse as X.509"
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return "does not have the CA bit set"
    return "" if constraints.ca else "does not have the CA bit set"
