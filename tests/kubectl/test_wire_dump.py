"""`-v`: what goes over the wire is told as kubectl tells it, and no credential is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kubectl.oracle import NO_CONFIG, ours, real_with_log
from tests.kubectl.served import Served, served

_LINE = re.compile(r"^I(\d{4} \d\d:\d\d:\d\d\.\d{6}) +(\d+) ([a-z_]+\.go:\d+)\] ")
_TIMES = re.compile(r" [a-zA-Z]+illiseconds=\d+")
_SERVER = re.compile(r"https://127\.0\.0\.1:\d+")
# What differs by right: kubectl's name, how answers are packed, and what the server says of the moment.
_OTHER = re.compile(r"(User-Agent|Content-Length|Date|Accept-Encoding|Audit-Id)\b[^\n\"]*")


def _told(stderr: str) -> list[str]:
    """The lines about requests, without what is of the moment."""
    told: list[str] = []
    for line in stderr.splitlines():
        if match := _LINE.match(line):
            told.append(f"{match[3]} {line[match.end() :]}" if "round_trippers" in match[3] else "")
        elif told and told[-1]:
            told[-1] += f"\n{line}"
    text = "\n".join(told)
    return _OTHER.sub(r"\1", _SERVER.sub("SERVER", _TIMES.sub("", text))).split("\n")


async def _both(server: Served, argv: str) -> tuple[list[str], list[str]]:
    theirs = await real_with_log(argv, kubeconfig=server.kubeconfig)
    mine = await ours(argv, kubeconfig=server.kubeconfig)
    return _lines(theirs.stderr), _lines(mine.stderr)


def _lines(stderr: str) -> list[str]:
    """Without what kubectl's cache of answers notes among their headers."""
    return [line for line in _told(stderr) if line and "X-Varied" not in line]


@pytest.mark.parametrize("level", [6, 7, 8])
async def test_requests_are_told_as_kubectl_tells_them(level: int, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        theirs, mine = await _both(server, f"get cm -n kube-system -v={level}")
        assert theirs
        assert mine == theirs


@pytest.mark.parametrize("level", [3, 4, 6])
async def test_lower_levels_tell_of_files_and_of_what_was_refused(level: int, tmp_path: Path) -> None:
    """But for the features of client-go, which ours has not."""
    async with served(tmp_path) as server:
        for argv in ("get cm nope", "create ns default", "get cm nope,x -n kube-system", "apply -f - --dry-run=server"):
            theirs = await real_with_log(f"{argv} -v={level}", kubeconfig=server.kubeconfig, stdin=MANIFEST)
            mine = await ours(f"{argv} -v={level}", kubeconfig=server.kubeconfig, stdin=MANIFEST)
            assert _of_kubectl(mine.stderr) == _of_kubectl(theirs.stderr)


async def test_what_nobody_owns_anything_in_is_applied_with_one_request(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        argv = "apply -f - --server-side -v=6"
        theirs = await real_with_log(argv, kubeconfig=server.kubeconfig, stdin=MANIFEST)
        mine = await ours(argv, kubeconfig=server.kubeconfig, stdin=MANIFEST)
        assert theirs.stderr.count('verb="PATCH"') == mine.stderr.count('verb="PATCH"') == 1


MANIFEST = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"


def _of_kubectl(stderr: str) -> list[str]:
    """What is told of files, of refusals and of applying, and errors. A typed client has read a Status' kind away."""
    kept, keeps = [], True
    for line in stderr.splitlines():
        if match := _LINE.match(line):
            keeps = match[3].startswith(("helpers.go", "loader.go", "apply.go"))
            line = f"{match[3]} {line[match.end() :]}"
        elif not line.startswith((" ", "\t", "}")):
            keeps = True
        if keeps and line not in ('  "kind": "Status",', '  "apiVersion": "v1",'):
            kept.append(line)
    return kept


@pytest.mark.parametrize("level", [6, 7, 8, 9, 10])
async def test_a_token_is_never_told(level: int, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        printed = await ours(f"get ns default -v={level} --token=s3cret", kubeconfig=server.kubeconfig)
    assert "s3cret" not in printed.stderr
    assert ("Authorization: Bearer <masked>" in printed.stderr) == (level >= 7)


async def test_bodies_are_told_and_cut(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        printed = await ours("get --raw /apis -v=8", kubeconfig=server.kubeconfig)
        [body] = [line for line in printed.stderr.splitlines() if '"Response Body"' in line]
        assert re.search(r" \[truncated \d+ chars\]\"$", body)
        whole = await ours("get --raw /apis -v=10", kubeconfig=server.kubeconfig)
        assert "truncated" not in whole.stderr


async def test_a_client_in_this_process_is_told_of_too(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        printed = await ours("get ns default -v=6", client=server.client, kubeconfig=NO_CONFIG)
    assert 'verb="GET" url="/api/v1/namespaces/default" status="200 OK"' in printed.stderr
