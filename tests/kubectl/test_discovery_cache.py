"""What a server can do is kept on disk: where kubectl keeps it, as kubectl keeps it, for ten minutes."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from engine.kubectl.discovery_cache import LIFE_SECONDS
from tests.kubectl.oracle import Printed, ours, real
from tests.kubectl.served import Served, served

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  names: {kind: Lamp, plural: lamps}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


def _asked(server: Served) -> int:
    """How often the server has been asked what it can do."""
    paths = [(span.detail or {}).get("path") for span in server.world.tracer.recent]
    return sum(path == "/apis" for path in paths)


async def _get(server: Served, home: Path, argv: str = "get ns default -o name") -> Printed:
    return await ours(argv, kubeconfig=server.kubeconfig, environment={"HOME": str(home)})


def _files(home: Path) -> dict[str, object]:
    [host] = (home / ".kube/cache/discovery").iterdir()
    return {str(path.relative_to(host)): orjson.loads(path.read_bytes()) for path in host.rglob("*.json")}


async def test_it_is_what_kubectl_keeps(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await _get(server, tmp_path / "ours")
        await real("get ns default", kubeconfig=server.kubeconfig, environment={"HOME": str(tmp_path / "theirs")})
        await real("api-resources", kubeconfig=server.kubeconfig, environment={"HOME": str(tmp_path / "theirs")})
    mine, theirs = _files(tmp_path / "ours"), _files(tmp_path / "theirs")
    assert mine == theirs
    assert {path.name for path in (tmp_path / "ours/.kube/cache/discovery").iterdir()} == {
        path.name for path in (tmp_path / "theirs/.kube/cache/discovery").iterdir()
    }


async def test_it_is_asked_once_in_ten_minutes(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        for _ in range(3):
            assert (await _get(server, tmp_path)).stdout == "namespace/default\n"
        assert _asked(server) == 1
        for file in (tmp_path / ".kube/cache").rglob("*.json"):
            old = file.stat().st_mtime - LIFE_SECONDS - 1
            os.utime(file, (old, old))
        await _get(server, tmp_path)
        assert _asked(server) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"[]"])
async def test_a_damaged_file_is_read_anew(damage: bytes, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await _get(server, tmp_path)
        [groups] = (tmp_path / ".kube/cache").rglob("servergroups.json")
        groups.write_bytes(damage)
        assert (await _get(server, tmp_path)).stdout == "namespace/default\n"
        assert orjson.loads(groups.read_bytes())["kind"] == "APIGroupList"


async def test_a_new_kind_is_found_though_the_cache_does_not_know_it(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await _get(server, tmp_path)
        created = await ours(
            "create -f -", kubeconfig=server.kubeconfig, stdin=CRD, environment={"HOME": str(tmp_path)}
        )
        assert created.code == 0, created
        await _get(server, tmp_path, "wait crd/lamps.example.com --for=condition=Established --timeout=10s")
        assert (await _get(server, tmp_path, "get lamps")).stderr == "No resources found in default namespace.\n"


async def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / ".kube").write_text("no folder")
    async with served(tmp_path) as server:
        assert (await _get(server, tmp_path)).stdout == "namespace/default\n"
