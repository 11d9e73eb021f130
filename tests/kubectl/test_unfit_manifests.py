"""Manifests of which something cannot be read or is not there: what is told of and when, as by kubectl 1.37."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.clock import Clock
from tests.kubectl.oracle import Printed, ours
from tests.kubectl.served import Served, served

ODD = """
apiVersion: foo.example.com/v1
kind: Bar
metadata: {name: b}
---
"""
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n---\n"
BROKEN = "a: [\n"
NAMELESS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n---\n"
ELSEWHERE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: other}\n---\n"
NESTED = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}
- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: l2}}]}
"""
UNMAPPED = (
    'resource mapping not found for name: "b" namespace: "" from "FILE": no matches for kind "Bar" in version '
    '"foo.example.com/v1"\nensure CRDs are installed first\n'
)
UNREAD = "error parsing FILE: error converting YAML to JSON: yaml: line 1: did not find expected node content\n"
UNKNOWN = (
    'unable to decode "FILE": no kind "Bar" is registered for version "foo.example.com/v1" in scheme '
    '"pkg/scheme/scheme.go:28"\n'
)
NOT_MINE = (
    'error: the namespace from the provided object "other" does not match the namespace "default". You must pass '
    "'--namespace=other' to perform this operation.\n"
)
EXISTS = 'Error from server (AlreadyExists): error when creating "FILE": configmaps "good" already exists\n'
NONE = 'Error from server (NotFound): configmaps "good" not found\n'
NO_NAMESPACE = 'Error from server (NotFound): namespaces "other" not found\n'
EMPTY_LIST = 'apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: ""\n'


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as made:
        yield made


async def _run(server: Served, argv: str, *, stdin: str = "") -> Printed:
    return await ours(argv, client=server.client, stdin=stdin, clock=server.world.clock)


# Nothing of these changes what is there. The words, the manifest, what stdout says, what stderr says.
ROWS: dict[str, tuple[str, str, str, str]] = {
    "one that cannot be mapped": ("create", ODD, "", f"error: {UNMAPPED}"),
    "two of them": ("create", ODD + ODD, "", UNMAPPED + UNMAPPED),
    "describe tells of it as of one among others": ("describe", ODD, "", UNMAPPED),
    "describe asks for the name": ("describe", NAMELESS, "", "error: resource name may not be empty\n"),
    "get of one file shows it or nothing": ("get -o yaml", ODD, "", f"error: {UNMAPPED}"),
    "get of one file with two": ("get -o yaml", ODD + ODD, "", UNMAPPED + UNMAPPED),
    "get goes in the order of the file": ("get", GOOD + BROKEN, "", NONE + UNREAD),
    "describe reads all before it looks": ("describe", GOOD + BROKEN, "", UNREAD + NONE),
    "label": ("label a=b", GOOD + BROKEN, "", NONE + UNREAD),
    "diff stops at the first": ("diff", ODD + ODD, "", f"error: {UNMAPPED}"),
    "and so does set-last-applied": ("apply set-last-applied", ODD + ODD, "", f"error: {UNMAPPED}"),
    "scale reads all": ("scale --replicas=1", ODD + ODD, "", UNMAPPED + UNMAPPED),
    "restart tells of it as of one among others": ("rollout restart", ODD, "", UNKNOWN),
    "no namespace is thought of for certificate requests": (
        "certificate deny",
        GOOD,
        "",
        'error: no namespace set on resource /v1, Resource=configmaps "good"\n',
    ),
    "get looks there first": ("get -n default", ELSEWHERE, "", NO_NAMESPACE),
    "label looks there first": ("label a=b -n default", ELSEWHERE, "", NO_NAMESPACE),
    "describe asks for the right namespace first": ("describe -n default", ELSEWHERE, "", NOT_MINE),
    "and so does delete": ("delete -n default", ELSEWHERE, "", NOT_MINE),
    "what need not be there is still one of several": ("delete --ignore-not-found", GOOD + ODD, "", UNMAPPED),
    "nothing is replaced where all cannot be": ("replace --force", GOOD + ODD, "", UNMAPPED),
    "set looks into lists within lists": (
        "set image c=d",
        NESTED,
        "",
        NONE.replace("good", "l1") + 'Error from server (NotFound): secrets "l2" not found\n',
    ),
    "get cannot look into them": (
        "get -o name",
        NESTED,
        "",
        "error: *unstructured.Unstructured is not a list: no Items field in this object\n",
    ),
    "what has no name is shown as it is in the file": (
        "get -o yaml",
        NAMELESS,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  namespace: default\n",
        "",
    ),
}


