"""One process that serves a cluster: the life of `ktui up`.

Holds the cluster's folder, makes its certificates and kubeconfig, finds a port, says where it serves, and stops in
order on SIGINT or SIGTERM. A start that fails leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from engine.client import kubeconfig
from engine.client.connection import KubeConfigError
from engine.client.kubeconfig import KubeConfig, document_for
from engine.clock import Clock
from engine.cluster import Cluster, load_components
from engine.config import ClusterConfig
from engine.folder import HOME_VARIABLE, ClusterFolder, Running
from engine.kept_time import KeptTime
from engine.pki import ClusterPki, overlap
from engine.tasks import Supervisor

DEFAULT_PORT = 6443
PORTS_TRIED = 100
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_OVERLAP = (
    "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; "
    "--requestheader-allowed-names must be specified to ensure regular client certificates cannot set "
    "authenticating proxy headers for arbitrary users"
)
# What the server's certificate is good for, as kubeadm's is (the last is the first address of the service range).
SERVER_HOSTS = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.0.0.1",
    "::1",
    "10.96.0.1",
)


class ServeError(Exception):
    """The cluster could not be served; the message says why and what to do."""


async def serve(
    config: ClusterConfig,
    folder: ClusterFolder,
    *,
    port: int | None,
    ready: Callable[[Running], None],
    say: Callable[[str], None],
    asked: Sequence[str] = (),
) -> None:
    """Run the cluster until a signal ends it.

    `port` None takes the folder's last port or 6443, or the next free one; 0 takes any; another number that one alone.
    `ready` is called once when the API answers, `say` with what a person should know; `asked` are
    the options it was started with, for who starts it again. Raises FolderError, ServeError, StoreError.
    """
    kept = folder.has_store()
    with folder.hold() as hold:

        def now_ready(running: Running) -> None:
            hold.started()
            ready(running)

        try:
            await _serve_held(config, folder, port=port, ready=now_ready, say=say, asked=asked)
        except OSError as error:
            raise _unusable(folder, error) from error
        finally:
            if config.data_folder is None and not kept:
                folder.remove()


def _unusable(folder: ClusterFolder, error: OSError) -> Exception:
    """What a person can do about an error of the operating system; one that has to do with no data folder as it is."""
    if error.errno in _NO_ROOM:
        return ServeError(
            f"cannot write the data folder {folder.path}: {error.strerror}. "
            f"Make room, or choose another with {HOME_VARIABLE}=FOLDER"
        )
    files = [str(file) for file in (error.filename2, error.filename) if file is not None]
    if not any(Path(file).is_relative_to(folder.path) for file in files):
        return error
    return ServeError(
        f"cannot use {files[0]}: {error.strerror}. Set it aside, or choose another data folder with "
        f"{HOME_VARIABLE}=FOLDER"
    )


async def _serve_held(
    config: ClusterConfig,
    folder: ClusterFolder,
    *,
    port: int | None,
    ready: Callable[[Running], None],
    say: Callable[[str], None],
    asked: Sequence[str] = (),
) -> None:
    stop = asyncio.Event()
    with _signals(stop):
        pki = ClusterPki.prepare(folder.pki, [*SERVER_HOSTS, config.host], Clock().now().astimezone(UTC))
        config = config.model_copy(update=_certified(config, pki))
        kept_time = KeptTime(folder.time)
        clock = kept_time.clock()
        cluster = Cluster(config, clock=clock, service_account_key=pki.service_account_key)
        tasks = Supervisor("time")
        try:
            if is_new := not (folder.pki.exists() or folder.has_store()):
                pki.write(folder.pki)  # which tells best that there is no room
            await cluster.start_api_server()
            if not is_new:  # only now: a folder whose store is damaged stays as it was
                for note in pki.notes:
                    say(f"warning: {note}")
                pki.write(folder.pki)
            tasks.spawn(kept_time.keep(clock), "keeper")
            await _listen(cluster, pki, folder, port=port, say=say)
            _write_kubeconfig(folder, cluster, pki)
            running = describe(cluster, folder, asked)
            folder.write_running(running)
            ready(running)
            # The API answers while the components are still being loaded.
            await asyncio.to_thread(load_components)
            await cluster.start_components()
            await stop.wait()
            say("stopping")
        finally:
            await tasks.close()
            await cluster.stop()
            kept_time.note(clock)


def _certified(config: ClusterConfig, pki: ClusterPki) -> dict[str, Any]:
    """What of a configuration is the cluster's certificates, and those that stand in files in their place. Raises
    ServeError where every client would be a proxy."""
    ca, front = pki.authority.pair, pki.front_proxy
    headers, files = config.request_headers, (config.proxy_client_cert_file, config.proxy_client_key_file)
    if headers.client_ca_file is None:
        headers = headers.model_copy(update={"client_ca": pki.front_proxy_authority.pair.certificate.decode()})
    if not headers.allowed_names and overlap(headers.client_ca.encode(), ca.certificate):
        raise ServeError(_OVERLAP)
    own = front.certificate.decode(), front.key.decode()
    certificate, key = (file.read_text() if file is not None else mine for file, mine in zip(files, own, strict=True))
    return {
        "root_ca": ca.certificate.decode(),
        "signing_key": SecretStr(ca.key.decode()),
        "request_headers": headers,
        "proxy_client": (certificate, SecretStr(key)),
    }


@contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _listen(
    cluster: Cluster, pki: ClusterPki, folder: ClusterFolder, *, port: int | None, say: Callable[[str], None]
) -> None:
    """Serve on the first port that is free."""
    proxies = cluster.config.request_headers.client_ca
    context = pki.server_context(folder.pki, proxies=proxies.encode())
    first = _last_port(folder, cluster) or DEFAULT_PORT
    candidates = range(first, min(first + PORTS_TRIED, 65536)) if port is None else (port,)
    for candidate in candidates:
        try:
            await cluster.serve(context, port=candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ServeError(f"cannot listen on {cluster.config.host}:{candidate}: {error.strerror}") from error
            if port is not None:
                raise ServeError(
                    f"port {port} on {cluster.config.host} is in use: choose another with --port, or leave it out"
                ) from error
            continue
        if candidate != first and port is None:
            say(f"port {first} is in use: serving on {candidate}")
        return
    raise ServeError(f"no free port from {first} to {first + PORTS_TRIED - 1}: choose one with --port, or --port 0")


def _last_port(folder: ClusterFolder, cluster: Cluster) -> int | None:
    """The port that the folder's kubeconfig names, so that copies of it stay good over a restart."""
    try:
        found = KubeConfig.merge([folder.kubeconfig]).clusters.get(_entry(cluster)) or {}
        server: str = found.get("server", "")
        return urlsplit(server).port
    except (KubeConfigError, ValueError):
        return None


def _entry(cluster: Cluster) -> str:
    """The name of the cluster in kubeconfigs."""
    return f"ktui-{cluster.config.name}"


def _write_kubeconfig(folder: ClusterFolder, cluster: Cluster, pki: ClusterPki) -> None:
    document = document_for(
        name=_entry(cluster),
        server=cluster.address,
        ca=pki.authority.pair.certificate,
        certificate=pki.admin.certificate,
        key=pki.admin.key,
    )
    with suppress(KubeConfigError):  # one that cannot be read has nothing to keep
        document = kubeconfig.renewed(document, kubeconfig.read_document(folder.kubeconfig) or {})
    kubeconfig.write(folder.kubeconfig, document)


def describe(cluster: Cluster, folder: ClusterFolder, asked: Sequence[str] = ()) -> Running:
    """What `ktui status` and a second `ktui up` say of this process."""
    return Running(
        name=cluster.config.name,
        pid=os.getpid(),
        address=cluster.address,
        data_folder=str(folder.path),
        kubeconfig=str(folder.kubeconfig),
        kubernetes_version=f"v{cluster.kubernetes_version}",
        ktui_version=version("ktui"),
        asked=tuple(asked),
    )
