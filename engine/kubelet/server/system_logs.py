"""/logs/: what a node has below /var/log, as Go's http.FileServer shows it (pkg/kubelet kubelet.go ServeLogs): the logs
of its containers. Nothing else of a simulated node writes a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from engine.kubelet import pods
from engine.kubelet.cri.services import ContainerLog
from engine.streaming import NodeAnswer

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet

_NOT_FOUND = NodeAnswer(404, b"404 page not found\n", {"content-type": "text/plain; charset=utf-8"})
_HTML = {"content-type": "text/html; charset=utf-8"}
_TEXT = {"content-type": "text/plain; charset=utf-8"}
_HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n'


def read_log(kubelet: Kubelet, path: str) -> NodeAnswer:
    """`path` is below /var/log; that of a directory ends with a slash."""
    files = _files(kubelet)
    if (found := files.get(path)) is not None:
        return NodeAnswer(200, _text(found), _TEXT)
    directory = path if not path or path.endswith("/") else f"{path}/"
    inside = [name[len(directory) :] for name in files if name.startswith(directory)]
    if not inside:
        return _NOT_FOUND
    if directory != path:
        return NodeAnswer(301, b"", {"location": directory.rstrip("/").rpartition("/")[2] + "/"})
    names = sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in inside})
    rows = "".join(f'<a href="{quote(name)}">{name}</a>\n' for name in names)
    return NodeAnswer(200, f"{_HEAD}{rows}</pre>\n".encode(), _HTML)


def _files(kubelet: Kubelet) -> Mapping[str, ContainerLog]:
    """By path, in the two forms in which a node has them: as the runtime writes them, and as links by container."""
    files: dict[str, ContainerLog] = {}
    for pod in kubelet.pods.all():
        namespace, name, uid = pods.namespace_of(pod), pods.name_of(pod), pods.uid_of(pod)
        for status in kubelet.simulated.containers_of(uid):
            log = kubelet.simulated.container(status.id).log
            files[f"containers/{name}_{namespace}_{status.name}-{status.id}.log"] = log
            files[f"pods/{namespace}_{name}_{uid}/{status.name}/{status.attempt}.log"] = log
    return files


def _text(log: ContainerLog) -> bytes:
    """CRI's log format."""
    lines = (f"{line.timestamp} {line.stream} {'P' if line.partial else 'F'} {line.text}\n" for line in log.read())
    return "".join(lines).encode(errors="surrogateescape")
