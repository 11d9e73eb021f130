"""Looking into Pods, nodes and the cluster: refused before anything is asked, in the words of kubectl 1.37."""

from __future__ import annotations

import io
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.kubectl.main import run
from tests.kubectl.served import Served, served

POD = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec:
  containers: [{name: c, image: nginx}, {name: d, image: busybox}]
  initContainers: [{name: i, image: busybox}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
"""
NO_SELECTOR = "*v1.ConfigMap: selector for *v1.ConfigMap not implemented"
REFUSED = {
    "logs of a container that is not there": (
        "logs lone -c nope",
        "error: container nope is not valid for pod lone out of: c, d, i (init)",
    ),
    "logs of all containers and of one": (
        "logs lone -c d --all-containers",
        "error: --all-containers=true should not be specified with container name d",
    ),
    "logs of less than no bytes": ("logs lone --limit-bytes=-1", "error: --limit-bytes must be greater than 0"),
    "logs of the future": ("logs lone --since=-1h", "error: --since must be greater than 0"),
    "logs since no time": (
        "logs lone --since-time=foo",
        'error: parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006"',
    ),
    "logs of what has no Pods": ("logs cm/settings", f"error: cannot get the logs from {NO_SELECTOR}"),
    "exec in what has no Pods": ("exec cm/settings -- ls", f"error: cannot attach to {NO_SELECTOR}"),
    "exec without the two dashes": (
        "exec lone ls",
        "error: exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead\n"
        "See 'kubectl exec -h' for help and examples",
    ),
    "debug with a part of a container that is not there": (
        "debug lone --image=x --custom=/nope",
        "error: must pass a container spec json file for custom profile: open /nope: no such file or directory",
    ),
    "debug that sets images of no copy": (
        "debug lone --set-image=a=b",
        "error: --set-image may only be used with --copy-to.",
    ),
    "debug that sets no image": (
        "debug lone --copy-to=d --set-image=a",
        'error: invalid argument "a" for "--set-image" flag: a must be formatted as key=value\n'
        "See 'kubectl debug --help' for usage.",
    ),
    "top in no order": ("top pods --sort-by=age", "error: --sort-by accepts only cpu or memory"),
    "top by name and label": ("top node a -l b=c", "error: only one of NAME or --selector can be provided"),
    "top of two": (
        "top node a b",
        "error: node [NAME | -l label]\nSee 'kubectl top node -h' for help and examples",
    ),
    "drain by a selector that is none": (
        "drain n --pod-selector=@",
        "error: --pod-selector=<pod_selector> must be a valid label selector",
    ),
    "reconcile on trial": (
        "auth reconcile -f - --dry-run=server",
        "error: --dry-run=server for command reconcile is not supported yet",
    ),
    "dump of names": (
        "cluster-info dump -o name",
        "error: list types are not supported by name printing: *v1.NodeList",
    ),
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def _say(server: Served, argv: str, *, stdin: str = "") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = await run(
        argv,
        client=server.client,
        stdin=io.StringIO(stdin),
        stdout=out,
        stderr=err,
        environment={},
        program="kubectl",
    )
    return code, out.getvalue(), err.getvalue()


async def test_what_is_refused(server: Served) -> None:
    code, _, err = await _say(server, "create -f -", stdin=POD)
    assert (code, err) == (0, "")
    different = {}
    for name, (argv, expected) in REFUSED.items():
        code, out, err = await _say(server, argv)
        if (code, out, err) != (1, "", f"{expected}\n"):
            different[name] = (code, out, err)
    assert not different


async def test_events_of_an_unknown_format_are_not_shown(server: Served) -> None:
    code, out, err = await _say(server, "events -o foo")
    assert (code, out) == (1, "")
    assert err.startswith('error: unable to match a printer suitable for the output format "foo"')


async def test_a_dump_has_a_file_for_each_list_and_each_pod(server: Served, tmp_path: Path) -> None:
    await _say(server, "create -f -", stdin=POD)
    folder = tmp_path / "dump"
    code, out, err = await _say(server, f"cluster-info dump --output-directory={folder} --namespaces=default")
    assert (code, out, err) == (0, f"Cluster info dumped to {folder}\n", "")
    lists = ("events", "replication-controllers", "services", "daemonsets", "deployments", "replicasets", "pods")
    expected = {"nodes.json", "default/lone/logs.txt", *(f"default/{name}.json" for name in lists)}
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == expected
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}, "nobody else reads what logs have of secrets"
    log = (folder / "default/lone/logs.txt").read_text()
    assert [line for line in log.splitlines() if line.startswith("====")] == [
        f"==== {edge} logs for container {name} of pod default/lone ====" for name in "icd" for edge in ("START", "END")
    ]


async def test_a_dump_of_nothing_in_particular_is_of_two_namespaces(server: Served) -> None:
    code, out, _ = await _say(server, "cluster-info dump -o jsonpath={.kind},")
    lists = ["Event", "ReplicationController", "Service", "DaemonSet", "Deployment", "ReplicaSet", "Pod"]
    assert (code, out) == (0, ",".join([f"{kind}List" for kind in ["Node", *lists, *lists]]) + ",")


RESIZED = """
apiVersion: v1
kind: Pod
metadata: {name: resized}
spec:
  nodeName: one
  containers:
  - {name: a, image: b, resources: {requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: 200m, memory: 300Mi}}}
  - {name: b, image: b, resources: {requests: {cpu: 100m}}}
