"""Streams between the API server and a node (exec, attach, port-forward, logs), and what a node answers to a request.

A kubelet offers its `NodeStreams` under the node's name; the API server of its process finds them there, as it finds
views. Neither imports the other. What the two say is what a kubelet's streaming endpoints say
(pkg/kubelet/server, cri-streaming pkg/streaming).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

# What a container writes: the stream's number (1 or 2) and the bytes.
Output = Callable[[int, bytes], None]


class Target(NamedTuple):
    """A container, or with no `container` a Pod."""

    namespace: str
    pod: str
    uid: str
    container: str = ""


class StreamError(Exception):
    """The node cannot do it; the message is the node's. `refused` is the status of its answer where not even the
    connection was made; 0 where it was."""

    def __init__(self, message: str, *, refused: int = 0) -> None:
        super().__init__(message)
        self.refused = refused


class NodeAnswer(NamedTuple):
    """What the node's own server says to a request."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class LogLine(NamedTuple):
    timestamp: str  # RFC 3339 with nanoseconds
    stream: str
    text: str
    partial: bool = False  # without a newline at its end


class Log(Protocol):
    """What one run of a container has printed and prints: who holds it reads on to its end, also when the container is
    gone by then, as with an open file."""

    @property
    def closed(self) -> bool: ...

    @property
    def written(self) -> int:
        """How many lines there have ever been."""
        ...

    def read(self, after: int = 0) -> Sequence[LogLine]:
        """The lines that are kept, but for the first `after` of all that there have ever been."""
        ...


class Session(Protocol):
    """Something that runs and is talked to. Its output goes to the `Output` that it was begun with."""

    def write(self, data: bytes) -> None: ...

    def close_input(self) -> None: ...

    def resize(self, columns: int, rows: int) -> None: ...

    async def wait(self) -> int:
        """The exit code, once it has ended. Raises StreamError."""
        ...

    def close(self) -> None:
        """The other side has gone. May be called twice."""
        ...


class NodeStreams(Protocol):
    """What one node serves. All raise StreamError."""

    def exec(self, target: Target, command: Sequence[str], *, stdin: bool, tty: bool, output: Output) -> Session: ...

    def attach(self, target: Target, *, stdin: bool, tty: bool, output: Output) -> Session: ...

    def port_forward(self, target: Target, port: int, *, output: Output) -> Session:
        """One connection to a port of the Pod; all that comes back is on stream 1."""
        ...

    def log(self, target: Target, *, previous: bool) -> Log:
        """Of the container's newest run, or of the one before it."""
        ...

    async def serve(self, method: str, path: str, query: Mapping[str, Sequence[str]]) -> NodeAnswer:
        """A request to the node's own server; the path has no slash before it."""
        ...


class Streams:
    """The nodes of this process that serve streams."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeStreams] = {}

    def offer(self, node: str, streams: NodeStreams) -> None:
        self._nodes[node] = streams

    def withdraw(self, node: str) -> None:
        self._nodes.pop(node, None)

    def find(self, node: str) -> NodeStreams | None:
        return self._nodes.get(node)
