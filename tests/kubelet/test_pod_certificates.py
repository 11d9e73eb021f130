"""Certificates that Pods project, with a signer that this test plays (KEP-4317; upstream's
podcertificatemanager_test.go)."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.api.types import Object
from engine.kubelet.pod_certificates import POD_REQUESTS
from engine.world import World
from tests.kubelet.node import NODE, Node, running

SIGNER = "coolcert.example.com/foo"
NOT_YET = 'FailedMount: MountVolume.SetUp failed for volume "mine" : credential bundle is not issued yet'
RENEW_AFTER = timedelta(minutes=30)
KEY, END, CERTIFICATE = (f"-----{word}-----" for word in ("BEGIN PRIVATE KEY", "END PRIVATE KEY", "BEGIN CERTIFICATE"))


async def run(node: Node, key_type: str = "ED25519", **paths: str) -> Object:
    source = {"signerName": SIGNER, "keyType": key_type, "userAnnotations": {"example.com/a": "v"}, **paths}
    container: Object = {"name": "c", "image": "debian", "command": ["sh", "-c", "cat /mine/*; sleep 1d"]}
    container["volumeMounts"] = [{"name": "mine", "mountPath": "/mine"}]
    volume = {"name": "mine", "projected": {"sources": [{"podCertificate": source}]}}
    return await node.run(containers=[container], volumes=[volume], serviceAccountName="default")


async def asked(node: Node, count: int = 1) -> Object:
    """The newest request, once there are so many."""

    async def reached() -> Object | None:
        found = (await node.admin.list(POD_REQUESTS, namespace="default")).items
        found.sort(key=lambda request: int(request["metadata"]["resourceVersion"]))
        return found[-1] if len(found) >= count else None

    request: Object = await node.eventually(f"{count} certificates are asked for", reached)
    return request


async def answer(node: Node, request: Object, kind: str, **status: Any) -> None:
    condition = {"type": kind, "status": "True", "reason": "Why", "message": "so it is"}
    condition["lastTransitionTime"] = node.world.clock.timestamp()
    changed = {**request, "status": {"conditions": [condition], **status}}
    await node.admin.update(POD_REQUESTS, changed, subresource="status")


async def issue(node: Node, request: Object) -> str:
    """The certificate."""
    stub = x509.load_der_x509_csr(base64.b64decode(request["spec"]["stubPKCS10Request"]))
    start: datetime = node.world.clock.now().replace(microsecond=0)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a signer")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(stub.public_key())
    builder = builder.serial_number(int(request["metadata"]["resourceVersion"])).not_valid_before(start)
    end = start + timedelta(hours=2)
    made = builder.not_valid_after(end).sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    chain = made.public_bytes(serialization.Encoding.PEM).decode()
    times = {"notBefore": start, "beginRefreshAt": start + RENEW_AFTER, "notAfter": end}
    shown = {field: moment.strftime("%Y-%m-%dT%H:%M:%SZ") for field, moment in times.items()}
    await answer(node, request, "Issued", certificateChain=chain, **shown)
    return chain


async def test_a_pod_waits_for_its_certificate(world: World) -> None:
    async with running(world) as node:
        pod = await run(node, credentialBundlePath="bundle.pem")
        assert await node.said("FailedMount") == NOT_YET
        request = await asked(node)
        account = request["spec"].pop("serviceAccountUID"), request["spec"].pop("nodeUID")
        assert all(account)
        stub = request["spec"].pop("stubPKCS10Request")
        assert request["spec"] == {
            "signerName": SIGNER,
            "podName": "web",
            "podUID": pod["metadata"]["uid"],
            "serviceAccountName": "default",
            "nodeName": NODE,
            "maxExpirationSeconds": 86400,
            "unverifiedUserAnnotations": {"example.com/a": "v"},
        }
        assert request["metadata"]["name"].startswith("req-")
        assert request["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
        request["spec"] |= {"serviceAccountUID": account[0], "nodeUID": account[1], "stubPKCS10Request": stub}
        chain = await issue(node, request)
        await node.ready()

        printed = "".join(f"{line}\n" for line in node.logs("web"))
        assert (printed.startswith(KEY), printed.endswith(chain), printed.count(CERTIFICATE)) == (True, True, 1)
        assert len((await node.admin.list(POD_REQUESTS, namespace="default")).items) == 1


@pytest.mark.parametrize("key_type", ["ECDSAP256", "ECDSAP384", "ECDSAP521", "RSA3072"])
async def test_key_and_certificates_may_be_files_of_their_own(world: World, key_type: str) -> None:
    async with running(world) as node:
        await run(node, key_type, keyPath="a.key", certificateChainPath="b.pem")
        chain = await issue(node, await asked(node))
        await node.ready()
        lines = node.logs("web")
        assert (lines[0], lines[lines.index(END) + 1]) == (KEY, CERTIFICATE)
        assert "".join(f"{line}\n" for line in lines).endswith(chain)


async def test_a_certificate_is_renewed(world: World) -> None:
    async with running(world) as node:
        await run(node, credentialBundlePath="bundle.pem")
        await issue(node, await asked(node))
        await node.ready()
        await node.sleep(RENEW_AFTER.total_seconds() - 1)
        assert len((await node.admin.list(POD_REQUESTS, namespace="default")).items) == 1
        again = await asked(node, 2)
        await issue(node, again)
        await node.sleep(120)
        assert (await node.status())["phase"] == "Running"
        assert len((await node.admin.list(POD_REQUESTS, namespace="default")).items) == 2


@pytest.mark.parametrize(
    ("kind", "event", "waits"),
    [("Denied", "was denied", "was permanently denied"), ("Failed", "failed", "failed")],
)
async def test_a_refusal_is_for_good(world: World, kind: str, event: str, waits: str) -> None:
    async with running(world) as node:
        await run(node, credentialBundlePath="bundle.pem")
        request = await asked(node)
        await answer(node, request, kind)
        assert await node.said(f"{kind}: PodCertificateRequest") == (
            f'{kind}: PodCertificateRequest default/{request["metadata"]["name"]} {event}, reason="Why", '
            'message="so it is"'
        )
        assert (await node.said(f"PodCertificateRequest {waits}:")).endswith('reason="Why" message="so it is"')
        await node.sleep(600)
        assert (await node.status())["phase"] == "Pending"
        assert len((await node.admin.list(POD_REQUESTS, namespace="default")).items) == 1


async def test_a_request_that_is_gone_is_made_anew(world: World) -> None:
    async with running(world) as node:
        await run(node, credentialBundlePath="bundle.pem")
        first = await asked(node)
        await node.admin.delete(POD_REQUESTS, first["metadata"]["name"], namespace="default")
        await issue(node, await asked(node))
        await node.ready()
