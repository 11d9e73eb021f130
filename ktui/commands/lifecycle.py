"""`ktui up`, `down`, `status`, `reset` and `kubeconfig`: the life of a cluster's process."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import typer

from engine.folder import ClusterFolder, ClusterRunningError, FolderError, Running, clusters
from ktui.commands import UsageError
from ktui.commands.suggesting import SuggestingCommand
from ktui.engine_process import UpOptions
from ktui.server_flags import with_server_flags

DEFAULT_NAME = "default"
STOP_SECONDS = 30.0  # a busy machine that ends 10,000 Pods may need half of them

Name = Annotated[str, typer.Option(help="The cluster's name.")]
Output = Annotated[Literal["", "json"], typer.Option("--output", "-o", help="json for machines.", show_default=False)]


def ktui_version() -> str:
    return version("ktui")


def declare(app: typer.Typer) -> None:
    app.command(cls=SuggestingCommand)(up)
    app.command()(down)
    app.command()(status)
    app.command()(reset)
    app.command()(kubeconfig)


@with_server_flags
def up(
    context: typer.Context,
    name: Name = DEFAULT_NAME,
    nodes: Annotated[int, typer.Option(min=0, help="How many simulated nodes.")] = 3,
    profile: Annotated[str, typer.Option(help="Latencies: instant, realistic, or a YAML file.")] = "instant",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0 for any. Default: 6443, or the next free one.")
    ] = None,
    components: Annotated[
        str,
        typer.Option(
            help="What runs: all, or a list of apiserver, controllers, scheduler, kubelets, network. -X: not X."
        ),
    ] = "all",
    kubernetes_version: Annotated[str, typer.Option(help="As in 1.33. Default: the newest there is.")] = "",
    seed: Annotated[str | None, typer.Option(help="Makes names, uids and latencies repeatable.")] = None,
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep nothing on disk.")] = False,
    watch_cache_sizes: Annotated[
        str, typer.Option(help="Events kept for watches that come back, as in pods#5000,deployments.apps#200.")
    ] = "",
    scheduler_config: Annotated[
        str, typer.Option(metavar="FILE", help="A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1).")
    ] = "",
    store: Annotated[
        Literal["sqlite", "etcd"], typer.Option(help="Where objects are kept: a SQLite log, or a real etcd.")
    ] = "sqlite",
    etcd_endpoints: Annotated[
        str, typer.Option(metavar="URLS", help="Of a real etcd. Default: http://127.0.0.1:2379.", show_default=False)
    ] = "",
    etcd_cafile: Annotated[str, typer.Option(metavar="FILE", help="CA of an etcd with https.")] = "",
    etcd_certfile: Annotated[str, typer.Option(metavar="FILE", help="Client certificate for it.")] = "",
    etcd_keyfile: Annotated[str, typer.Option(metavar="FILE", help="Key of that certificate.")] = "",
    etcd_members: Annotated[
        int, typer.Option(help="1, 3 or 5: members of a simulated quorum around the SQLite log.")
    ] = 1,
    auto_compaction_retention: Annotated[
        str, typer.Option(metavar="DURATION", help="How much history is kept, in model time. 0: all.")
    ] = "4h",
    auto_compaction_revisions: Annotated[
        int, typer.Option(min=0, help="Revisions that are kept whatever their age.")
    ] = 10_000,
    quota_backend_bytes: Annotated[
        int, typer.Option(min=1, help="The store's size at which it takes no more writes.")
    ] = 2 << 30,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return once the nodes are Ready.")] = False,
    wait: Annotated[
        float, typer.Option(min=0, help="With --detach: seconds to wait for the nodes; 0: only for the API.")
    ] = 10,
    announce: Annotated[bool, typer.Option("--announce", hidden=True)] = False,
    **server: str,
) -> None:
    """Start a cluster without a screen."""
    options = UpOptions(
        name=name,
        nodes=nodes,
        profile=profile,
        port=port,
        components=components,
        kubernetes_version=kubernetes_version,
        seed=seed,
        ephemeral=ephemeral,
        scheduler_config=scheduler_config,
        watch_cache_sizes=watch_cache_sizes,
        store=store,
        etcd_endpoints=etcd_endpoints,
        etcd_cafile=etcd_cafile,
        etcd_certfile=etcd_certfile,
        etcd_keyfile=etcd_keyfile,
        etcd_members=etcd_members,
        auto_compaction_retention=auto_compaction_retention,
        auto_compaction_revisions=auto_compaction_revisions,
        quota_backend_bytes=quota_backend_bytes,
        **server,
    )
    if detach:
        from ktui.commands.detached import start

        given = [field for field in asdict(options) if _is_given(context, field)]
        start(options, given, wait)
        return
    from ktui.commands.up import run

    raise typer.Exit(run(options, announce=announce))


def _is_given(context: typer.Context, option: str) -> bool:
    """Whether a person has said it, rather than the default."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def tell_running(running: Running, *, is_new: bool = True) -> None:
    """The lines that say that a cluster is up, and how to reach it."""
    is_up = "up" if is_new else "already up"
    print(f"cluster {running.name} is {is_up}: Kubernetes {running.kubernetes_version} at {running.address}")
    print(f"export KUBECONFIG={running.kubeconfig}")
    sys.stdout.flush()