async def test_what_is_told_of_a_file(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "unfit.yaml"
    for name, (words, manifest, stdout, stderr) in ROWS.items():
        file.write_text(manifest)
        printed = await _run(server, f"{words} -f {file}")
        code = 0 if not stderr else 2 if words == "diff" else 1
        assert printed == Printed(code, stdout, stderr.replace("FILE", str(file))), name


async def test_what_could_not_be_created_is_told_of_before_what_could_not_be_read(
    server: Served, tmp_path: Path
) -> None:
    file = tmp_path / "unfit.yaml"
    file.write_text(ODD + GOOD + BROKEN)
    first = await _run(server, f"create -f {file}")
    assert first.stdout == "configmap/good created\n"
    assert first.stderr == (UNMAPPED + UNREAD).replace("FILE", str(file))
    second = await _run(server, f"create -f {file}")
    assert second.stderr == f"{EXISTS}[{UNMAPPED.strip()}, {UNREAD.strip()}]\n".replace("FILE", str(file))


async def test_several_are_deleted_before_the_first_is_replaced_by_force(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(GOOD + GOOD.replace("good", "fine"))
    await _run(server, f"create -f {file}")
    printed = await _run(server, f"replace --force -f {file}")
    assert printed.stdout.splitlines() == [
        'configmap "good" deleted from default namespace',
        'configmap "fine" deleted from default namespace',
        "configmap/good replaced",
        "configmap/fine replaced",
    ]


async def test_a_list_from_stdin_is_shown_though_nothing_of_it_is_there(server: Served) -> None:
    printed = await _run(server, "get -o yaml -f -", stdin=GOOD)
    assert printed == Printed(1, EMPTY_LIST, NONE)


async def test_a_namespace_that_is_not_there_is_what_is_missing(server: Served) -> None:
    for words in ("get pods x", "get pods x -o yaml", "label pods x a=b", "rollout status deploy/x"):
        assert await _run(server, f"{words} -n other") == Printed(1, "", NO_NAMESPACE), words


async def test_the_logs_of_a_pod_in_a_namespace_that_is_not_there(server: Served) -> None:
    said = 'error: error from server (NotFound): namespaces "other" not found in namespace "other"\n'
    assert await _run(server, "logs x -n other") == Printed(1, "", said)


async def test_nothing_at_all_is_shown_of_what_need_not_be_there(server: Served) -> None:
    for form in ("-o yaml", "-o name", "-o json"):
        assert await _run(server, f"get pods x y --ignore-not-found {form}") == Printed(0, "", ""), form


async def test_unknown_fields_are_told_of_in_the_order_of_json_from_go(server: Served) -> None:
    manifest = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, lables: {}}\ndta: {}\n"
    printed = await _run(server, "apply -f -", stdin=manifest)
    assert printed.stderr.endswith('strict decoding error: unknown field "dta", unknown field "metadata.lables"\n')


@pytest.fixture
async def site() -> AsyncIterator[TestServer]:
    """A web server with manifests; one of them is there at the second time only."""
    asked: list[str] = []

    async def good(request: web.Request) -> web.Response:
        return web.Response(text=GOOD)

    async def late(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=GOOD.replace("good", "late")) if len(asked) > 1 else web.Response(status=503)

    app = web.Application()
    app.router.add_get("/good.yaml", good)
    app.router.add_get("/late.yaml", late)
    made = TestServer(app)
    await made.start_server()
    try:
        yield made
    finally:
        await made.close()


async def test_manifests_are_read_from_urls(server: Served, site: TestServer) -> None:
    good, missing = site.make_url("/good.yaml"), site.make_url("/missing.yaml")
    assert (await _run(server, f"apply -f {good}")).stdout == "configmap/good created\n"
    assert (await _run(server, f"get -f {good} -o name")).stdout == "configmap/good\n"
    failed = await _run(server, f"apply -f {missing}")
    said = f'error: unable to read URL "{missing}", server reported 404 Not Found, status code=404\n'
    assert failed == Printed(1, "", said)


async def test_a_server_that_fails_is_asked_again(server: Served, site: TestServer) -> None:
    late = site.make_url("/late.yaml")
    clock = Clock(speed=1000)
    printed = await ours(f"apply -f {late}", client=server.client, clock=clock)
    assert printed.stdout == "configmap/late created\n"


async def test_a_url_that_nobody_answers(server: Served, site: TestServer) -> None:
    url = site.make_url("/good.yaml")
    await site.close()
    printed = await ours(f"apply -f {url}", client=server.client, clock=Clock(speed=1000))
    said = f"The connection to the server {url.authority} was refused - did you specify the right host or port?\n"
    assert printed == Printed(1, "", said)
