"""What the cluster's authority puts into a certificate that somebody asks for, of what was asked
(pkg/controller/certificates/authority authority.go and policies.go; extensions as Go's crypto/x509 writes them)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID

BACKDATE = timedelta(minutes=5)
SHORT = timedelta(hours=8)  # what is to live shorter than this gets the time back that it is backdated by
# In the order of the bits of a KeyUsage (RFC 5280 4.2.1.3).
_KEY_USES = (
    ("signing", "digital signature"),
    ("content commitment",),
    ("key encipherment",),
    ("data encipherment",),
    ("key agreement",),
    ("cert sign",),
    ("crl sign",),
    ("encipher only",),
    ("decipher only",),
)
# In the order of Go's ExtKeyUsage, which is the order in a certificate.
_PURPOSES = {
    ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE: ("any",),
    ExtendedKeyUsageOID.SERVER_AUTH: ("server auth",),
    ExtendedKeyUsageOID.CLIENT_AUTH: ("client auth",),
    ExtendedKeyUsageOID.CODE_SIGNING: ("code signing",),
    ExtendedKeyUsageOID.EMAIL_PROTECTION: ("email protection", "s/mime"),
    x509.ObjectIdentifier("1.3.6.1.5.5.7.3.5"): ("ipsec end system",),
    x509.ObjectIdentifier("1.3.6.1.5.5.7.3.6"): ("ipsec tunnel",),
    x509.ObjectIdentifier("1.3.6.1.5.5.7.3.7"): ("ipsec user",),
    ExtendedKeyUsageOID.TIME_STAMPING: ("timestamping",),
    ExtendedKeyUsageOID.OCSP_SIGNING: ("ocsp signing",),
    x509.ObjectIdentifier("1.3.6.1.4.1.311.10.3.3"): ("microsoft sgc",),
    x509.ObjectIdentifier("2.16.840.1.113730.4.1"): ("netscape sgc",),
}
_NAMES = (x509.DNSName, x509.RFC822Name, x509.IPAddress, x509.UniformResourceIdentifier)


def lifetime(now: datetime, validity: timedelta, end_of_authority: datetime) -> tuple[datetime, datetime]:
    """From when and until when a certificate is good."""
    end = now + validity if validity < SHORT else now + validity - BACKDATE
    return now - BACKDATE, min(end, end_of_authority)


def extensions_for(
    asked: x509.CertificateSigningRequest, usages: Sequence[str]
) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """The extensions that come of a request, and whether each is critical: what else was asked for is left out."""
    if bits := key_usage_bits(usages):
        yield x509.UnrecognizedExtension(ExtensionOID.KEY_USAGE, _bit_string(bits)), True
    if purposes := [purpose for purpose, words in _PURPOSES.items() if not set(words).isdisjoint(usages)]:
        yield x509.ExtendedKeyUsage(purposes), False
    yield x509.BasicConstraints(ca=False, path_length=None), True
    if names := list(_alternative_names(asked)):
        yield x509.SubjectAlternativeName(names), not list(asked.subject)


def key_usage_bits(usages: Sequence[str]) -> str:
    """As zeros and ones, the last of which is a one: a key that may nothing is said nothing of."""
    return "".join("0" if set(words).isdisjoint(usages) else "1" for words in _KEY_USES).rstrip("0")


def _bit_string(bits: str) -> bytes:
    """In DER. cryptography's KeyUsage knows `encipher only` only beside `key agreement`."""
    unused = -len(bits) % 8
    octets = int(bits + "0" * unused, 2).to_bytes((len(bits) + unused) // 8, "big")
    return bytes((3, len(octets) + 1, unused)) + octets


def _alternative_names(asked: x509.CertificateSigningRequest) -> Iterator[x509.GeneralName]:
    """Those of the kinds that Go knows, kind by kind."""
    try:
        found = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    for kind in _NAMES:
        yield from (name for name in found if isinstance(name, kind))
