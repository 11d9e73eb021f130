"""ktui's own commands after `:`, on a cluster that is found by its name as that of a process of its own is."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.client.kubeconfig import document_for, write
from engine.cluster import Cluster
from engine.folder import ClusterFolder, Running
from engine.pki import ADMIN
from engine.world import World
from ktui.connect import connect
from ktui.screens.output import Output
from ktui.session import Session
from tests.client.certificates import Authority
from tests.ktui.screens.conftest import Show
from tests.kubectl.served import server_context


@pytest.fixture
async def session(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    monkeypatch.setenv("KTUI_HOME", str(tmp_path / "home"))
    authority = Authority()
    await cluster.serve(server_context(authority, tmp_path), port=0)
    admin = authority.issue(ADMIN.common_name, ADMIN.organizations[0])
    document = document_for(
        name="test", server=cluster.address, ca=authority.certificate, certificate=admin.certificate, key=admin.key
    )
    folder = ClusterFolder.named("default")
    with folder.hold():
        write(folder.kubeconfig, document)
        folder.write_running(
            Running(
                name="default", pid=os.getpid(), address=cluster.address, data_folder=str(folder.path),
                kubeconfig=str(folder.kubeconfig), kubernetes_version="v1.37.0", ktui_version="0",
            )
        )  # fmt: skip
        client = connect(folder.kubeconfig)
        yield Session(name="default", client=client, world=World.create(), kubeconfig=folder.kubeconfig)
        await client.close()


async def test_what_they_print_is_printed_into_a_pane(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        await driver.command("store get /registry/namespaces/ --prefix --keys-only")
        await driver.until(lambda: isinstance(driver.app.screen, Output))
        await driver.sees("/registry/namespaces/default", "✓ done")
        await driver.press("escape")
        await driver.command("trace deployment/nothing")
        await driver.sees("no trace of deployment/nothing in namespace default", "✖ exit code 1")
        await driver.press("escape")
        await driver.command("store watch /registry/leases/ --prefix")
        await driver.sees("PUT", "◐ running")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.window)


async def test_a_cluster_of_another_machine_has_none(show: Show, session: Session) -> None:
    session.kubeconfig = None
    async with show(size=(120, 40)) as driver:
        await driver.command("store compact 1")
        await driver.sees("for a cluster of this machine")
