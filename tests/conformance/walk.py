"""The walk: the real kubectl does every verb to the manifests of every built-in kind, many objects with each call.

It walks on a front door alone (no controller, scheduler or kubelet), so that whatever it prints comes of what it did.
Watches and deletions of collections, for which kubectl has no word, pass through `kubectl proxy`.
`python -m tests.conformance.walk` writes the golden files anew; look at what changed before you keep it.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import aiohttp

from engine.tasks import Supervisor
from tests.conformance.kinds import Manifest, load, of_role, write
from tests.kubectl.oracle import NO_HOME, Printed, binary, ours, real
from tests.kubectl.parity import normal
from tests.kubectl.served import Served, served

GOLDEN = Path(__file__).parent / "golden"
HAS_LEVEL = "--for=jsonpath={.status.conditions[0].reason}=Found --timeout=30s"  # the API server says it a moment later
NAMESPACE = "walk"
STAGE = """
apiVersion: v1
kind: Namespace
metadata: {name: walk}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: walk}
---
apiVersion: v1
kind: Pod
metadata: {name: bound, namespace: walk}
spec: {automountServiceAccountToken: false, containers: [{name: app, image: nginx}]}
"""
DEPRECATED = "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"
DESCRIBE = "describe -f full"
FREED = '{"metadata":{"finalizers":null}}'
PATCHES = {
    "strategic": '{"metadata":{"labels":{"strategic":"yes"}}}',
    "merge": '{"metadata":{"labels":{"merged":"yes","strategic":null}}}',
    "json": '[{"op":"add","path":"/metadata/labels/json","value":"yes"},'
    '{"op":"remove","path":"/metadata/labels/merged"}]',
}
_FILE = re.compile(r"/\S+/invalid/\d+-\S+\.json")
_AGE = re.compile(r"\b\d+(d|h|m|y)(\d+[smhd])?\b *", re.MULTILINE)
OF_THE_SERVER = ("/registry/leases/kube-system/", "/registry/masterleases/")  # its Leases, which it renews
_TOKEN_VOLUME = re.compile(r"kube-api-access-\w{5}")
_REVISION = re.compile(r"(?<=Resource Version:)( +)\d+$", re.MULTILINE)


@dataclass(slots=True)
class Walked:
    """What was printed: for each kind, by command; and what was said of the invalid manifests."""

    served_kinds: set[tuple[str, str]] = field(default_factory=set)
    printed: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    refused: list[str] = field(default_factory=list)
    described_by_ours: dict[str, str] = field(default_factory=dict)
    written_again: list[str] = field(default_factory=list)  # the keys that a second server-side apply wrote

    def golden(self, kind: str) -> str:
        return "".join(f"$ {command}\n{text}\n" for command, text in self.printed[kind].items())


class Walk:
    """One walk from the beginning to the end."""

    def __init__(self, server: Served, folder: Path) -> None:
        self._server = server
        self._manifests = load()
        self._folder = folder
        self._kubeconfig = server.kubeconfig
        self._minimal, self._full = of_role(self._manifests, "minimal"), of_role(self._manifests, "full")
        self._stored = [*self._minimal, *self._full]
        self._resources: dict[tuple[str, str], str] = {}
        self.walked = Walked()

    async def __call__(self) -> Walked:
        await self._prepare()
        async with proxy(self._kubeconfig) as url, aiohttp.ClientSession(url) as http, Watches(http) as watches:
            for manifest in self._minimal:
                await watches.open(manifest, await self._path(manifest))
            await self._create()
            await self._read()
            await self._change()
            await self._delete(http)
            for kind, told in (await watches.told(self._stored)).items():
                self.walked.printed[kind]["kubectl get --watch"] = told
        await self._review()
        return self.walked

    # -- the steps

    async def _prepare(self) -> None:
        for role in ("minimal", "full", "invalid", "answered"):
            write(of_role(self._manifests, role), self._folder / role)
        changed = [Manifest(m.kind, m.role, _labelled(m.object, "again")) for m in self._full]
        write(changed, self._folder / "again")
        await self._say("apply -f -", stdin=STAGE)
        await self._say(f"config set-context --current --namespace={NAMESPACE}")
        table = await self._say("api-resources --no-headers")
        for line in table.stdout.splitlines():
            words = line.split()
            version, _, kind = words[-3:]
            group = version.rpartition("/")[0]
            self._resources[version, kind] = f"{words[0]}.{group}" if group else words[0]
        self.walked.served_kinds = set(self._resources)

    async def _create(self) -> None:
        await self._line("create --save-config -f minimal", self._minimal)
        await self._line("apply -f full", self._full)
        refused = await self._say(f"create -f {self._folder / 'invalid'}")
        self.walked.refused = _said(_FILE.sub("FILE", refused.stderr))
        await self._line("label -f minimal -f full walk=yes", self._stored)
        await self._line("annotate -f minimal walked=yes", self._minimal)

    async def _read(self) -> None:
        names = " ".join(f"apiservice/{m.name}" for m in self._stored if m.kind == "apiservice")
        await self._say(f"wait {names} --for=jsonpath={{.status.conditions[0].reason}}=ServiceNotFound --timeout=30s")
        await self._say("wait flowschema/minimal flowschema/full " + HAS_LEVEL)
        await self._tables("get KIND -l walk=yes")
        await self._tables("get KIND -l walk=yes -o wide --show-labels")
        listed = await self._say(self._command("get -f minimal -f full -o yaml"))
        items = re.split(r"^- ", listed.stdout.rpartition("\nkind: List\n")[0], flags=re.MULTILINE)[1:]
        self._keep("get -f minimal -f full -o yaml", self._stored, [f"- {item}" for item in items])
        described = await self._say(self._command(DESCRIBE))
        self._keep(DESCRIBE, self._full, _descriptions(described.stdout))
        mine = await ours(self._command(DESCRIBE), kubeconfig=self._kubeconfig, clock=self._server.world.clock)
        for manifest, text in zip(self._full, _descriptions(mine.stdout), strict=True):
            self.walked.described_by_ours[manifest.kind] = f"{_steady(text)}\n"

    async def _change(self) -> None:
        for kind, patch in PATCHES.items():
            await self._line(f"patch -f minimal --type={kind} -p '{patch}'", self._minimal)
        await self._line("apply -f full", self._full, note=" # again")
        await self._line("apply -f again", self._full)
        await self._read_to_replace()
        await self._line("replace -f read", self._minimal)
        await self._line("apply --server-side -f full --force-conflicts", self._full)

    async def _read_to_replace(self) -> None:
        """The minimal objects as they are, a label more: without what they were given some may not be written."""
        listed = json.loads((await self._say(self._command("get -f minimal -o json"))).stdout)
        objects = zip(self._minimal, listed["items"], strict=True)
        write([Manifest(m.kind, m.role, _labelled(item, "replaced")) for m, item in objects], self._folder / "read")

    async def _log(self, after: int) -> dict[str, Any]:
        """The newest revision, and what was written after one."""
        answer = await self._server.client.send("GET", "/debug/ktui/store/log", query={"after": [str(after)]})
        return dict(answer.body)

    async def _delete(self, http: aiohttp.ClientSession) -> None:
        await self._line("delete -f full --wait=false", self._full)
        await self._say(self._command(f"patch -f full --type=merge -p '{FREED}'"))
        await self._line("apply --server-side -f full", self._full)
        # A new Node is given a taint, and taints are owned as a whole: the second time takes it away.
        await self._say(self._command("apply --server-side -f full"))
        await self._say("wait flowschema/full " + HAS_LEVEL)
        before = (await self._log(0))["revision"]
        await self._line("apply --server-side -f full", self._full, note=" # again")
        keys = [entry["key"] for entry in (await self._log(before))["entries"]]
        self.walked.written_again = [key for key in keys if not key.startswith(OF_THE_SERVER)]
        await self._say(self._command("label -f minimal -f full walk=yes --overwrite"))
        for manifest in self._minimal:
            async with http.delete(await self._path(manifest), params={"labelSelector": "walk=yes"}) as answer:
                body = await answer.json()
            self.walked.printed[manifest.kind]["DELETE of the collection"] = _deleted(body)
        await self._say(self._command(f"patch -f minimal -f full --type=merge -p '{FREED}'"))
        for name in ("minimal", "full"):
            finalized = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}}
            await self._say(f"delete ns {name} --wait=false")
            await self._say(f"replace --raw /api/v1/namespaces/{name}/finalize -f -", stdin=json.dumps(finalized))

    async def _review(self) -> None:
        answered = of_role(self._manifests, "answered")
        await self._line("create -f answered", answered)
        reviews = [manifest for manifest in answered if manifest.kind != "binding"]
        write(reviews, self._folder / "reviews")
        told = await self._say(self._command("create -f reviews -o yaml"))
        self._keep("create -f reviews -o yaml", reviews, told.stdout.split("\n---\n"))

    # -- telling

    async def _say(self, argv: str, *, stdin: str = "") -> Printed:
        return await real(argv, kubeconfig=self._kubeconfig, stdin=stdin)

    def _command(self, command: str) -> str:
        return re.sub(r"(?<=-f )(\w+)", lambda match: str(self._folder / match[0]), command)

    async def _line(self, command: str, manifests: Sequence[Manifest], *, note: str = "") -> None:
        """A command that prints one line for each object."""
        printed = await self._say(self._command(command))
        said = printed.stderr.replace(str(self._folder), "FOLDER")
        assert printed.code == 0, f"kubectl {command}: {said}"
        self._keep(command + note, manifests, printed.stdout.splitlines())

    async def _tables(self, command: str) -> None:
        kinds = list(dict.fromkeys(manifest.type for manifest in self._minimal))
        of = {manifest.type: manifest for manifest in self._minimal}
        printed = await self._say(command.replace("KIND", ",".join(self._asked(kind) for kind in kinds)))
        assert (printed.code, printed.stderr) == (0, DEPRECATED), printed.stderr
        tables = _AGE.sub("AGE  ", normal(printed.stdout)).rstrip("\n").split("\n\n")
        self._keep(command, [of[kind] for kind in kinds], tables)

    def _asked(self, kind: tuple[str, str]) -> str:
        """`ingresses.v1.networking.k8s.io`: the version too, since some kinds have several."""
        (group, _, version), resource = kind[0].rpartition("/"), self._resource(kind)
        return f"{resource.partition('.')[0]}.{version}.{group}".rstrip(".") if group else resource

    def _resource(self, kind: tuple[str, str]) -> str:
        version, name = kind
        served = {"autoscaling/v1": "autoscaling/v2"}.get(version, version)
        return self._resources[served, name]

    async def _path(self, manifest: Manifest) -> str:
        version, _ = manifest.type
        plural = self._resource(manifest.type).partition(".")[0]
        root = "/apis" if "/" in version else "/api"
        resource = await self._server.client.send("GET", f"{root}/{version}")
        namespaced = next(r["namespaced"] for r in resource.body["resources"] if r["name"] == plural)
        return f"{root}/{version}/namespaces/{NAMESPACE}/{plural}" if namespaced else f"{root}/{version}/{plural}"

    def _keep(self, command: str, manifests: Sequence[Manifest], texts: Sequence[str]) -> None:
        assert len(manifests) == len(texts), f"kubectl {command}: {len(texts)} answers about {len(manifests)} objects"
        for manifest, text in zip(manifests, texts, strict=True):
            printed = self.walked.printed[manifest.kind]
            key = f"kubectl {command}"
            printed[key] = f"{printed.get(key, '')}{_steady(text)}\n"


class Watches:
    """A watch on each kind, and what it was told."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http
        self._tasks = Supervisor("watches")
        self._told: dict[str, list[str]] = defaultdict(list)
        self._news = asyncio.Event()

    async def __aenter__(self) -> Watches:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.close()

    async def open(self, manifest: Manifest, path: str) -> None:
        answer = await self._http.get(path, params={"watch": "true", "resourceVersion": "0"}, timeout=_PATIENT)
        assert answer.status == 200, await answer.text()
        self._tasks.spawn(self._follow(manifest.kind, answer), f"watch {manifest.kind}")

    async def _follow(self, kind: str, answer: aiohttp.ClientResponse) -> None:
        async with answer:
            async for line in answer.content:
                event = json.loads(line)
                self._told[kind].append(f"{event['type']} {event['object']['metadata']['name']}")
                self._news.set()

    async def told(self, manifests: Sequence[Manifest]) -> dict[str, str]:
        """The events of the manifests' objects, once the end of all has been told."""
        ends = {m.kind: {f"DELETED {other.name}" for other in manifests if other.kind == m.kind} for m in manifests}
        async with asyncio.timeout(30):
            while any(wanted - set(self._told[kind][self._recreated(kind, wanted) :]) for kind, wanted in ends.items()):
                self._news.clear()
                await self._news.wait()
        return {kind: self._story(kind, ends[kind]) for kind in ends}

    def _story(self, kind: str, ends: set[str]) -> str:
        """What became of each object; how often it was modified is not told, since the server writes some itself."""
        text = ""
        for name in sorted(end.partition(" ")[2] for end in ends):
            events = [event.partition(" ")[0] for event in self._told[kind] if event.partition(" ")[2] == name]
            text += f"{name}: {' '.join(event for event, _ in groupby(events))}\n"
        return text

    def _recreated(self, kind: str, wanted: set[str]) -> int:
        """The place of the last creation."""
        added = {f"ADDED {end.partition(' ')[2]}" for end in wanted}
        return max((n for n, event in enumerate(self._told[kind]) if event in added), default=0)