def find(name: str) -> Running:
    """The running cluster of a name. Raises UsageError if there is none."""
    running = ClusterFolder.named(name).find_running()
    if running is None:
        others = ", ".join(folder.path.name for folder in clusters() if folder.find_running())
        hint = f"; running: {others}" if others else ""
        raise UsageError(f'no cluster "{name}" is running: start it with "ktui up --name {name}"{hint}')
    return running


def _not_running(name: str) -> str:
    """That there is no such cluster, and which there are; or only that it does not run."""
    folders = clusters()
    if any(folder.path.name == name for folder in folders):
        return f'cluster "{name}" is not running'
    names = [f"{folder.path.name}{' (running)' if folder.find_running() else ''}" for folder in folders]
    there_are = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "there are none yet"
    return f'there is no cluster "{name}"; {there_are}'


def down(name: Name = DEFAULT_NAME) -> None:
    """Stop a cluster; what it keeps stays."""
    running = ClusterFolder.named(name).find_running()
    if running is None:
        raise UsageError(_not_running(name))
    try:
        os.kill(running.pid, signal.SIGTERM)
    except PermissionError:
        raise UsageError(f"process {running.pid} of cluster {name} belongs to another user") from None
    if not _gone(ClusterFolder.named(name)):
        raise UsageError(
            f"process {running.pid} of cluster {name} did not stop in {STOP_SECONDS:.0f} s: wait for it, "
            f"or end it with 'kill -9 {running.pid}'; what was answered is on disk"
        )
    print(f"cluster {name} is down")


def _gone(folder: ClusterFolder) -> bool:
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline:
        if folder.find_running() is None:
            return True
        time.sleep(0.02)
    return False


def status(name: Name = DEFAULT_NAME, output: Output = "") -> None:
    """Say whether a cluster runs, and where."""
    running = ClusterFolder.named(name).find_running()
    if running is None:
        if output == "json":
            print(json.dumps({"name": name, "running": False}))
        else:
            print(_not_running(name), file=sys.stderr)
        raise typer.Exit(1)
    from ktui.connect import ask, fetch
    from ktui.nodes_ready import trouble

    kubeconfig = Path(running.kubeconfig)
    inside = fetch(kubeconfig, "/debug/ktui/status")
    refusing = ask(kubeconfig, trouble)
    facts = {
        "name": running.name,
        "running": True,
        "pid": running.pid,
        "address": running.address,
        "dataFolder": running.data_folder,
        "kubeconfig": running.kubeconfig,
        "revision": inside["revision"],
        "versions": {"ktui": running.ktui_version, "kubernetes": running.kubernetes_version},
        "profile": inside["profile"],
        "clock": inside["clock"],
        "storeTrouble": refusing,
    }
    if output == "json":
        print(json.dumps(facts, indent=2))
        return
    rows = {
        "cluster": running.name,
        "address": running.address,
        "pid": running.pid,
        "revision": facts["revision"],
        "kubernetes": running.kubernetes_version,
        "ktui": running.ktui_version,
        "latencies": inside["profile"],
        "clock": f"{inside['clock']['mode']} {inside['clock']['speed']}×",
        "data folder": running.data_folder,
        "kubeconfig": running.kubeconfig,
        **({"writes fail": refusing} if refusing else {}),
    }
    for title, value in rows.items():
        print(f"{title + ':':<13}{value}")


def reset(
    name: Name = DEFAULT_NAME, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a cluster and all that it keeps."""
    folder = ClusterFolder.named(name)
    if folder.find_running() is not None:
        raise UsageError(f'cluster "{name}" is running: stop it first with "ktui down --name {name}"')
    if not folder.path.exists():
        raise UsageError(f'there is no cluster "{name}" in {folder.path.parent}')
    if not yes:
        typer.confirm(f"Delete cluster {name} with all its objects, history and certificates?", abort=True)
    try:
        with folder.hold():
            pass
        folder.remove()
    except (ClusterRunningError, FolderError, OSError) as error:
        raise UsageError(f"cannot delete {folder.path}: {error}") from error
    print(f"cluster {name} is deleted")


def kubeconfig(
    name: Name = DEFAULT_NAME,
    path: Annotated[bool, typer.Option("--path", help="Print where the file is instead.")] = False,
) -> None:
    """Print a cluster's admin kubeconfig."""
    file = ClusterFolder.named(name).kubeconfig
    if not file.exists():
        raise UsageError(f'cluster "{name}" has no kubeconfig yet: start it with "ktui up --name {name}"')
    sys.stdout.write(f"{file}\n" if path else file.read_text())
