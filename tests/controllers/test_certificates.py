"""Certificates that are asked for by the API, and Secrets that hold tokens (upstream's signer_test.go,
sarapprove_test.go, cleaner_test.go, tokens_controller_test.go)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID
from pydantic import SecretStr

from engine.api.types import CLUSTER_ROLE_BINDINGS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate
from engine.client import Client
from engine.config import ClusterConfig
from engine.controllers.certificates import ClusterTrustBundlePublisher, PodCertificateRequestCleaner
from engine.controllers.certificates.cleaning import is_over
from engine.controllers.certificates.pod_requests import POD_REQUESTS
from engine.controllers.certificates.requests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING, REQUESTS
from engine.controllers.certificates.trust_bundles import SIGNER, TRUST_BUNDLES
from engine.pki import Authority
from engine.world import World
from tests.controllers.cluster import TestCluster, client_of, running

CLIENT_USES = ["digital signature", "client auth"]
SERVER_USES = ["digital signature", "server auth"]


def asked(common_name: str, *organizations: str, names: tuple[x509.GeneralName, ...] = ()) -> str:
    """A request as the API takes it."""
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations]
    subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    made = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def served(now: datetime) -> ClusterConfig:
    pair = Authority.create(now).pair
    return ClusterConfig(root_ca=pair.certificate.decode(), signing_key=SecretStr(pair.key.decode()))


async def request(client: Client, text: str, signer: str, usages: list[str], **spec: Any) -> None:
    made = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "mine"},
        "spec": {"request": text, "signerName": signer, "usages": usages, **spec},
    }
    await client.create(REQUESTS, made)


async def approve(cluster: TestCluster) -> None:
    found = await cluster.admin.get(REQUESTS, "mine")
    condition = {"type": "Approved", "status": "True", "reason": "ByHand"}
    status = {**(found.get("status") or {}), "conditions": [condition]}
    await cluster.admin.update(REQUESTS, {**found, "status": status}, subresource="approval")


async def answered(cluster: TestCluster) -> Object:
    async def done() -> Object | None:
        status: Object = (await cluster.admin.get(REQUESTS, "mine")).get("status") or {}
        failed = any(each["type"] == "Failed" for each in status.get("conditions") or ())
        return status if status.get("certificate") or failed else None

    status: Object = await cluster.eventually("the request is answered", done)
    return status


async def test_an_approved_request_is_signed(world: World) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        await request(cluster.admin, asked("jane", "dev"), CLIENT, CLIENT_USES, expirationSeconds=3600)
        await world.clock.sleep(5)
        assert not (await cluster.admin.get(REQUESTS, "mine")).get("status", {}).get("certificate")
        await approve(cluster)
        status = await answered(cluster)

        certificate = x509.load_pem_x509_certificate(base64.b64decode(status["certificate"]))
        assert certificate.subject.rfc4514_string() == "CN=jane,O=dev"
        assert certificate.issuer.rfc4514_string() == "CN=kubernetes"
        uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert list(uses) == [ExtendedKeyUsageOID.CLIENT_AUTH]
        life = certificate.not_valid_after_utc - certificate.not_valid_before_utc
        assert life == timedelta(hours=1, minutes=5)


@pytest.mark.parametrize(
    ("usages", "signs"),
    [
        pytest.param(["client auth"], None, id="nothing said of the key"),
        pytest.param(["client auth", "digital signature"], True, id="the key signs"),
        pytest.param(["client auth", "key encipherment"], False, id="the key does not"),
    ],
)
async def test_what_the_key_may_do(world: World, usages: list[str], signs: bool | None) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        await request(cluster.admin, asked("jane"), CLIENT, usages)
        await approve(cluster)
        certificate = x509.load_pem_x509_certificate(base64.b64decode((await answered(cluster))["certificate"]))
        found = [each.value for each in certificate.extensions if isinstance(each.value, x509.KeyUsage)]
        assert [each.digital_signature for each in found] == ([] if signs is None else [signs])


NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
YEAR, HOUR = timedelta(days=365), timedelta(hours=1)


@pytest.mark.parametrize(
    ("validity", "life"),
    [
        pytest.param(YEAR, YEAR, id="backdated"),
        pytest.param(8 * HOUR, 8 * HOUR, id="as long as that"),
        pytest.param(7 * HOUR, 7 * HOUR + timedelta(minutes=5), id="short"),
        pytest.param(11 * YEAR, timedelta(days=3650, minutes=5), id="longer than the authority"),
    ],
)
def test_how_long_a_certificate_is_good(validity: timedelta, life: timedelta) -> None:
    """TestCertificateAuthority's rows of times: five minutes before now are of the lifetime, unless it is short."""
    csr = x509.load_pem_x509_csr(base64.b64decode(asked("jane")))
    made = x509.load_pem_x509_certificate(Authority.create(NOON).sign(csr, ["client auth"], NOON, validity))
    assert made.not_valid_before_utc == NOON - timedelta(minutes=5)
    assert made.not_valid_after_utc - made.not_valid_before_utc == life


