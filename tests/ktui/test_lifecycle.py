"""`ktui up`, `down`, `status`, `reset` and `kubeconfig`, as processes of their own."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest

from engine.folder import Running
from ktui.commands import UsageError, lifecycle
from ktui.engine_process import UpOptions
from tests.engine_process import TIMEOUT, Home, Ran
from tests.ktui.here import runner


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    yield home
    if home.path.exists():
        for folder in home.path.iterdir():
            if home.folder(folder.name).find_running() is not None:
                home.stop(folder.name)


def foreground(home: Home, *options: str) -> subprocess.Popen[str]:
    """`ktui up` that this test ends, once it has said that it is up."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ktui", "up", *options],
        env=home.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def interrupted(home: Home, *words: str) -> int:
    """The exit code of a command that is ended by ctrl-C once it has printed a line."""
    with subprocess.Popen(
        [sys.executable, "-m", "ktui", *words], env=home.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(TIMEOUT)
        finally:
            process.kill()


def test_the_life_of_a_cluster(home: Home) -> None:
    assert home.ktui("status").code == 1
    running = home.up()
    status = json.loads(home.ktui("status", "-o", "json", check=True).out)
    assert {
        "name": "default",
        "running": True,
        "pid": running.pid,
        "address": running.address,
        "dataFolder": str(home.folder().path),
        "kubeconfig": str(home.folder().kubeconfig),
    }.items() <= status.items()
    assert (status["revision"] > 1, status["storeTrouble"]) == (True, "")
    assert status["versions"]["kubernetes"].startswith("v1.")
    assert stat.S_IMODE(home.folder().kubeconfig.stat().st_mode) == 0o600
    assert home.ktui("kubeconfig", check=True).out == home.folder().kubeconfig.read_text()
    assert home.kubectl("get", "--raw", "/readyz").ok() == "ok"
    assert (
        interrupted(home, "get", "namespaces", "default", "-w", "-o", "name") == 1
    )  # kubectl takes that for its own end

    second = home.ktui("up", "--port=0")
    assert (second.code, second.out) == (1, "")
    assert second.err.startswith(
        f"error: the cluster in {home.folder().path} is already running at {running.address} (pid {running.pid})\n"
    )
    assert (
        'To start it anew: "ktui down", then "ktui up". To have another beside it: "ktui up --name NAME".' in second.err
    )

    home.folder().running_file.write_bytes(b"{")
    refused = home.ktui("reset", "--yes")
    assert (refused.code, "stop it first" in refused.err) == (1, True)
    assert home.ktui("down", check=True).out == "cluster default is down\n"
    assert home.ktui("down").code == 1
    assert home.folder().store.exists()
    assert not home.folder().lock.exists()
    assert home.ktui("reset", "--yes", check=True).out == "cluster default is deleted\n"
    assert not home.folder().path.exists()


def test_a_detached_start_returns_when_the_nodes_can_take_pods(home: Home) -> None:
    started = home.ktui("up", "--detach", "--port=0", "--nodes=5", check=True)
    assert started.err == ""
    nodes = json.loads(home.kubectl("get", "nodes", "-o", "json").ok())["items"]
    ready = [c["status"] for node in nodes for c in node["status"]["conditions"] if c["type"] == "Ready"]
    assert (ready, [node["spec"].get("taints") for node in nodes]) == (["True"] * 5, [None] * 5)


def test_a_detached_start_of_what_runs_already_says_so_and_what_of_it_is_not_as_asked(home: Home) -> None:
    running = home.up("--nodes=1", "--kubernetes-version=1.36", "--ephemeral")
    port = running.address.rpartition(":")[2]
    told = (
        f"cluster default is already up: Kubernetes {running.kubernetes_version} at {running.address}\n"
        f"export KUBECONFIG={running.kubeconfig}\n"
    )
    as_it_is = ("--nodes=1", f"--port={port}", "--kubernetes-version=v1.36.0", "--ephemeral")
    for given in ((), ("--port=0",), as_it_is):
        assert home.ktui("up", "--detach", *given) == Ran(out=told, err="", code=0), given
    other = home.ktui("up", "-d", "--port=1", "--nodes=5", "--seed=x", "--kubernetes-version=1.37", "--profile=instant")
    assert (other.out, other.code) == (told, 0)
    assert other.err.splitlines() == [
        "warning: --nodes=5 was asked for, and it runs with 1",
        f"warning: --port=1 was asked for, and it runs with {port}",
        f"warning: --kubernetes-version=1.37 was asked for, and it runs with {running.kubernetes_version}",
        "warning: --seed=x was asked for, and it runs without that",
        'To start it anew: "ktui down", then this again.',
    ]


def test_a_detached_start_that_fails_says_so_as_any_other_does(home: Home) -> None:
    failed = home.ktui("up", "--detach", "--profile=nope")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "error: cannot read the latency profile nope: No such file or directory\n"


def test_what_a_detached_start_tells_before_it_fails_has_lines_of_its_own(home: Home) -> None:
    key = home.folder().pki / "sa.key"
    key.parent.mkdir(parents=True)
    key.write_text("junk")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        failed = home.ktui("up", "--detach", f"--port={port}")
    assert failed.err == (
        f"warning: {key} is no private key: making a new one\n"
        f"error: port {port} on 127.0.0.1 is in use: choose another with --port, or leave it out\n"
    )


def test_a_detached_start_does_not_wait_for_ever(home: Home) -> None:
    started = home.ktui("up", "--detach", "--port=0", "--nodes=5", "--wait=0.000001", check=True)
    assert started.err == "0 of 5 nodes are Ready after 1e-06 s: go on with 'kubectl get nodes --watch'\n"
    assert started.out.startswith("cluster default is up: ")


def test_a_detached_start_whose_store_takes_no_writes_is_an_error(home: Home) -> None:
    """A quota that the nodes do not fit in stands for a disk that gets full while they come up."""
    started = home.ktui("up", "--detach", "--port=0", "--nodes=50", "--wait=20", "--quota-backend-bytes=400000")
    assert started.code == 1
    assert started.out.startswith("cluster default is up: ")
    assert started.err.splitlines()[-1] == "error: cluster default takes no writes: NOSPACE"


def test_a_start_without_room_says_so_and_leaves_nothing(home: Home) -> None:
    """A limit on the size of files stands for a full disk: writing fails as it does there."""
    script = f"ulimit -f 1; exec {sys.executable} -m ktui up --port=0"
    ran = subprocess.run(["sh", "-c", script], env=home.environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        f"error: cannot write the data folder {home.folder().path}: File too large. "
        "Make room, or choose another with KTUI_HOME=FOLDER\n"
    )
    assert not home.folder().path.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_stops_it_in_order(home: Home, number: signal.Signals) -> None:
    process = foreground(home, "--port=0", "--ephemeral")
    process.send_signal(number)
    _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (0, "stopping\n")
    assert not home.folder().path.exists()  # ephemeral: nothing is kept


def test_the_next_free_port_is_taken_and_said(home: Home) -> None:
    first = foreground(home, "--ephemeral")
    second = foreground(home, "--ephemeral", "--name=second")
    try:
        one, two = (home.folder(name).find_running() for name in ("default", "second"))
        assert isinstance(one, Running)
        assert isinstance(two, Running)
        assert one.address != two.address
    finally:
        for process in (second, first):
            process.send_signal(signal.SIGTERM)
    said = second.communicate(timeout=TIMEOUT)[1]
    first.communicate(timeout=TIMEOUT)
    assert "is in use: serving on" in said


def test_a_taken_port_that_was_asked_for_is_an_error_and_leaves_nothing(home: Home) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = home.ktui("up", f"--port={port}")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (f"error: port {port} on 127.0.0.1 is in use: choose another with --port, or leave it out\n")
    assert not home.path.exists() or list(home.path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ["--components=schedular"],
            'error: --components: there is no component "schedular"; there are: '
            "apiserver, controllers, scheduler, kubelets, network\n",
            id="an unknown component",
        ),
        pytest.param(
            ["--kubernetes-version=1.2"], "error: no schemas for Kubernetes 1.2; there are: 1.25.0", id="version"
        ),
        pytest.param(
            ["--watch-cache-sizes=pods#5000,nodes"],
            "error: --watch-cache-sizes: invalid value of watch cache size: nodes; give resource#size",
            id="watch cache sizes",
        ),
        pytest.param(
            ["--store=etcd", "--quota-backend-bytes=5"],
            "error: --quota-backend-bytes is for the SQLite log: give it to etcd itself",
            id="quota of an etcd",
        ),
        pytest.param(
            ["--auto-compaction-retention=soon"],
            'error: --auto-compaction-retention: "soon" is no duration; give one as in 90m or 4h',
            id="compaction",
        ),
        pytest.param(
            ["--cors-allowed-origins=//localhost(:|$),example.com"],
            "error: --cors-allowed-origins has an invalid regular expression: regular expression does not pin to",
            id="origins",
        ),
        pytest.param(["--profile=slow"], "error: cannot read the latency profile slow: No such file", id="profile"),
    ],
)
def test_a_wrong_option_is_named(home: Home, options: list[str], message: str) -> None:
    ran = home.ktui("up", *options)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(message)
    assert not home.path.exists()


