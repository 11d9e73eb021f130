"""Images as volumes (KEP-4639; kubernetes.io's task on them)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.world import World
from tests.kubelet.node import Node, running

ARTIFACT = "quay.io/crio/artifact:v2"


async def run(node: Node, script: str, reference: str = ARTIFACT, **mount: Any) -> None:
    container = {"name": "shell", "image": "debian:12", "command": ["sh", "-c", f"{script}; sleep 1d"]}
    mounts = [{"name": "volume", "mountPath": "/volume", **mount}]
    volume = {"name": "volume", "image": {"reference": reference}}
    await node.run(containers=[{**container, "volumeMounts": mounts}], volumes=[volume])


@pytest.mark.parametrize(
    ("script", "mount", "printed"),
    [
        pytest.param("cat /volume/dir/file /volume/file", {}, ["1", "2"], id="as a whole"),
        pytest.param("cat /volume/file", {"subPath": "dir"}, ["1"], id="in part"),
        pytest.param("echo 3 > /volume/new", {}, ["sh: 1: cannot create /volume/new: Read-only file system"],
                     id="nothing is written"),
    ],
)  # fmt: skip
async def test_a_container_finds_what_is_in_it(
    world: World, script: str, mount: dict[str, Any], printed: list[str]
) -> None:
    async with running(world) as node:
        await run(node, script, **mount)
        await node.ready()
        assert node.logs("web") == printed
        pulled = [event.partition(" (")[0] for event in await node.events() if event.startswith("Pull")]
        assert pulled == [
            f'Pulling: Pulling image "{ARTIFACT}"',
            f'Pulled: Successfully pulled image "{ARTIFACT}" in 0s',
            'Pulling: Pulling image "debian:12"',
            'Pulled: Successfully pulled image "debian:12" in 0s',
        ]


async def test_a_container_waits_for_one_that_cannot_be_pulled(world: World) -> None:
    async with running(world) as node:
        await run(node, "true", "quay.io/crio/artifact:missing")
        assert "quay.io/crio/artifact:missing: not found" in (await node.waiting("ErrImagePull"))["message"]
        await node.waiting("ImagePullBackOff")
        assert not [event for event in await node.events() if "debian" in event]
