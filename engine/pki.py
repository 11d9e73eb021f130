"""The cluster's certificate authority and the certificates it signs (kubeadm's phases/certs, in small).

Keys are ECDSA P-256: a new one takes a millisecond. Files are written with mode 0600 and replaced whole.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from engine.api.wire import ClientCertificate
from engine.client_certificates import RequestingContext
from engine.clock import Clock
from engine.signing_policy import extensions_for, lifetime

VALIDITY = timedelta(days=365)
CA_VALIDITY = timedelta(days=3650)
ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))
FRONT_PROXY = ClientCertificate("front-proxy-client")


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> None:
        for file, content in self.files(name).items():
            write_private(folder / file, content)

    def files(self, name: str) -> dict[str, bytes]:
        return {f"{name}.crt": self.certificate, f"{name}.key": self.key}

    @classmethod
    def read(cls, folder: Path, name: str, note: Callable[[str], None]) -> KeyPair | None:
        """The pair of that name, or None where either file is missing or, which is noted, they are no pair."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        if not (certificate.exists() and key.exists()):
            return None
        pair = cls(certificate.read_bytes(), key.read_bytes())
        if not pair._fits():
            note(f"{certificate} and {key.name} are no certificate and its key: making new ones")
            return None
        return pair

    def _fits(self) -> bool:
        public = _public_key(self.key)
        try:
            return public is not None and x509.load_pem_x509_certificate(self.certificate).public_key() == public
        except (ValueError, UnsupportedAlgorithm):
            return False


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    partial = file.with_name(file.name + ".partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    partial.write_bytes(content)
    partial.replace(file)


def _name(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Authority:
    """A certificate authority. `now` is the machine's time: certificates are checked by clients of this machine."""

    def __init__(self, pair: KeyPair) -> None:
        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        self._key = key

    @classmethod
    def create(cls, now: datetime, common_name: str = "kubernetes") -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(common_name)
        builder = (
            _builder(name, name, key, now, CA_VALIDITY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        return cls(_pair(builder.sign(key, hashes.SHA256()), key))

    def issue_client(self, subject: ClientCertificate, now: datetime) -> KeyPair:
        name = _name(subject.common_name, subject.organizations)
        return self._issue(name, ExtendedKeyUsageOID.CLIENT_AUTH, now)

    def issue_server(self, common_name: str, hosts: Sequence[str], now: datetime) -> KeyPair:
        """`hosts` are DNS names and IP addresses."""
        return self._issue(_name(common_name), ExtendedKeyUsageOID.SERVER_AUTH, now, [_alternative(h) for h in hosts])

    def sign(
        self, asked: x509.CertificateSigningRequest, usages: Sequence[str], now: datetime, validity: timedelta
    ) -> bytes:
        """The certificate (PEM) that somebody asks for: subject, key and names are the request's, the usages those of
        `certificates.k8s.io`. Raises ValueError for a request that is not signed by its own key."""
        if not asked.is_signature_valid:
            raise ValueError("the request is not signed by its own key")
        start, end = lifetime(now, validity, self._certificate.not_valid_after_utc)
        builder = (
            x509.CertificateBuilder()
            .subject_name(asked.subject)
            .issuer_name(self._certificate.subject)
            .public_key(asked.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        for extension, critical in extensions_for(asked, usages):
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _issue(
        self, name: x509.Name, use: x509.ObjectIdentifier, now: datetime, hosts: Sequence[x509.GeneralName] = ()
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(name, self._certificate.subject, key, now, VALIDITY)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        return _pair(builder.sign(self._key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, validity: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + validity)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _public_key(pem: bytes) -> ec.EllipticCurvePublicKey | None:
    """Of a private key of the kind made here; None for anything else."""
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key.public_key() if isinstance(key, ec.EllipticCurvePrivateKey) else None


def _read_key(file: Path, note: Callable[[str], None]) -> bytes | None:
    if not file.exists():
        return None
    key = file.read_bytes()
    if _public_key(key) is None:
        note(f"{file} is no private key: making a new one")
        return None
    return key


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), _private_pem(key))


def overlap(one: bytes, other: bytes) -> bool:
    """Whether two bundles (PEM) have a certificate in common."""
    return bool({*x509.load_pem_x509_certificates(one)} & {*x509.load_pem_x509_certificates(other)})


def is_valid(pair: KeyPair, now: datetime, *, at_least: timedelta = timedelta(days=30)) -> bool:
    """Whether the certificate will still be good `at_least` from now."""
    return x509.load_pem_x509_certificate(pair.certificate).not_valid_after_utc - at_least > now


@dataclass(frozen=True, slots=True)
class ClusterPki:
    """What a served cluster needs: its CA, its server certificate and the admin's client certificate; and for servers
    behind it a CA and a certificate by which they know that it is this server that asks for others."""

    authority: Authority
    server: KeyPair
    admin: KeyPair
    front_proxy_authority: Authority
    front_proxy: KeyPair
    service_account_key: bytes  # PEM; signs the tokens of service accounts, so it must outlive a restart
    made: dict[str, bytes]  # what is not in the folder yet, by the file's name
    notes: tuple[str, ...]  # what a person should know of files that are replaced

    @classmethod
    def prepare(cls, folder: Path, hosts: Sequence[str], now: datetime) -> ClusterPki:
        """Read the folder's certificates, and make those that are missing, broken or about to expire. The folder stays
        as it is until `write`: who finds the store damaged must be able to say that nothing was changed."""
        made: dict[str, bytes] = {}
        notes: list[str] = []

        def kept(name: str, make: Callable[[], KeyPair], *, lost: bool = False) -> KeyPair:
            pair = KeyPair.read(folder, name, notes.append)
            if pair is None or lost or not is_valid(pair, now):
                pair = make()
                made.update(pair.files(name))
            return pair

        authority = Authority(kept("ca", lambda: Authority.create(now).pair))
        lost = "ca.crt" in made  # the others were signed by a CA that is gone
        server = kept("apiserver", lambda: authority.issue_server("kube-apiserver", hosts, now), lost=lost)
        admin = kept("admin", lambda: authority.issue_client(ADMIN, now), lost=lost)
        proxies = Authority(kept("front-proxy-ca", lambda: Authority.create(now, "front-proxy-ca").pair))
        lost = "front-proxy-ca.crt" in made
        front = kept("front-proxy-client", lambda: proxies.issue_client(FRONT_PROXY, now), lost=lost)
        key = _read_key(folder / "sa.key", notes.append)
        if key is None:
            key = made["sa.key"] = _private_pem(ec.generate_private_key(ec.SECP256R1()))
        return cls(authority, server, admin, proxies, front, key, made, tuple(notes))

    def write(self, folder: Path) -> None:
        """Put what was made into the folder; the CA last, so that after a crash half-way all is made again."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in reversed(self.made.items()):
            write_private(folder / name, content)

    def server_context(self, folder: Path, *, proxies: bytes | None = None) -> ssl.SSLContext:
        """TLS for the API server: a client certificate is asked for; whether it is the CA's, or one of those of proxies
        (its own, where none are given), the context says."""
        context = RequestingContext(
            ssl.PROTOCOL_TLS_SERVER,
            self.authority.pair.certificate,
            Clock().now,
            proxies=self.front_proxy_authority.pair.certificate if proxies is None else proxies,
        )
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(folder / "apiserver.crt", folder / "apiserver.key")
        return context