def test_no_option_is_suggested_that_help_does_not_show(home: Home) -> None:
    ran = home.ktui("up", "--nope")
    assert ran.code == 2
    assert "No such option: --nope (Possible options: --name, --nodes)" in ran.err


@pytest.mark.parametrize("name", ["../elsewhere", "", "Demo", "a/b", "-x"])
def test_a_name_that_is_none_is_refused(
    home: Home, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    here = runner(home, monkeypatch, capfd)
    refused = [here(*words, f"--name={name}") for words in (["status"], ["down"], ["reset", "--yes"], ["kubeconfig"])]
    # One that is not refused would not end: it has a process of its own.
    for ran in (*refused, home.ktui("up", "--port=0", f"--name={name}")):
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f'error: "{name}" cannot be the name of a cluster')


def test_only_the_chosen_components_run(home: Home) -> None:
    home.up("--components=apiserver", "--ephemeral")
    assert home.kubectl("get", "nodes").err == "No resources found\n"
    assert home.kubectl("get", "serviceaccounts").err == "No resources found in default namespace.\n"


def test_how_much_history_and_space_there_is_can_be_said(home: Home) -> None:
    options = ("--components=apiserver", "--quota-backend-bytes=400000", "--auto-compaction-retention=0")
    home.up(*options)
    kept = home.ktui("store", "get", "/", "--prefix", "--rev=2", "--keys-only", check=True)
    assert kept.out.startswith("/")
    filled = ("create", "configmap", "big", f"--from-literal=a={'x' * 120_000}", "-o", "name")
    home.kubectl(*filled).ok()
    refused = home.kubectl(*(word.replace("big", "more") for word in filled))
    for number in range(3):
        if refused.code:
            break
        refused = home.kubectl(*(word.replace("big", f"more-{number}") for word in filled))
    assert "etcdserver: mvcc: database space exceeded" in refused.err
    (alarm,) = home.ktui("store", "alarm", "list", check=True).out.splitlines()
    assert alarm.endswith(" alarm:NOSPACE ")
    assert home.ktui("store", "status", check=True).out.endswith(f", {alarm}\n")
    health = home.ktui("store", "endpoint", "health")
    assert health.err.endswith("failed to commit proposal: Active Alarm(s): NOSPACE \nError: unhealthy cluster\n")