_PATIENT = aiohttp.ClientTimeout(total=None)


@asynccontextmanager
async def proxy(kubeconfig: str) -> AsyncIterator[str]:
    """`kubectl proxy` on a free port; yields its address."""
    process = await asyncio.create_subprocess_exec(
        binary(), "proxy", "--port=0", env={"KUBECONFIG": kubeconfig, "HOME": NO_HOME}, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        yield f"http://{line.rpartition(' ')[2].strip()}"
    finally:
        process.terminate()
        await process.wait()


def _labelled(obj: dict[str, Any], label: str) -> dict[str, Any]:
    labels = {**obj["metadata"].get("labels", {}), label: "yes"}
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def _said(text: str) -> list[str]:
    """What was said of each object: its first line, and those that belong to it."""
    return [said.rstrip() for said in re.split(r"^(?=Error from |error: )", text, flags=re.MULTILINE) if said]


def _descriptions(text: str) -> list[str]:
    return re.split(r"\n\n\n(?=Name:)", text)


def _deleted(body: dict[str, Any]) -> str:
    if body["kind"] == "Status":
        return f"{body['status']} {body.get('message', '')}".rstrip() + "\n"
    return f"{body['kind']}: {', '.join(sorted(item['metadata']['name'] for item in body['items']))}\n"


def _steady(text: str) -> str:
    return _REVISION.sub(r"\1N", _TOKEN_VOLUME.sub("kube-api-access-NAME", normal(text))).rstrip("\n")


async def walk() -> Walked:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "server").mkdir()
        async with served(folder / "server") as server:
            return await Walk(server, folder)()


def main() -> None:
    walked = asyncio.run(walk())
    GOLDEN.mkdir(exist_ok=True)
    for kind in walked.printed:
        (GOLDEN / f"{kind}.txt").write_text(walked.golden(kind))


if __name__ == "__main__":
    main()
