"""exec and attach over SPDY, from the request to the end of its streams (upstream's remotecommand httpstream.go and
httpstream_test.go)."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from engine.api.wire import Response
from engine.apiserver.streaming import spdy
from engine.world import World
from tests.kubelet.node import Node, running
from tests.kubelet.test_streams import SHELL

V4 = "v4.channel.k8s.io"
PATH = "/api/v1/namespaces/default/pods/web"
UPGRADE = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}


class Terminal:
    """A `wire.Socket`, the client's side of which opens a stream for each name."""

    def __init__(self, *names: str) -> None:
        self._framer = spdy.Framer()
        self.ids = {name: 2 * number + 1 for number, name in enumerate(names)}
        self.got = dict.fromkeys(names, b"")
        self.frames: list[spdy.Frame] = []
        self._typed: asyncio.Queue[bytes | None] = asyncio.Queue()
        for name, stream in self.ids.items():
            self._typed.put_nowait(self._framer.syn_stream(stream, {"streamtype": name}))

    def type(self, name: str, data: bytes, *, fin: bool = False) -> None:
        self._typed.put_nowait(spdy.data_frame(self.ids[name], data, fin=fin))

    def ping(self) -> None:
        self._typed.put_nowait(spdy.ping(7))

    def leave(self) -> None:
        self._typed.put_nowait(None)

    async def receive(self) -> bytes | None:
        return await self._typed.get()

    async def send(self, message: bytes | str) -> None:
        assert isinstance(message, bytes)
        for frame in self._framer.read(message):
            self.frames.append(frame)
            name = next((name for name, stream in self.ids.items() if stream == frame.stream), "")
            if frame.kind == 0:
                self.got[name] += frame.data


async def asked(
    node: Node, subresource: str = "exec", *, protocols: str | None = V4, **query: str | list[str]
) -> Response:
    headers = {**UPGRADE, **({"x-stream-protocol-version": protocols} if protocols is not None else {})}
    words = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    return await node.admin.send("POST", f"{PATH}/{subresource}", query=words, headers=headers)


async def run(response: Response, terminal: Terminal) -> None:
    assert response.upgrade is not None, response
    await response.upgrade.run(terminal)


async def shell(node: Node) -> None:
    await node.run(containers=[SHELL])
    await node.in_phase("Running")


async def test_what_a_command_prints_and_how_it_ends(world: World) -> None:
    async with running(world) as node:
        await shell(node)
        command = ["sh", "-c", "cat; echo no >&2; exit 3"]
        response = await asked(node, command=command, stdin="1", stdout="1", stderr="1")
        terminal = Terminal("error", "stdin", "stdout", "stderr")
        terminal.ping()
        terminal.type("stdin", b"typed")
        terminal.type("stdin", b"\n", fin=True)
        await run(response, terminal)
        assert (terminal.got["stdout"], terminal.got["stderr"]) == (b"typed\n", b"no\n")
        assert orjson.loads(terminal.got["error"]) == {
            "metadata": {},
            "status": "Failure",
            "message": "command terminated with non-zero exit code: command terminated with exit code 3",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
        }
        kinds = [frame.kind for frame in terminal.frames]
        assert kinds[:4] == [spdy.SYN_REPLY] * 4
        assert kinds[-1] == spdy.GOAWAY
        assert spdy.PING in kinds
        ended = {frame.stream for frame in terminal.frames if frame.kind == 0 and frame.flags & spdy.FIN}
        assert ended == {terminal.ids[name] for name in ("error", "stdout", "stderr")}


@pytest.mark.parametrize(
    ("protocol", "code", "told"),
    [
        pytest.param(V4, 0, b'{"metadata":{},"status":"Success"}', id="v4 tells of success"),
        pytest.param("v3.channel.k8s.io", 0, b"", id="v3 does not"),
        pytest.param(
            "channel.k8s.io",
            2,
            b"command terminated with non-zero exit code: command terminated with exit code 2",
            id="before v4 failures are texts",
        ),
    ],
)
async def test_how_protocols_tell_of_the_end(world: World, protocol: str, code: int, told: bytes) -> None:
    async with running(world) as node:
        await shell(node)
        response = await asked(
            node, protocols=f"v9.channel.k8s.io,{protocol}", command=["sh", "-c", f"exit {code}"], stdout="1"
        )
        assert response.upgrade is not None
        assert response.upgrade.protocol == protocol
        terminal = Terminal("error", "stdout")
        await run(response, terminal)
        assert terminal.got["error"] == told


async def test_sizes_of_a_terminal_come_one_after_the_other(world: World) -> None:
    async with running(world) as node:
        await shell(node)
        response = await asked(node, command=["sh", "-c", "sleep 1; stty size"], stdout="1", stdin="1", tty="1")
        terminal = Terminal("error", "stdin", "stdout", "resize")
        terminal.type("resize", b'{"Width":100,"Height":40}\n{"Wid')
        terminal.type("resize", b'th":123,"Height":45}')
        await run(response, terminal)
        assert terminal.got["stdout"] == b"45 123\r\n"


async def test_a_program_that_is_not_there(world: World) -> None:
    async with running(world) as node:
        await shell(node)
        terminal = Terminal("error", "stdout")
        await run(await asked(node, command=["nothing"], stdout="1"), terminal)
        status = orjson.loads(terminal.got["error"])
        assert status["reason"] == "InternalError"
        assert status["message"].startswith("Internal error occurred: error executing command in container: failed to")


async def test_a_client_that_goes_ends_the_command(world: World) -> None:
    async with running(world) as node:
        await shell(node)
        for names in (("error", "stdout"), ("error",)):  # with all its streams, and before
            terminal = Terminal(*names)
            terminal.leave()
            await run(await asked(node, command=["sleep", "3600"], stdout="1"), terminal)


REFUSED = {
    "no header": (None, 400, "unable to upgrade: header X-Stream-Protocol-Version does not exist in request with "),
    "an empty header": (
        "",
        400,
        "unable to upgrade: header X-Stream-Protocol-Version contains [], but no valid protoc",
    ),
    "none that is spoken": (
        "v9.channel.k8s.io, x",
        403,
        "unable to upgrade: unable to negotiate protocol: client supports [v9.channel.k8s.io x], server accepts "
        "[v4.channel.k8s.io v3.channel.k8s.io v2.channel.k8s.io channel.k8s.io]\n",
    ),
}


@pytest.mark.parametrize(("protocols", "code", "text"), REFUSED.values(), ids=REFUSED.keys())
async def test_protocols_that_are_refused(world: World, protocols: str | None, code: int, text: str) -> None:
    async with running(world) as node:
        await shell(node)
        response = await asked(node, protocols=protocols, command=["true"], stdout="1")
        assert response.status == code
        assert response.headers["content-type"] == "text/plain; charset=utf-8"
        assert response.body.decode().startswith(text)
        if code == 403:
            accepted = response.headers["X-Accepted-Stream-Protocol-Versions"]
            assert accepted.split(", ")[0] == V4


async def test_port_forward_has_one_protocol(world: World) -> None:
    async with running(world) as node:
        await shell(node)
        response = await asked(node, "portforward", protocols="portforward.k8s.io")
        assert response.upgrade is not None
        assert response.upgrade.protocol == "portforward.k8s.io"
        assert (await asked(node, "portforward", protocols=V4)).status == 403