def test_an_older_kubernetes_version(home: Home) -> None:
    home.up("--kubernetes-version=1.33", "--components=apiserver", "--ephemeral")
    assert json.loads(home.kubectl("version", "-o", "json").out)["serverVersion"]["gitVersion"] == "v1.33.0"


def test_commands_for_a_cluster_that_does_not_run(home: Home) -> None:
    for words in (["get", "pods"], ["trace", "deployment/web"]):
        ran = home.ktui(*words)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == ('error: no cluster "default" is running: start it with "ktui up --name default"\n')
    home.up("--components=apiserver", "--ephemeral")
    for words in (["--name=other", "get", "pods"], ["--name=other", "trace", "deployment/web"]):
        ran = home.ktui(*words)
        assert ran.err.endswith('start it with "ktui up --name other"; running: default\n')


@pytest.mark.parametrize("given", [["--name", "nosuch"], ["--name=nosuch"]])
def test_a_name_before_the_command_counts_for_it(home: Home, given: list[str]) -> None:
    for words in (["down"], ["reset", "--yes"], ["status"], ["kubeconfig"], ["store", "get", "/x"]):
        ran = home.ktui(*given, *words)
        assert ran.code == 1, words
        assert "nosuch" in ran.out + ran.err, words


def test_what_cannot_be_stopped_and_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KTUI_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r'^there is no cluster "nope"; there are none yet$'):
        lifecycle.down("nope")
    for name in ("demo", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "store.db").touch()
    (tmp_path / ".state").mkdir()
    with pytest.raises(UsageError, match=r'^there is no cluster "nope"; there are demo, second$'):
        lifecycle.down("nope")
    with pytest.raises(UsageError, match=r'^cluster "demo" is not running$'):
        lifecycle.down("demo")


