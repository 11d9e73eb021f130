"""`run` as the screen and the command line use it: in process, traced, watching, and with bad input."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.api.wire import ClientCertificate
from engine.client import Client, InProcessTransport
from engine.kubectl.discovery import Discovery
from engine.kubectl.main import run
from engine.tasks import Supervisor
from engine.trace import Hop
from tests.kubectl.served import Served, served

SAMPLE = str(Path(__file__).parents[2] / "samples" / "web.yaml")
POD = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"}}'


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def _say(
    client: Client, argv: str, *, stdin: str = "", discovery: Discovery | None = None, program: str = "ktui"
) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = await run(
        argv,
        client=client,
        stdin=io.StringIO(stdin),
        stdout=out,
        stderr=err,
        discovery=discovery,
        environment={},
        program=program,
    )
    return code, out.getvalue(), err.getvalue()


async def test_a_command_is_a_hop_whose_requests_carry_on_its_trace(server: Served) -> None:
    out, err = io.StringIO(), io.StringIO()
    argv = ["apply", "-f", SAMPLE]
    code = await run(argv, client=server.client, stdout=out, stderr=err, world=server.world, environment={})
    assert (code, out.getvalue()) == (0, "deployment.apps/web created\nservice/web created\n")
    spans = [span for span in server.world.tracer.recent if span.hop is Hop.CLIENT and span.component == "kubectl"]
    [hop] = [span for span in spans if span.verb == "apply"]
    assert hop.object == "deployment/default/web"
    stores = [span for span in server.world.tracer.recent if span.hop is Hop.STORE and span.revision]
    assert any(span.trace_id == hop.trace_id for span in stores)


async def test_every_document_of_a_stream_is_reported(server: Served) -> None:
    stream = f"{POD % 'a'}\n---\napiVersion: v1\nkind: Nope\nmetadata: {{name: x}}\n---\n{POD % 'b'}\n---\na: b: c\n"
    code, out, err = await _say(server.client, "apply -f -", stdin="---\n" + stream, program="kubectl")
    assert code == 1
    assert out == "configmap/a created\nconfigmap/b created\n"
    assert err.splitlines() == [
        'resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Nope" '
        'in version "v1"',
        "ensure CRDs are installed first",
        "error parsing STDIN: error converting YAML to JSON: yaml: mapping values are not allowed in this context",
    ]


async def test_ktui_adds_the_place_in_the_file_to_kubectls_words(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\n---\na: b\nb: c: d\n")
    _, _, err = await _say(server.client, f"apply -f {file} --validate=false")
    assert f"mapping values are not allowed in this context ({file}:5:5)\n" in err


WATCHED = {
    "a table": ("get cm -w", ["NAME", "late"]),
    "a table with events": ("get cm -w --output-watch-events", ["EVENT", "ADDED"]),
    "names": ("get cm -w -o name", ["configmap/late"]),
    "columns": ("get cm -w -o custom-columns=A:.metadata.name", ["A", "late"]),
    "events as they are": (
        "get cm -w -o json --output-watch-events",
        ['{"type":"ADDED","object":{"apiVersion"'],
    ),
}


@pytest.mark.parametrize(("argv", "starts"), WATCHED.values(), ids=WATCHED)
async def test_a_watch_goes_on_with_what_changes(server: Served, argv: str, starts: list[str]) -> None:
    """It begins where there is nothing yet."""
    out, err = io.StringIO(), io.StringIO()
    watching = asyncio.get_running_loop().create_future()

    class Stream(io.StringIO):
        def flush(self) -> None:
            if "late" in self.getvalue() and not watching.done():
                watching.set_result(None)

    out = Stream()
    tasks = Supervisor("test")
    tasks.spawn(
        run(argv, client=server.client, stdout=out, stderr=err, environment={}, namespace="kube-public"), "watch"
    )
    late = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late","namespace":"kube-public"}}'
    async with asyncio.timeout(60):
        code, _, _ = await _say(server.client, "create -f - -n kube-public", stdin=late)
        assert code == 0
        await watching
    await tasks.close()
    lines = out.getvalue().splitlines()
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=False)] == starts


EVENT = """
apiVersion: v1
kind: Event
metadata: {name: %s, namespace: default}
involvedObject: {kind: Pod, name: %s, namespace: default}
reason: Seen
message: hi
type: %s
lastTimestamp: "%s"
"""
EVENTS = "---".join(
    EVENT % row
    for row in (
        ("e2", "lone", "Normal", "2026-11-27T22:00:00Z"),
        ("e1", "a-longer-name", "Warning", "2026-11-27T23:00:00Z"),
        ("e3", "b", "Warning", "2026-11-27T21:00:00Z"),
    )
)
EVENT_WATCHES = {
    "rows": (
        "events -w",
        [
            "LAST SEEN TYPE REASON OBJECT MESSAGE",
            "<unknown> Warning Seen Pod/a-longer-name hi",
            "<unknown> Normal Seen Pod/lone hi",
            "<unknown> Warning Seen Pod/b hi",
        ],
    ),
    "rows of a type": (
        "events -w --types=Warning --no-headers",
        ["<unknown> Warning Seen Pod/a-longer-name hi", "<unknown> Warning Seen Pod/b hi"],
    ),
    "names": ("events -w -o name", ["event/e1", "event/e2", "event/e3"]),
    "one by one": ("events -w -o jsonpath='{.metadata.name}|'", ["e1|e2|e3|"]),
}


@pytest.mark.parametrize(("argv", "lines"), EVENT_WATCHES.values(), ids=EVENT_WATCHES)
async def test_a_watch_of_events_begins_with_those_that_there_are_as_they_come(
    server: Served, argv: str, lines: list[str]
) -> None:
    """Not in the order of their times, as kubectl lists nothing before it watches."""
    shown = asyncio.get_running_loop().create_future()

    class Stream(io.StringIO):
        def flush(self) -> None:
            if [" ".join(line.split()) for line in self.getvalue().splitlines()] == lines and not shown.done():
                shown.set_result(None)

    assert (await _say(server.client, "create -f -", stdin=EVENTS))[0] == 0
    tasks = Supervisor("test")
    tasks.spawn(run(argv, client=server.client, stdout=Stream(), stderr=io.StringIO(), environment={}), "watch")
    async with asyncio.timeout(60):
        await shown
    await tasks.close()


async def test_several_objects_cannot_be_watched_by_name(server: Served) -> None:
    for name in ("one", "two"):
        await _say(server.client, "create -f -", stdin=POD % name)
    code, out, err = await _say(server.client, "get cm one two -w -o name")
    assert (code, out) == (1, "")
    assert err == "error: you may only watch a single resource or type of resource at a time\n"


async def test_one_discovery_serves_several_commands_and_learns_of_nothing_twice(server: Served) -> None:
    discovery = Discovery()
    for _ in range(2):
        code, out, _ = await _say(server.client, "get ns default -o name", discovery=discovery)
        assert (code, out) == (0, "namespace/default\n")
    asked = [span for span in server.world.tracer.recent if span.hop is Hop.CLIENT]
    assert len(asked) == 4  # /api, /apis, and the namespace twice


async def test_a_person_without_rights_gets_the_servers_403(server: Served) -> None:
    nobody = Client(InProcessTransport(server.server, ClientCertificate("bob")), user_agent="kubectl/test")
    code, _, err = await _say(nobody, "delete ns default")
    assert code == 1
    assert err == (
        'Error from server (Forbidden): namespaces "default" is forbidden: User "bob" cannot delete resource '
        '"namespaces" in API group "" in the namespace "default"\n'
    )


async def test_help_names_the_program(server: Served) -> None:
    code, out, _ = await _say(server.client, "scale --help")
    assert code == 0
    assert "\n  ktui scale [--resource-version=version] [--current-replicas=count] --replicas=COUNT " in out
