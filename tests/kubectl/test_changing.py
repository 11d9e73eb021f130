"""Commands that change objects, in the words of kubectl 1.37: what is only tried changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, PODS
from engine.clock import Clock
from tests.kubectl.oracle import Printed, ours
from tests.kubectl.served import Served, served

NODES = GVR("", "v1", "nodes")
OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {nodeName: node-1, containers: [{name: c, image: nginx}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
"""
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
MISSING = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nope}\n"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as made:
        assert (await _run(made, "create -f -", stdin=OBJECTS)).code == 0
        yield made


async def _run(server: Served, argv: str, *, stdin: str = "", editor: str = "") -> Printed:
    environment = {"PATH": "/usr/bin:/bin", **({"KUBE_EDITOR": editor} if editor else {})}
    return await ours(argv, client=server.client, stdin=stdin, clock=server.world.clock, environment=environment)


async def test_a_drain_that_the_server_only_tries_leaves_the_pods(server: Served) -> None:
    printed = await _run(server, "drain node-1 --force --dry-run=server")
    assert "evicting pod default/p (server dry run)\nnode/node-1 drained (server dry run)\n" in printed.stdout
    assert "deletionTimestamp" not in (await server.client.get(PODS, "p", namespace="default"))["metadata"]


async def test_replacing_by_force_tells_of_the_deletion_and_of_no_other(server: Served) -> None:
    printed = await _run(server, "replace --force -f -", stdin=SETTINGS)
    assert printed.stdout == 'configmap "settings" deleted from default namespace\nconfigmap/settings replaced\n'
    fresh = await _run(server, "replace --force -f -", stdin=SETTINGS.replace("settings", "fresh"))
    assert fresh.stdout == "configmap/fresh replaced\n"