def test_a_certificate_has_all_that_its_uses_mean_and_go_writes() -> None:
    names = [
        x509.UniformResourceIdentifier("spiffe://a"), x509.IPAddress(ip_address("::1")), x509.RFC822Name("a@b"),
        x509.RegisteredID(x509.ObjectIdentifier("1.2.3")), x509.DNSName("a.b"),
    ]  # fmt: skip
    csr = x509.load_pem_x509_csr(base64.b64decode(asked("jane", names=tuple(names))))
    uses = [
        "decipher only",
        "key agreement",
        "netscape sgc",
        "s/mime",
        "ipsec user",
        "email protection",
        "server auth",
        "any",
    ]
    made = x509.load_pem_x509_certificate(Authority.create(NOON).sign(csr, uses, NOON, HOUR))
    found = made.extensions
    assert found.get_extension_for_oid(ExtensionOID.KEY_USAGE).critical
    assert found.get_extension_for_class(x509.KeyUsage).value.decipher_only
    assert [each.dotted_string for each in found.get_extension_for_class(x509.ExtendedKeyUsage).value] == [
        "2.5.29.37.0", "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.4", "1.3.6.1.5.5.7.3.7", "2.16.840.1.113730.4.1",
    ]  # fmt: skip
    alternatives = found.get_extension_for_class(x509.SubjectAlternativeName)
    assert (list(alternatives.value), alternatives.critical) == ([names[4], names[2], names[1], names[0]], False)
    alone = x509.load_pem_x509_certificate(Authority.create(NOON).sign(csr, ["decipher only"], NOON, HOUR))
    assert bytes.fromhex("0303070080") in alone.tbs_certificate_bytes  # which cryptography would not write


NODE_NAMES = (x509.DNSName("node-1"), x509.IPAddress(ip_address("172.18.0.2")))


@pytest.mark.parametrize(
    ("signer", "text", "usages", "error"),
    [
        pytest.param(
            CLIENT, asked("jane"), ["server auth"],
            "invalid usage for client certificate: server auth", id="client: use",
        ),
        pytest.param(
            CLIENT, asked("jane"), ["digital signature"],
            "missing required usage for client certificate: client auth", id="client: no use",
        ),
        pytest.param(
            KUBELET_SERVING, asked("system:node:n", names=NODE_NAMES), SERVER_USES,
            "subject organization is not system:nodes", id="kubelet: organization",
        ),
        pytest.param(
            KUBELET_SERVING, asked("system:node:n", "system:nodes"), SERVER_USES,
            "DNS or IP subjectAltName is required", id="kubelet: no names",
        ),
        pytest.param(
            KUBELET_SERVING, asked("n", "system:nodes", names=NODE_NAMES), SERVER_USES,
            "subject common name does not begin with system:node: ", id="kubelet: common name",
        ),
        pytest.param(
            KUBELET_SERVING, asked("system:node:n", "system:nodes", names=NODE_NAMES), CLIENT_USES,
            "usages did not match [digital signature key encipherment server auth]", id="kubelet: uses",
        ),
        pytest.param(
            KUBELET_CLIENT, asked("system:node:n", "system:nodes", names=NODE_NAMES), CLIENT_USES,
            "DNS subjectAltNames are not allowed", id="kubelet's client: names",
        ),
        pytest.param(
            KUBELET_CLIENT, asked("system:node:n", "system:nodes"), ["digital signature"],
            "usages did not match [client auth digital signature key encipherment]", id="kubelet's client: uses",
        ),
    ],
)  # fmt: skip
async def test_what_a_signer_does_not_sign_fails(
    world: World, signer: str, text: str, usages: list[str], error: str
) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        await request(cluster.admin, text, signer, usages)
        await approve(cluster)
        failed = next(each for each in (await answered(cluster))["conditions"] if each["type"] == "Failed")
        assert (failed["reason"], failed["message"]) == ("SignerValidationFailure", error)