"""
STATUS = (
    '{"status": {%s"containerStatuses": [{"name": "a", "image": "b", "imageID": "", "ready": true, "restartCount": 0,'
    ' "allocatedResources": {"cpu": "300m", "memory": "50Mi"}, "resources": {"requests": {"cpu": "200m",'
    ' "memory": "150Mi"}, "limits": {"cpu": "250m", "memory": "200Mi"}}}]}}'
)
INFEASIBLE = '"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}], '


@pytest.mark.parametrize(
    ("condition", "amounts"),
    [
        pytest.param("", ["400m", "250m", "150Mi", "300Mi"], id="the most of all figures"),
        pytest.param(INFEASIBLE, ["300m", "250m", "150Mi", "200Mi"], id="less what cannot be had"),
    ],
)
async def test_a_node_shows_what_resized_pods_hold(server: Served, condition: str, amounts: list[str]) -> None:
    account, node = POD.split("---")[0], "apiVersion: v1\nkind: Node\nmetadata: {name: one}\n"
    code, _, err = await _say(server, "create -f -", stdin=f"{account}---\n{node}---{RESIZED}")
    assert (code, err) == (0, "")
    code, _, err = await _say(server, f"patch pod resized --subresource=status -p '{STATUS % condition}'")
    assert (code, err) == (0, "")
    _, out, _ = await _say(server, "describe node one")
    [row] = [line.split() for line in out.splitlines() if " resized " in line]
    assert row[2:10:2] == amounts
    [total] = [line.split() for line in out.splitlines() if line.startswith("  cpu ")]
    assert (total[1], total[3]) == ("200m", "200m")  # the sums leave resizes out


async def test_columns_from_a_file_have_headers_in_any_case(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "columns"
    file.write_text("WHO\nmetadata.name\n")
    words = f"get ns default --no-headers -o custom-columns-file={file}"
    assert await _say(server, words) == (0, "WHO\ndefault\n", "")
    for text, missing in (("WHO\n", "spec"), ("", "header")):
        file.write_text(text)
        code, out, err = await _say(server, words)
        assert (code, out) == (1, "")
        assert err == (
            f"error: invalid template, missing {missing} line. Expected format is one line of space separated headers, "
            "one line of space separated column specs.\n"
        )


async def test_debug_tells_that_a_profile_is_old_and_takes_a_part_of_a_container_that_says_nothing(
    server: Served, tmp_path: Path
) -> None:
    assert (await _say(server, "create -f -", stdin=POD))[0] == 0
    nothing = tmp_path / "nothing.yaml"
    nothing.touch()
    code, out, err = await _say(server, f"debug lone --image=x -c d1 --profile=legacy --keep-labels --custom={nothing}")
    assert (code, out) == (0, "")
    assert err == (
        "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other "
        'profile, for example "--profile=general".\n'
    )


async def test_where_nothing_is_found_no_namespace_is_named_that_not_all_of_it_is_in(server: Served) -> None:
    assert await _say(server, "get pvc,sc") == (0, "", "No resources found\n")
    assert await _say(server, "get pvc,secrets") == (0, "", "No resources found in default namespace.\n")


async def test_logs_by_selector_are_the_last_ten_lines_unless_all_are_asked_for(server: Served) -> None:
    assert (await _say(server, "create -f -", stdin=POD))[0] == 0
    assert (await _say(server, "label pod lone a=b"))[0] == 0
    asked = {}
    for words in ("-l a=b", "-l a=b --tail=-1", "-l a=b --tail=3", "lone"):
        _, _, err = await _say(server, f"logs {words} -c c -v=6")
        [asked[words]] = [line.partition("?")[2] for line in err.splitlines() if "/lone/log?" in line]
    assert ["tailLines=10" in asked["-l a=b"], "tailLines=3" in asked["-l a=b --tail=3"]] == [True, True]
    assert ["tailLines" in asked["-l a=b --tail=-1"], "tailLines" in asked["lone"]] == [False, False]
