"""exec, attach and port-forward on the node's side, on virtual time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.api.types import PODS
from engine.streaming import NodeStreams, Session, StreamError, Target
from engine.world import World
from tests.kubelet.node import NODE, Node, running

SHELL = {"name": "web", "image": "busybox:1.36", "command": ["sh"], "stdin": True}
SLEEPER = {"name": "web", "image": "busybox:1.36", "command": ["sleep", "3600"]}


class Screen:
    """What comes out of a session."""

    def __init__(self) -> None:
        self.out, self.err = "", ""

    def __call__(self, stream: int, data: bytes) -> None:
        if stream == 1:
            self.out += data.decode()
        else:
            self.err += data.decode()


def streams(node: Node) -> NodeStreams:
    found = node.world.streams.find(NODE)
    assert found is not None
    return found


async def target(node: Node, container: str = "web") -> Target:
    return Target("default", "web", (await node.pod())["metadata"]["uid"], container)


async def start(node: Node, *command: str, stdin: bool = False, tty: bool = False) -> tuple[Session, Screen]:
    screen = Screen()
    session = streams(node).exec(await target(node), command, stdin=stdin, tty=tty, output=screen)
    return session, screen


async def run(node: Node, command: Sequence[str], stdin: Sequence[str] = ()) -> tuple[int, str, str]:
    session, screen = await start(node, *command, stdin=bool(stdin))
    for text in stdin:
        session.write(text.encode())
    session.close_input()
    return await session.wait(), screen.out, screen.err


COMMANDS: dict[str, tuple[list[str], list[str], tuple[int, str, str]]] = {
    "output and code": (["sh", "-c", "echo a; echo b >&2; exit 3"], [], (3, "a\n", "b\n")),
    "takes time": (["sh", "-c", "sleep 5; echo late"], [], (0, "late\n", "")),
    "no input": (["cat"], [], (0, "", "")),
    "input in pieces": (["cat"], ["a", "b\n"], (0, "ab\n", "")),
    "a letter in pieces": (["cat"], ["ä"], (0, "ä", "")),
    "the whole input": (["wc", "-l"], ["a\n", "b\nc\n"], (0, "3\n", "")),
    "a line at a time": (["sh", "-c", "read a; read b; echo $b$a"], ["1\n2\n3\n"], (0, "21\n", "")),
    "a pipe": (["sh", "-c", "cat | grep b"], ["a\nb\n"], (0, "b\n", "")),
    "a script": (["sh"], ["if true; then\n", "echo yes\n", "fi\nexit 2\n"], (2, "yes\n", "")),
    "a shell that kills itself": (["sh", "-c", "kill -9 $$; echo on"], [], (137, "", "")),
    "and ends itself": (["sh", "-c", "(echo ${$}x | tr -d 0-9); kill $$; echo on"], [], (143, "x\n", "")),
    "and does not": (["sh", "-c", "trap 'echo caught' TERM; kill $$; echo on"], [], (0, "caught\non\n", "")),
    "a here-document": (
        ["sh", "-c", "x=1; cat <<EOF > /tmp/f; cat /tmp/f\na $x $(echo b) \\$x \"q\" 'r'\n\n# c\nEOF\necho on"],
        [],
        (0, "a 1 b $x \"q\" 'r'\n\n# c\non\n", ""),
    ),
    "strict": (
        [
            "sh",
            "-c",
            "set -euo pipefail; echo $# ${no:-none}; set -o nounset; (set +u; echo ${no}.); echo $no; echo on",
        ],
        [],
        (2, "0 none\n.\n", "sh: no: parameter not set\n"),
    ),
    "strict from the start": (["sh", "-euc", "echo $no"], [], (2, "", "sh: no: parameter not set\n")),
    "a loop over lines": (
        [
            "sh",
            "-c",
            "printf 'a\nb\n' | while read x; do echo got $x; done; printf 'c\nd\n' > /tmp/g; while read x; do "
            "echo now $x; done < /tmp/g; printf 'e\nf\n' | { read x; read y; echo $y $x; }",
        ],
        [],
        (0, "got a\ngot b\nnow c\nnow d\nf e\n", ""),
    ),
    "here-documents": (
        [
            "sh",
            "-c",
            "while read a; do echo got $a; done <<-'E'\n\t$x\n\ty\n\tE\ncat <<A - <<B\n1\nA\n2\nB\ncat <<< in",
        ],
        [],
        (0, "got $x\ngot y\n2\nin\n", ""),
    ),
    "no such folder": (
        ["tar", "xf", "-", "-C", "/no"],
        [""],
        (1, "", "tar: can't change directory to '/no': No such file or directory\n"),
    ),
    "a broken line is not the end": (["sh"], ["echo )\necho on\n"], (0, "on\n", 'sh: syntax error: unexpected ")"\n')),
    "not found": (["sh", "-c", "nothing"], [], (127, "", "sh: nothing: not found\n")),
}


@pytest.mark.parametrize("case", COMMANDS)
async def test_commands(world: World, case: str) -> None:
    command, stdin, wanted = COMMANDS[case]
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        assert await run(node, command, stdin) == wanted


UNSIMULATED = {
    "a one-liner": ("python:3.12", ["python3", "-c", "print(1)"], "python3"),
    "a version that nobody knows": ("python:3.12", ["pip", "--version"], "pip"),
    "a client of a database": ("mysql:8.4", ["mysql", "-e", "select 1"], "mysql"),
    "within a shell and a pipe": ("golang:1.25", ["sh", "-c", "go version | cat"], ""),
    "an image that the catalogue does not know": ("example.com/app:1", ["app", "--help"], "app"),
}


@pytest.mark.parametrize("case", UNSIMULATED)
async def test_who_waits_for_what_a_program_prints_is_told_that_it_is_not_simulated(world: World, case: str) -> None:
    image, command, program = UNSIMULATED[case]
    async with running(world) as node:
        await node.run(containers=[{**SLEEPER, "image": image}])
        await node.in_phase("Running")
        code, out, err = await run(node, command)
        assert (code, out) == (127 if program else 0, "")
        assert err == f"{program or 'go'}: not found (ktui does not simulate what this program does)\n"


async def test_a_probe_of_such_a_program_succeeds(world: World) -> None:
    """Else no container of an image that the catalogue does not know were ever ready."""
    probe = {"exec": {"command": ["app", "health"]}, "periodSeconds": 1}
    async with running(world) as node:
        await node.run(containers=[{"name": "web", "image": "example.com/app:1", "readinessProbe": probe}])
        await node.ready()


async def test_a_terminal_echoes_interrupts_and_ends(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        session, screen = await start(node, "sh", stdin=True, tty=True)
        session.write(b"sleep 100\r")
        await node.sleep(1)
        session.write(b"\x03")
        session.write(b"echo $?\r")
        session.write(b"\x04")
        assert await session.wait() == 0
        assert screen.out == "/ # sleep 100\r\n^C\r\n/ # echo $?\r\n130\r\n/ # "


@pytest.mark.parametrize("stdin", [True, False])
async def test_a_command_can_ask_for_the_size_of_its_terminal(world: World, stdin: bool) -> None:
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        script = (
            "stty size; sleep 1; stty size; tty; stty rows 9 cols 8; stty size; echo x | tty; stty -echo; stty rows"
        )
        session, screen = await start(node, "sh", "-c", script, stdin=stdin, tty=True)
        await node.sleep(0.5)
        session.resize(123, 45)
        await session.wait()
        assert screen.out.splitlines() == [
            "24 80", "45 123", "/dev/pts/0", "9 8", "not a tty", "stty: missing argument to 'rows'",
        ]  # fmt: skip


async def test_without_a_terminal_there_is_no_size(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        assert await run(node, ["stty", "size"]) == (
            1, "", "stty: standard input: Inappropriate ioctl for device\n",
        )  # fmt: skip
        assert await run(node, ["tty"]) == (1, "not a tty\n", "")


async def test_a_command_dies_with_its_container(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        session, _ = await start(node, "sleep", "100000")
        await node.delete(grace_period_seconds=1)
        assert await session.wait() == 137


async def test_attach_shows_what_comes_and_types_to_process_1(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[SHELL])
        await node.in_phase("Running")
        screens = [Screen(), Screen()]
        first = streams(node).attach(await target(node), stdin=True, tty=False, output=screens[0])
        second = streams(node).attach(await target(node), stdin=False, tty=False, output=screens[1])
        first.write(b"echo $((6 * 7))\n")
        first.close_input()
        await node.sleep(1)
        assert [screen.out for screen in screens] == ["42\n", "42\n"]
        second.close()
        first.write(b"exit 5\n")
        assert await first.wait() == 0  # as upstream: an attached stream carries no exit code
        assert screens[1].out == "42\n"


async def test_an_input_that_is_open_once_closes_with_its_first_client(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[{**SHELL, "stdinOnce": True}], restartPolicy="Never")
        await node.in_phase("Running")
        session = streams(node).attach(await target(node), stdin=True, tty=False, output=Screen())
        session.close()
        await node.in_phase("Succeeded")


async def test_a_log_is_followed_to_its_last_line(world: World) -> None:
    """What a container says on SIGTERM is what people follow its log for, though its Pod is gone the next moment."""
    script = "trap 'echo bye; exit 0' TERM; echo here; while true; do sleep 0.2; done"
    path = "/api/v1/namespaces/default/pods/web/log"
    async with running(world) as node:
        await node.run(containers=[{**SLEEPER, "command": ["sh", "-c", script]}])
        await node.in_phase("Running")
        following = (await node.admin.send("GET", path, query={"follow": ["true"]})).stream
        assert following is not None
        assert await anext(aiter(following)) == b"here\n"
        await node.admin.delete(PODS, "web", namespace="default")
        assert [chunk async for chunk in following] == [b"bye\n"]
        assert (await node.admin.send("GET", path)).status == 404


async def test_a_followed_log_ends_with_its_run(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[{**SLEEPER, "command": ["sh", "-c", "echo run; sleep 1; exit 1"]}])
        await node.in_phase("Running")
        log = streams(node).log(await target(node), previous=False)
        while (await node.pod())["status"]["containerStatuses"][0]["restartCount"] < 1:
            await node.sleep(1)
        assert log.closed
        assert [line.text for line in log.read()] == ["run"]


async def test_what_is_not_there(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[SLEEPER])
        await node.in_phase("Running")
        with pytest.raises(StreamError, match=r'exec: "foo": executable file not found in \$PATH: unknown'):
            await start(node, "foo")
        with pytest.raises(StreamError, match=r'^container not found \("other"\)$') as refused:
            streams(node).attach(await target(node, "other"), stdin=False, tty=False, output=Screen())
        assert refused.value.refused
        with pytest.raises(StreamError, match="pod does not exist"):
            streams(node).exec(Target("default", "none", ""), ["ls"], stdin=False, tty=False, output=Screen())


async def test_a_port_answers_until_its_container_ends(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.in_phase("Running")
        screen = Screen()
        connection = streams(node).port_forward(await target(node, ""), 80, output=screen)
        connection.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD /no HTTP")
        connection.write(b"/1.1\r\n\r\n")
        heads = [line for line in screen.out.splitlines() if line.startswith("HTTP/")]
        assert heads == ["HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found"]
        assert "<h1>Welcome to nginx!</h1>" in screen.out
        await node.delete(grace_period_seconds=1)
        assert await connection.wait() == 0


async def test_nothing_listens(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.in_phase("Running")
        with pytest.raises(StreamError, match=r"dial tcp4 127\.0\.0\.1:81: connect: connection refused"):
            streams(node).port_forward(await target(node, ""), 81, output=Screen())


async def test_a_socket_speaks_the_first_protocol_that_both_know(world: World) -> None:
    rows = {  # the protocols that a client offers: the one that is spoken, or the code
        ("exec", "v5.channel.k8s.io,v4.channel.k8s.io"): "v5.channel.k8s.io",
        ("exec", "v9.channel.k8s.io, base64.channel.k8s.io"): "base64.channel.k8s.io",
        ("exec", ""): "",
        ("exec", "v9.channel.k8s.io"): 403,
        ("attach", "binary.k8s.io"): 403,
        ("log", "base64.binary.k8s.io"): "base64.binary.k8s.io",
        ("log", "v4.channel.k8s.io"): 403,
        ("portforward", "v9.channel.k8s.io,v4.channel.k8s.io"): "v4.channel.k8s.io",
        ("portforward", "v5.channel.k8s.io"): 403,
    }
    query = {"command": ["true"], "stdout": ["true"], "ports": ["80"]}
    async with running(world) as node:
        await node.run()
        await node.in_phase("Running")
        for (subresource, offered), expected in rows.items():
            headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-protocol": offered}
            path = f"/api/v1/namespaces/default/pods/web/{subresource}"
            response = await node.admin.send("GET", path, query=query, headers=headers)
            if response.upgrade is None:
                assert (response.status, response.body) == (expected, b""), (subresource, offered)
            else:
                assert response.upgrade.protocol == expected, (subresource, offered)
