"""Shells, attached containers, logs and forwarded ports: what needs a connection over HTTPS."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from engine.api.types import PODS
from engine.client.kubeconfig import document_for, write
from engine.cluster import Cluster
from engine.world import World
from ktui.connect import connect
from ktui.screens.output import Output
from ktui.screens.shell import Shell
from ktui.session import Session
from ktui.widgets.dialogs import Choice
from tests.client.certificates import Authority
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver
from tests.kubectl.served import ADMIN, server_context

BOX = {
    "metadata": {"name": "box"},
    "spec": {
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", "echo one; echo two; sleep 3600"]},
            {"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}]},
            {"name": "talk", "image": "busybox:1.36", "command": ["sh"], "stdin": True},
        ],
    },
}


@pytest.fixture
async def session(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Session]:
    """Over HTTPS, as the app is started."""
    authority = Authority()
    await cluster.serve(server_context(authority, tmp_path), port=0)
    admin = authority.issue(ADMIN.common_name, ADMIN.organizations[0])
    document = document_for(
        name="test", server=cluster.address, ca=authority.certificate, certificate=admin.certificate, key=admin.key
    )
    write(tmp_path / "kubeconfig", document)
    client = connect(tmp_path / "kubeconfig")
    yield Session(name="default", client=client, world=World.create())
    await client.close()


async def show_box(driver: Driver) -> None:
    await driver.client.create(PODS, BOX, namespace="default")
    await driver.press("2")
    await driver.sees("box", "3/3")


async def test_a_shell_in_a_container_that_is_chosen(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.press("s")
        await driver.until(lambda: isinstance(driver.app.screen, Choice))
        await driver.sees("a shell in which container", "main", "talk")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, Shell))
        await driver.sees(":exec -i box -c main -n default -- sh", "simulated container")
        await driver.type("cd /etc")
        await driver.press("enter")
        await driver.type("pwd")
        await driver.press("enter")
        await driver.sees("$ pwd", "│ /etc ")
        await driver.press("up", "up")
        assert driver.find(Input, "#shell-line").value == "cd /etc"
        await driver.press("ctrl+u")
        await driver.type("exit 3")
        await driver.press("enter")
        await driver.sees("command terminated with exit code 3", "✖ exit code 3")
        await driver.misses("ls /   env", "End of input")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.window)


async def test_the_end_of_the_input_ends_a_shell(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.command("exec -it box -c main -- sh")
        await driver.until(lambda: isinstance(driver.app.screen, Shell))
        await driver.press("ctrl+d")
        await driver.sees("✓ done")
        await driver.press("ctrl+c")
        await driver.until(lambda: driver.app.screen is driver.app.window)
        assert driver.app.is_running


async def test_attached_to_what_runs(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.press("X")
        await driver.sees("attach to which container")
        await driver.press("down", "down", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, Shell))
        await driver.sees(":attach -i box -c talk", "try pressing enter")
        await driver.type("echo $((6*7))")
        await driver.press("enter")
        await driver.sees("│ 42 ")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.window)


async def test_logs_of_a_container_are_followed_and_filtered(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.press("l")
        await driver.sees("logs of which container", "all containers")
        await driver.press("down", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, Output))
        await driver.sees(":logs box -c main -f", "│ one ", "│ two ", "◐ running")
        await driver.press("slash")
        await driver.type("tw")
        await driver.press("enter")
        await driver.misses("│ one ")
        await driver.sees("│ two ", "/tw")
        await driver.press("f")
        await driver.sees("f follows the end")
        await driver.press("escape")
        await driver.sees("│ one ")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.window)


async def test_logs_go_on_after_a_restart_and_end_with_the_pod(show: Show) -> None:
    flaky = {"name": "flaky", "image": "busybox", "command": ["sh", "-c", "echo here; sleep 1; exit 3"]}
    once = {"name": "once", "image": "busybox", "command": ["sh", "-c", "echo prepared"]}
    pod = {"metadata": {"name": "two"}, "spec": {"containers": [flaky], "initContainers": [once]}}
    async with show(size=(140, 40)) as driver:
        await driver.client.create(PODS, pod, namespace="default")
        await driver.press("2")
        await driver.sees("▌default     two")
        await driver.press("l", "enter")
        await driver.sees("│ prepared ", "── flaky started again: restart ", "◐ running")
        await driver.until(lambda: driver.picture.count("│ here ") >= 2)
        await driver.client.delete(PODS, "two", namespace="default", grace_period_seconds=0)
        await driver.sees("✓ done")


async def test_a_port_is_forwarded_until_that_is_ended(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.press("F")
        await driver.sees("[LOCAL]:PORT of pods/box", ":80")
        await driver.press("enter")
        await driver.sees("Forwarding from 127.0.0.1:", "-> 80")
        found = re.search(r"127\.0\.0\.1:(\d+) -> 80", driver.picture)
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1]))):
            await driver.sees("Handling connection for")
        await driver.press("F")
        await driver.sees("pods/box is forwarded no longer")
        await driver.command("forwards")
        await driver.sees("no port is forwarded")


async def test_the_forwarded_ports_are_listed_and_can_be_ended_from_there(show: Show) -> None:
    async with show(size=(140, 40)) as driver:
        await show_box(driver)
        await driver.press("F")
        await driver.sees("[LOCAL]:PORT of pods/box")
        await driver.press("enter")
        await driver.sees("Forwarding from 127.0.0.1:")
        await driver.press("3", "f8")
        await driver.sees("forwarded ports: Enter ends one", "pods/box  in default  127.0.0.1:", "-> 80")
        await driver.press("enter")
        await driver.sees("pods/box is forwarded no longer")