def test_kill_9_loses_nothing_and_the_controllers_carry_on(home: Home) -> None:
    running = home.up()
    manifest = Path(__file__).parent.parent.parent / "samples" / "web.yaml"
    home.kubectl("apply", "-f", str(manifest)).ok()
    home.kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    before = json.loads(home.kubectl("get", "deploy,rs,pods,svc", "-o", "json").ok())["items"]
    token = home.kubectl("create", "token", "default").ok().strip()
    replica_set = next(item["metadata"]["name"] for item in before if item["kind"] == "ReplicaSet")
    told = json.loads(home.ktui("trace", f"replicaset/{replica_set}", "-o", "json", check=True).out)
    home.kill(running)

    again = home.up()
    assert again.pid != running.pid
    whoami = ("--kubeconfig=/dev/null", f"--server={again.address}", "--insecure-skip-tls-verify", f"--token={token}")
    assert "system:serviceaccount:default:default" in home.kubectl(*whoami, "auth", "whoami").ok()
    after = json.loads(home.kubectl("get", "deploy,rs,pods,svc", "-o", "json").ok())["items"]
    assert {item["metadata"]["uid"] for item in before} == {item["metadata"]["uid"] for item in after}
    home.kubectl("scale", "deployment/web", "--replicas=5").ok()
    home.kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    assert home.kubectl("get", "deploy", "web", "-o", "jsonpath={.status.readyReplicas}").ok() == "5"

    # The story that was told before the kill is told again, from the keystroke on. The newest of the Deployment is that
    # of the scaling, which a controller that was still reading the old state takes for a part of that.
    spans = json.loads(home.ktui("trace", f"replicaset/{replica_set}", "-o", "json", check=True).out)
    assert {
        "id",
        "parent",
        "hop",
        "lane",
        "component",
        "verb",
        "object",
        "revision",
        "wall_ms",
        "model_ms",
        "outcome",
    } <= set(spans[0])
    assert {span["hop"] for span in spans} >= {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
    assert {span["id"] for span in told} <= {span["id"] for span in spans}


def test_help_has_the_names_of_options_whole_in_a_narrow_terminal(home: Home) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "ktui", "up", "--help"],
        env={**home.environment, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    lines = ran.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for field in fields(UpOptions):
        name = f"--{field.name.replace('_', '-')}"
        assert any(line.lstrip().startswith((f"{name} ", f"-d, {name} ")) for line in lines), name


def test_help_names_the_commands_and_kubectls_words(home: Home) -> None:
    text = home.ktui("--help", check=True).out
    for word in ("up", "down", "status", "trace", "apply", "describe"):
        assert f" {word} " in text
