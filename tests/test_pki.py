"""The cluster's certificates, checked by a TLS handshake of their own."""

from __future__ import annotations

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from engine.api.wire import ClientCertificate
from engine.client_certificates import issued
from engine.pki import ADMIN, VALIDITY, Authority, is_valid, overlap
from tests.kept_pki import kept_pki

NOW = datetime.now(UTC)


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, host: str) -> ssl.SSLObject:
    """A handshake in memory; returns the server's side."""
    return both_sides(server, client, host)[1]


def both_sides(
    server: ssl.SSLContext, client: ssl.SSLContext, host: str, session: ssl.SSLSession | None = None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """The client's and the server's side after a handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_side = client.wrap_bio(to_client, to_server, server_hostname=host, session=session)
    server_side = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (client_side, server_side, client_side, server_side):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return client_side, server_side


def client_context(folder: Path, *, certificate: str = "") -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    if certificate:
        context.load_cert_chain(folder / f"{certificate}.crt", folder / f"{certificate}.key")
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_admin_certificate_is_accepted_with_its_subject(tmp_path: Path, host: str) -> None:
    pki = kept_pki(tmp_path, ["localhost", "127.0.0.1"], NOW)
    server = shake_hands(pki.server_context(tmp_path), client_context(tmp_path, certificate="admin"), host)
    certificate = server.getpeercert()
    assert certificate is not None
    assert certificate["subject"] == ((("organizationName", "system:masters"),), (("commonName", "kubernetes-admin"),))


def test_a_client_without_a_certificate_gets_in_as_nobody(tmp_path: Path) -> None:
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    assert shake_hands(pki.server_context(tmp_path), client_context(tmp_path), "localhost").getpeercert() is None


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
def test_only_what_the_authority_has_issued_is_verified(tmp_path: Path, version: ssl.TLSVersion) -> None:
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    mine, other = pki.authority, Authority.create(NOW)
    pairs = {
        "known": mine.issue_client(ADMIN, NOW),
        "stranger": other.issue_client(ADMIN, NOW),
        "expired": mine.issue_client(ADMIN, NOW - 2 * VALIDITY),
        "early": mine.issue_client(ADMIN, NOW + VALIDITY),
        "the stranger's authority": other.pair,
        "a server": pki.server,
        "a proxy": pki.front_proxy,
    }
    server = pki.server_context(tmp_path)
    for name, pair in pairs.items():
        pair.write(tmp_path, name)
        client = client_context(tmp_path, certificate=name)
        client.maximum_version = version
        found = shake_hands(server, client, "localhost")
        assert found.getpeercert(True) == ssl.PEM_cert_to_DER_cert(pair.certificate.decode())
        assert issued(found) == (name == "known", name == "a proxy"), name


@pytest.mark.parametrize("known", [True, False])
def test_a_resumed_session_makes_nobody_known(tmp_path: Path, known: bool) -> None:
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    authority = pki.authority if known else Authority.create(NOW)
    authority.issue_client(ADMIN, NOW).write(tmp_path, "client")
    server, client = pki.server_context(tmp_path), client_context(tmp_path, certificate="client")
    client.maximum_version = ssl.TLSVersion.TLSv1_2  # of the newer no session is kept
    first, _ = both_sides(server, client, "localhost")
    _, second = both_sides(server, client, "localhost", session=first.session)
    assert second.session_reused
    assert issued(second).to_client == known


def test_a_name_that_the_server_does_not_have_is_refused(tmp_path: Path) -> None:
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    with pytest.raises(ssl.SSLError):
        shake_hands(pki.server_context(tmp_path), client_context(tmp_path), "example.com")


def test_certificates_are_kept_over_a_restart_and_made_again_before_they_expire(tmp_path: Path) -> None:
    first = kept_pki(tmp_path, ["localhost"], NOW)
    assert kept_pki(tmp_path, ["localhost"], NOW).admin == first.admin
    later = NOW + timedelta(days=340)
    assert not is_valid(first.admin, later)
    renewed = kept_pki(tmp_path, ["localhost"], later)
    assert renewed.admin != first.admin
    assert renewed.authority.pair == first.authority.pair


@pytest.mark.parametrize(
    ("broken", "made_again"),
    [
        ("admin.crt", {"admin.crt", "admin.key"}),
        ("admin.key", {"admin.crt", "admin.key"}),
        ("apiserver.crt", {"apiserver.crt", "apiserver.key"}),
        ("apiserver.key", {"apiserver.crt", "apiserver.key"}),
        ("ca.crt", {"ca.crt", "ca.key", "admin.crt", "admin.key", "apiserver.crt", "apiserver.key"}),
        ("ca.key", {"ca.crt", "ca.key", "admin.crt", "admin.key", "apiserver.crt", "apiserver.key"}),
        ("sa.key", {"sa.key"}),
    ],
)
@pytest.mark.parametrize("content", ["junk", ""])
def test_broken_files_are_made_again(tmp_path: Path, broken: str, content: str, made_again: set[str]) -> None:
    kept_pki(tmp_path, ["localhost"], NOW)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    (tmp_path / broken).write_text(content)
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    assert {name for name, was in before.items() if (tmp_path / name).read_bytes() != was} == made_again
    context = client_context(tmp_path, certificate="admin")
    assert shake_hands(pki.server_context(tmp_path), context, "localhost").getpeercert()


def test_a_key_of_another_certificate_is_made_again(tmp_path: Path) -> None:
    kept_pki(tmp_path, ["localhost"], NOW)
    (tmp_path / "admin.key").write_bytes((tmp_path / "apiserver.key").read_bytes())
    pki = kept_pki(tmp_path, ["localhost"], NOW)
    context = client_context(tmp_path, certificate="admin")
    assert shake_hands(pki.server_context(tmp_path), context, "localhost").getpeercert()


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    kept_pki(tmp_path / "pki", ["localhost"], NOW)
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "pki").iterdir()} == {0o600}


def test_a_client_certificate_carries_its_organizations() -> None:
    pair = Authority.create(NOW).issue_client(ClientCertificate("jane", ("dev", "ops")), NOW)
    subject = x509.load_pem_x509_certificate(pair.certificate).subject
    assert [part.value for part in subject] == ["dev", "ops", "jane"]


def test_bundles_that_have_a_certificate_in_common() -> None:
    one, other = (Authority.create(NOW).pair.certificate for _ in range(2))
    assert overlap(one + other, other)
    assert not overlap(one, other)