async def test_a_node_gets_its_own_certificate_where_it_is_allowed_to(world: World) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}
        role = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        binding = {"metadata": {"name": "node-autoapprove"}, "roleRef": reference, "subjects": [group]}
        await cluster.admin.create(CLUSTER_ROLE_BINDINGS, {"kind": "ClusterRoleBinding", **binding})
        node = client_of(cluster.api, ClientCertificate("system:node:node-1", ("system:nodes",)), "kubelet")
        await request(node, asked("system:node:node-1", "system:nodes"), KUBELET_CLIENT, CLIENT_USES)
        status = await answered(cluster)

        approved = next(each for each in status["conditions"] if each["type"] == "Approved")
        assert (approved["reason"], approved["message"]) == (
            "AutoApproved",
            "Auto approving self kubelet client certificate after SubjectAccessReview.",
        )
        assert status["certificate"]


async def test_nobody_else_does(world: World) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        await request(cluster.admin, asked("system:node:node-1"), KUBELET_CLIENT, CLIENT_USES)
        await world.clock.sleep(30)
        assert not (await cluster.admin.get(REQUESTS, "mine")).get("status", {}).get("conditions")


NOW = datetime(2026, 1, 2, tzinfo=UTC)


def aged(hours: float, *types: str) -> Object:
    at = (NOW - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [{"type": type, "status": "True", "lastUpdateTime": at} for type in types]
    status: Object = {"conditions": conditions}
    if "Approved" in types:
        status["certificate"] = base64.b64encode(b"no certificate").decode()
    return {"metadata": {"creationTimestamp": at}, "status": status}


@pytest.mark.parametrize(
    ("of", "over"),
    [
        pytest.param(aged(23), False, id="pending"),
        pytest.param(aged(25), True, id="pending too long"),
        pytest.param(aged(25, "Seen"), False, id="somebody has said something of it"),
        pytest.param(aged(0.5, "Approved"), False, id="issued just now"),
        pytest.param(aged(1.5, "Approved"), True, id="issued"),
        pytest.param(aged(0.5, "Denied"), False, id="denied just now"),
        pytest.param(aged(1.5, "Denied"), True, id="denied"),
        pytest.param(aged(1.5, "Approved", "Failed"), True, id="failed"),
    ],
)
def test_what_is_cleaned_up(of: Object, over: bool) -> None:
    assert is_over(of, NOW) is over


# -- Secrets with tokens


def token_secret(account: str) -> Object:
    annotations = {"kubernetes.io/service-account.name": account}
    return {
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
        "metadata": {"name": "token", "annotations": annotations},
    }  # fmt: skip


async def test_a_secret_is_filled_with_a_token_of_its_account_and_goes_with_it(world: World) -> None:
    async with running(world, config=served(world.clock.now())) as cluster:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        made = await cluster.admin.create(SERVICE_ACCOUNTS, account, namespace="default")
        await cluster.admin.create(SECRETS, token_secret("robot"), namespace="default")

        async def filled() -> Object | None:
            found = await cluster.admin.get(SECRETS, "token", namespace="default")
            return found if (found.get("data") or {}).get("token") else None

        secret = await cluster.eventually("the Secret has a token", filled)
        assert base64.b64decode(secret["data"]["namespace"]) == b"default"
        assert base64.b64decode(secret["data"]["ca.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")
        assert secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == made["metadata"]["uid"]
        token = base64.b64decode(secret["data"]["token"]).decode()
        payload = base64.urlsafe_b64decode(token.split(".")[1] + "==").decode()
        assert '"sub":"system:serviceaccount:default:robot"' in payload.replace(" ", "")

        await cluster.admin.delete(SERVICE_ACCOUNTS, "robot", namespace="default")
        await cluster.gone(SECRETS, "token")


async def test_an_account_lists_no_secret_that_is_gone(world: World) -> None:
    """The rows of a deleted Secret in TestTokenCreation: of the account itself, not of another of its name."""
    listed = [{"name": "other"}, {"name": "token"}]

    async def made(name: str) -> Object:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}, "secrets": listed}
        return await cluster.admin.create(SERVICE_ACCOUNTS, account, namespace="default")

    async def names(name: str) -> list[str]:
        found = await cluster.admin.get(SERVICE_ACCOUNTS, name, namespace="default")
        return [each["name"] for each in found.get("secrets") or ()]

    async with running(world) as cluster:
        for name in ("robot", "bystander"):
            await made(name)
        await cluster.admin.create(SECRETS, token_secret("robot"), namespace="default")
        await world.clock.sleep(5)
        assert await names("robot") == ["other", "token"]
        await cluster.admin.delete(SECRETS, "token", namespace="default")
        await world.clock.sleep(5)
        assert (await names("robot"), await names("bystander")) == (["other"], ["other", "token"])

        await cluster.admin.create(SECRETS, token_secret("bystander"), namespace="default")
        await world.clock.sleep(5)
        await cluster.admin.delete(SERVICE_ACCOUNTS, "bystander", namespace="default")
        await made("bystander")
        await cluster.gone(SECRETS, "token")
        await world.clock.sleep(5)
        assert await names("bystander") == ["other", "token"]  # it was that of the one before


