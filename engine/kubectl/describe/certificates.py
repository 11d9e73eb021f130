"""CertificateSigningRequests in words.

Source of the behaviour: kubectl pkg/describe (describeCertificateSigningRequest) and pkg/util/certificate.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from engine.api.duration import human_duration
from engine.api.selectors import format_labels
from engine.api.types import Object
from engine.kubectl.describe import events
from engine.kubectl.describe.writer import Page
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

_PEM = re.compile(rb"^-----BEGIN CERTIFICATE REQUEST-----", re.MULTILINE)


async def signing_request(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec = obj["spec"]
    page.field("Name", obj["metadata"]["name"])
    page.field("Labels", format_labels(obj["metadata"].get("labels")))
    page.field("Annotations", format_labels(obj["metadata"].get("annotations")))
    page.field("CreationTimestamp", page.date(obj["metadata"].get("creationTimestamp")))
    page.field("Requesting User", spec.get("username", ""))
    if spec.get("signerName"):
        page.field("Signer", spec["signerName"])
    if spec.get("expirationSeconds") is not None:
        page.field("Requested Duration", human_duration(spec["expirationSeconds"]))
    page.field("Status", status_of(obj))
    _request(page, str(spec.get("request", "")))
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def status_of(obj: Object) -> str:
    """`Pending`, `Approved`, `Denied`, and whether a certificate was issued or could not be."""
    status = obj.get("status") or {}
    types = {condition.get("type") for condition in status.get("conditions") or ()}
    text = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    if "Failed" in types:
        text += ",Failed"
    return f"{text},Issued" if status.get("certificate") else text


def _request(page: Page, encoded: str) -> None:
    """What the request asks to be certified. Raises CommandError."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    body = base64.b64decode(encoded)
    if not _PEM.search(body):
        raise CommandError("Error parsing CSR: PEM block type must be CERTIFICATE REQUEST")
    try:
        request = x509.load_pem_x509_csr(body)
    except ValueError as error:
        raise CommandError(f"Error parsing CSR: {error}") from error

    def values(oid: x509.ObjectIdentifier) -> list[str]:
        return [str(attribute.value) for attribute in request.subject.get_attributes_for_oid(oid)]

    page.line("Subject:")
    page.line(f"\tCommon Name:\t{''.join(values(NameOID.COMMON_NAME)[-1:])}")
    page.line(f"\tSerial Number:\t{''.join(values(NameOID.SERIAL_NUMBER)[-1:])}")
    for title, oid in (
        ("Organization", NameOID.ORGANIZATION_NAME),
        ("Organizational Unit", NameOID.ORGANIZATIONAL_UNIT_NAME),
        ("Country", NameOID.COUNTRY_NAME),
        ("Locality", NameOID.LOCALITY_NAME),
        ("Province", NameOID.STATE_OR_PROVINCE_NAME),
        ("StreetAddress", NameOID.STREET_ADDRESS),
        ("PostalCode", NameOID.POSTAL_CODE),
    ):
        _listed(page, title, values(oid))
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    page.line("Subject Alternative Names:")
    _listed(page, "DNS Names", names.get_values_for_type(x509.DNSName))
    _listed(page, "Email Addresses", names.get_values_for_type(x509.RFC822Name))
    _listed(page, "URIs", names.get_values_for_type(x509.UniformResourceIdentifier))
    _listed(page, "IP Addresses", [str(address) for address in names.get_values_for_type(x509.IPAddress)])


def _listed(page: Page, title: str, values: Sequence[str]) -> None:
    if values:
        page.line(f"\t{title}:\t" + "\n\t\t".join(values))