async def test_what_is_edited_before_it_is_created_is_created_as_edited(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    file.write_text(SETTINGS.replace("settings", "edited") + "data: {a: b}\n")
    kept = await _run(server, f"create --edit -f {file}", editor="true")
    assert kept == (0, "", "Edit cancelled, no changes made.\n")
    with pytest.raises(ApiError):
        await server.client.get(CONFIGMAPS, "edited", namespace="default")
    changed = await _run(server, f"create --edit -f {file}", editor="sed -i 's/a: b/a: c/'")
    assert changed.stdout == "configmap/edited created\n"
    assert (await server.client.get(CONFIGMAPS, "edited", namespace="default"))["data"] == {"a": "c"}


REFUSED = {
    "an editor that is not there": ("edit cm settings", "nosuch -x", 'error: unable to launch the editor "nosuch -x"'),
    "an editor that fails": ("edit cm settings", "false", 'error: there was a problem with the editor "false"'),
    "an editor whose path leads nowhere": (
        "edit cm settings",
        "/nonexistent -x",
        'error: there was a problem with the editor "/nonexistent -x"',
    ),
    "an editor that is no program": ("edit cm settings", "/tmp", 'error: there was a problem with the editor "/tmp"'),
    "an editor in quotes that fails": (
        "edit cm settings",
        "'false'",
        "error: there was a problem with the editor \"/bin/bash -c 'false'\"",
    ),
    "editing in a format that cannot be": (
        "edit cm settings -o name",
        "true",
        'error: unable to match a printer suitable for the output format "name", allowed formats are: json,kyaml,yaml',
    ),
}


@pytest.mark.parametrize(("argv", "editor", "why"), REFUSED.values(), ids=REFUSED)
async def test_editing_that_is_refused(server: Served, argv: str, editor: str, why: str) -> None:
    assert await _run(server, argv, editor=editor) == (1, "", f"{why}\n")


async def test_what_one_object_lacks_keeps_set_from_changing_another(server: Served) -> None:
    printed = await _run(server, "set env pod/p pod/nope A=b --dry-run=client")
    assert printed == (1, "", 'Error from server (NotFound): pods "nope" not found\n')


NAMED_BY_FILE = {
    "expose": ("expose -f - --port=80 --dry-run=client", "service/nope exposed (dry run)\n"),
    "scale": ("scale -f - --replicas=2 --dry-run=client", "deployment.apps/nope scaled (dry run)\n"),
    "patch": ('patch -f - -p \'{"spec":{"paused":true}}\' --dry-run=client', "deployment.apps/nope patched\n"),
}


@pytest.mark.parametrize(("argv", "out"), NAMED_BY_FILE.values(), ids=NAMED_BY_FILE)
async def test_a_manifest_is_taken_as_it_stands(server: Served, argv: str, out: str) -> None:
    manifest = MISSING + "spec: {selector: {matchLabels: {a: b}}}\n"
    assert (await _run(server, shlex.join(shlex.split(argv)), stdin=manifest)).stdout == out


AMOUNTS = {
    "thousandths of a processor": ("--cpu=50", "averageValue: 50m"),
    "two processors": ("--cpu=2000", 'averageValue: "2"'),
    "half a thousandth": ("--cpu=0.5", "averageValue: 500u"),
    "with a sign": ("--cpu=+50", "averageValue: 50m"),
    "with a unit": ("--cpu=1.5k", 'averageValue: "1500"'),
    "a share": ("--cpu=80%", "averageUtilization: 80"),
    "mebibytes": ("--memory=500", "averageValue: 500Mi"),
    "gibibytes": ("--memory=2048", "averageValue: 2Gi"),
    "with a fraction": ("--memory=1.5", "averageValue: 1536Ki"),
    "with an exponent": ("--memory=1e3", "averageValue: 1000Mi"),
    "bytes with a unit": ("--memory=500M", "averageValue: 500M"),
}


async def test_numbers_without_a_unit_aim_at_thousandths_of_processors_and_mebibytes(server: Served) -> None:
    await _run(server, "create deployment web --image=nginx")
    for name, (flag, amount) in AMOUNTS.items():
        printed = await _run(server, f"autoscale deployment web --max=3 {flag} --dry-run=client -o yaml")
        assert f"        {amount}\n" in printed.stdout, name
    none = await _run(server, "autoscale deployment web --max=3 --cpu-percent=0 --dry-run=client -o yaml")
    assert "metrics:" not in none.stdout


async def test_nothing_to_delete_is_told_of_but_not_what_need_not_be_there(server: Served) -> None:
    assert await _run(server, "delete cm -l a=b --ignore-not-found") == Printed(0, "No resources found\n", "")
    assert await _run(server, "delete cm nope --ignore-not-found") == Printed(0, "", "")


async def test_of_a_variable_that_is_set_twice_the_first_counts(server: Served) -> None:
    made = await _run(server, "create deployment web --image=nginx")
    assert made.code == 0
    for words, listed in (
        ("A=1 A=2 B=3 A=4", "A=1\nB=3\n"),
        ("C=5 C=6 --overwrite=false", "A=1\nB=3\nC=5\n"),
        ("B- D=7", "A=1\nC=5\nD=7\n"),
    ):
        assert (await _run(server, f"set env deployment web {words}")).code == 0
        printed = await _run(server, "set env deployment web --list")
        assert printed.stdout == f"# Deployment web, container nginx\n{listed}"


async def test_a_restart_within_the_second_of_another_changes_nothing(server: Served) -> None:
    await _run(server, "create deployment web --image=nginx")
    clock = Clock(speed=0)
    words = "rollout restart deployment web"
    assert (await ours(words, client=server.client, clock=clock)).stdout == "deployment.apps/web restarted\n"
    again = await ours(words, client=server.client, clock=clock)
    assert again == Printed(
        1,
        "",
        "error: failed to create patch for web: if restart has already been triggered within the past second, please "
        "wait before attempting to trigger another\n",
    )


async def test_diff_takes_no_names(server: Served) -> None:
    said = "error: Unexpected args: [foo]\nSee 'kubectl diff -h' for help and examples\n"
    assert (await _run(server, "diff foo")).stderr == said
