"""ImagePolicyWebhook: another server says which images may run (plugin/pkg/admission/imagepolicy admission_test.go and
config_test.go), over real sockets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from aiohttp import web

from engine.api.errors import ApiError
from engine.api.types import PODS, SERVICE_ACCOUNTS, Object
from engine.apiserver.admission.configuration import AdmissionConfigurationError, load_configuration
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.pki import ClusterPki
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN, account, pod
from tests.kept_pki import kept_pki

PLUGIN = "ImagePolicyWebhook"
EXEMPT = "mycluster.image-policy.k8s.io/ticket"
CALM = "image policy webhook backend denied one or more images"


def configured(folder: Path, **said: Any) -> Path:
    plugins = [{"name": PLUGIN, "configuration": {"imagePolicy": said}}]
    whole = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
    file = folder / "admission.yaml"
    file.write_text(yaml.safe_dump(whole))
    return file


@dataclass
class Judge:
    """The other server: it answers with a status, or with a whole answer."""

    folder: Path
    pki: ClusterPki
    url: str = ""
    status: Object = field(default_factory=lambda: {"allowed": True})
    answers: list[web.Response] = field(default_factory=list)
    asked: list[Object] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        tls = request.get_extra_info("ssl_object")
        subject = dict(pair for part in tls.getpeercert()["subject"] for pair in part)
        self.requests.append(f"{request.method} {request.path_qs} by {subject['commonName']}")
        review = orjson.loads(await request.read())
        self.asked.append(review)
        return self.answers.pop(0) if self.answers else web.json_response({**review, "status": self.status})

    def kubeconfig(self, url: str = "") -> Path:
        authority, mine = self.folder / "pki" / "ca.crt", self.folder / "pki" / "admin"
        server = url or f"{self.url}/images/"
        config = {
            "clusters": [{"name": "judge", "cluster": {"server": server, "certificate-authority": str(authority)}}],
            "users": [{"name": "me", "user": {"client-certificate": f"{mine}.crt", "client-key": f"{mine}.key"}}],
            "contexts": [{"name": "c", "context": {"cluster": "judge", "user": "me"}}],
            "current-context": "c",
        }  # fmt: skip
        file = self.folder / "kubeconfig"
        file.write_text(yaml.safe_dump(config))
        return file


@pytest.fixture
async def judge(tmp_path: Path) -> AsyncIterator[Judge]:
    pki = kept_pki(tmp_path / "pki", ["127.0.0.1"], datetime.now(UTC))
    found = Judge(tmp_path, pki)
    runner = web.ServerRunner(web.Server(found.serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=pki.server_context(tmp_path / "pki")).start()
    found.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


@asynccontextmanager
async def judged(judge: Judge, *, url: str = "", **said: Any) -> AsyncIterator[Client]:
    file = configured(judge.folder, kubeConfigFile=str(judge.kubeconfig(url)), **said)
    policy = judge.folder / "policy.yaml"
    rules = [{"level": "Metadata", "verbs": ["create"], "resources": [{"resources": ["pods"]}]}]
    policy.write_text(yaml.safe_dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}))
    world = World.create(clock=Clock(), seed=1)
    store = await SqliteStore.open(None, clock=world.clock)
    config = ClusterConfig(
        admission_control_config_file=file, enable_admission_plugins=(PLUGIN,),
        audit_policy_file=policy, audit_log_path=str(judge.folder / "audit.log"),
    )  # fmt: skip
    server = ApiServer(world, store, config=config)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    yield client
    await server.stop()
    await store.close()


def told(judge: Judge) -> list[Object]:
    """What the audit log of a server that has ended says of each Pod."""
    lines = [json.loads(line) for line in (judge.folder / "audit.log").read_text().splitlines()]
    events = [each for each in lines if each["stage"] == "ResponseComplete"]
    return [{name: text for name, text in each["annotations"].items() if "image-policy" in name} for each in events]


async def refusal(client: Client, name: str = "web") -> str:
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, pod(name), namespace="default")
    assert caught.value.code == 403
    return caught.value.message


async def test_what_is_asked_and_that_it_is_remembered(judge: Judge) -> None:
    async with judged(judge) as client:
        made = pod("web", initContainers=[{"name": "i", "image": "busybox:1"}])
        made["metadata"]["annotations"] = {EXEMPT: "123", "other.io/ticket": "4"}
        await client.create(PODS, made, namespace="default")
        assert judge.requests == ["POST /images?timeout=30s by kubernetes-admin"]
        image = made["spec"]["containers"][0]["image"]
        assert judge.asked == [{
            "kind": "ImageReview", "apiVersion": "imagepolicy.k8s.io/v1alpha1", "metadata": {},
            "spec": {"containers": [{"image": image}, {"image": "busybox:1"}],
                     "annotations": {EXEMPT: "123"}, "namespace": "default"},
            "status": {"allowed": False},
        }]  # fmt: skip
        made["metadata"]["name"] = "again"
        await client.create(PODS, made, namespace="default")
        assert len(judge.asked) == 1
        debug = {"spec": {"ephemeralContainers": [{"name": "e", "image": "debug:1"}]}}
        await client.patch(PODS, "web", debug, namespace="default", subresource="ephemeralcontainers")
        assert judge.asked[-1]["spec"] == {
            "containers": [{"image": "debug:1"}], "annotations": {EXEMPT: "123"}, "namespace": "default",
        }  # fmt: skip
        judge.status = {"allowed": False}
        debug["spec"]["ephemeralContainers"].append({"name": "f", "image": "debug:2"})
        with pytest.raises(ApiError, match="one or more images rejected by webhook backend"):
            await client.patch(PODS, "web", debug, namespace="default", subresource="ephemeralcontainers")


async def test_what_is_refused(judge: Judge) -> None:
    async with judged(judge, denyTTL=-1) as client:
        judge.status = {"allowed": False, "reason": "not signed", "auditAnnotations": {"who": "judge", "no/t": "x"}}
        assert await refusal(client) == f'pods "web" is forbidden: {CALM}: not signed'
        judge.status = {}
        assert await refusal(client) == 'pods "web" is forbidden: one or more images rejected by webhook backend'
        judge.status = {"allowed": True}  # which was not remembered
        await client.create(PODS, pod("web"), namespace="default")
    first, *_ = told(judge)
    assert first == {"imagepolicywebhook.image-policy.k8s.io/who": "judge"}


async def test_who_does_not_answer_refuses(judge: Judge) -> None:
    rows = {
        "no review": (web.json_response({"kind": "Pod"}), 'no kind "Pod" is registered for version'),
        "another type": (
            web.json_response({"status": {"allowed": "yes"}}),
            "json: cannot unmarshal string into Go struct field ImageReviewStatus.status.allowed of type bool",
        ),
        "nothing": (web.Response(), "0-length response with status code: 200"),
        "not found": (web.Response(status=404), "the server could not find the requested resource"),
        "unauthorized": (web.Response(status=401), "the server has asked for the client to provide credentials"),
    }
    async with judged(judge) as client:
        for answer, why in rows.values():
            judge.answers = [answer]
            assert (await refusal(client)).startswith(f'pods "web" is forbidden: {why}')
    async with judged(judge, url="https://127.0.0.1:1/images") as client:
        assert await refusal(client) == (
            'pods "web" is forbidden: Post "https://127.0.0.1:1/images?timeout=30s": dial tcp 127.0.0.1:1: connect: '
            "connection refused"
        )


async def test_who_is_busy_is_asked_again(judge: Judge) -> None:
    async with judged(judge, retryBackoff=1, allowTTL=-1) as client:
        judge.answers = [web.Response(status=code) for code in (500, 429, 504, 500)]
        await client.create(PODS, pod("web"), namespace="default")
        assert len(judge.asked) == 5
        judge.answers = [web.Response(status=500) for _ in range(5)]
        assert "an error on the server" in await refusal(client, "other")


async def test_pods_may_be_let_in_that_nobody_has_judged(judge: Judge) -> None:
    async with judged(judge, url="https://127.0.0.1:1", defaultAllow=True) as client:
        made = await client.create(PODS, pod("web"), namespace="default")
        assert made["metadata"]["annotations"]["alpha.image-policy.k8s.io/failed-open"] == "true"
    assert told(judge) == [{"imagepolicywebhook.image-policy.k8s.io/failed-open": "true"}]


CONFIGS: dict[str, tuple[dict[str, Any], str]] = {
    "an hour": ({"allowTTL": 3600}, "valid value is between 1s and 30m0s, got 1h0m0s"),
    "less than none": ({"denyTTL": -2}, "valid value is between 1s and 30m0s, got -2s"),
    "a long wait": ({"retryBackoff": 300_001}, "valid value is between 1ns and 5m0s, got 5m0.001s"),
    "another type": (
        {"defaultAllow": "yes"},
        "json: cannot unmarshal string into Go struct field imagePolicyWebhookConfig.imagePolicy.defaultAllow of type "
        "bool",
    ),
    "a file that is not there": ({"kubeConfigFile": "/none/it"}, "stat /none/it: no such file or directory"),
    "no file": ({}, "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
                    "environment variable"),
}  # fmt: skip


def test_what_cannot_be_configured(tmp_path: Path) -> None:
    for said, why in CONFIGS.values():
        options = UpOptions(
            admission_control_config_file=str(configured(tmp_path, **said)), enable_admission_plugins=PLUGIN
        )
        with pytest.raises(UsageError) as caught:
            configure(options)
        assert str(caught.value) == (
            f'--admission-control-config-file: couldn\'t init admission plugin "{PLUGIN}": {why}'
        )
    with pytest.raises(AdmissionConfigurationError, match="no config specified"):
        load_configuration(None, enabled=(PLUGIN,))
    configure(UpOptions(admission_control_config_file=str(configured(tmp_path, allowTTL=3600))))  # it is off