async def test_what_a_secret_has_is_let_be(world: World) -> None:
    async with running(world) as cluster:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        await cluster.admin.create(SERVICE_ACCOUNTS, account, namespace="default")
        mine = {"namespace": "elsewhere", "token": "mine"}
        made = await cluster.admin.create(SECRETS, {**token_secret("robot"), "stringData": mine}, namespace="default")
        await world.clock.sleep(5)
        assert await cluster.admin.get(SECRETS, "token", namespace="default") == made


async def test_a_secret_of_no_account_is_deleted(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(SECRETS, token_secret("nobody"), namespace="default")
        await cluster.gone(SECRETS, "token")


async def test_what_pods_asked_for_is_of_use_for_minutes(world: World) -> None:
    async with running(world, controllers=(PodCertificateRequestCleaner,)) as cluster:
        key = ec.generate_private_key(ec.SECP256R1())
        stub = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
        spec = {
            "signerName": "example.com/pods",
            "podName": "p",
            "podUID": "1",
            "serviceAccountName": "default",
            "serviceAccountUID": "2",
            "nodeName": "n",
            "nodeUID": "3",
            "maxExpirationSeconds": 86400,
            "stubPKCS10Request": base64.b64encode(stub.public_bytes(serialization.Encoding.DER)).decode(),
        }
        await cluster.admin.create(POD_REQUESTS, {"metadata": {"name": "asked"}, "spec": spec}, namespace="default")
        await world.clock.sleep(14 * 60)
        assert await cluster.find(POD_REQUESTS, "asked")
        await world.clock.sleep(6 * 60)
        assert await cluster.find(POD_REQUESTS, "asked") is None


async def test_the_ca_of_the_api_servers_is_a_trust_bundle(world: World) -> None:
    """And the only one of its signer."""
    config = served(world.clock.now())
    name = f"kubernetes.io:kube-apiserver-serving:{sha256(config.root_ca.encode()).hexdigest()[:24]}"
    async with running(world, config=config, controllers=(ClusterTrustBundlePublisher,)) as cluster:

        async def bundles() -> list[Object]:
            return await cluster.objects(TRUST_BUNDLES)

        [published] = await cluster.eventually("it is published", bundles)
        assert published["metadata"]["name"] == name
        assert published["spec"] == {"signerName": SIGNER, "trustBundle": config.root_ca}
        other = Authority.create(world.clock.now()).pair.certificate.decode()
        for signer in (SIGNER, "example.com/other"):
            made = {"metadata": {"name": f"{signer.replace('/', ':')}:mine"}}
            await cluster.admin.create(TRUST_BUNDLES, {**made, "spec": {"signerName": signer, "trustBundle": other}})
        await cluster.gone(TRUST_BUNDLES, f"{SIGNER.replace('/', ':')}:mine", None)
        assert [each["metadata"]["name"] for each in await bundles()] == ["example.com:other:mine", name]
        await cluster.admin.delete(TRUST_BUNDLES, name)
        await cluster.eventually("it is published again", lambda: cluster.find(TRUST_BUNDLES, name, None))


def test_older_releases_have_neither() -> None:
    kinds = (PodCertificateRequestCleaner, ClusterTrustBundlePublisher)
    for version, needed in (("1.36", False), ("1.37", True)):
        config = ClusterConfig(kubernetes_version=version, root_ca="CA")
        assert [kind.is_needed(config) for kind in kinds] == [needed, needed]
