"""What the sample servers of upstream's tutorials answer and log: the pages that kubernetes.io prints.

Known by where their images are, old places among them. All of them listen on one port, whatever a Pod declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from engine.kubelet.runtime.entrypoints import Told
from engine.kubelet.runtime.shell.process import Machine

_PLAIN = "text/plain; charset=utf-8"


class Asked(Protocol):
    """A request over HTTP, as far as a page can depend on it."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def headers(self) -> dict[str, str]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def version(self) -> str: ...


class Sample(NamedTuple):
    """`page` makes the text from the machine, the request and the client's address; `logs` what stands in the log once
    it listens: stream and line."""

    port: int
    page: Callable[[Machine, Asked, str], str]
    content_type: str = _PLAIN
    logs: Callable[[Machine], list[tuple[str, str]]] | None = None


def sample_of(machine: Machine) -> Sample | None:
    """The sample that the machine's image is; None for any other image."""
    return _SAMPLES.get(_repository(machine))


def startup(machine: Machine) -> Told | None:
    """What it writes to its log when it starts, to be called when somebody reads it."""
    sample = sample_of(machine)
    if sample is None or sample.logs is None:
        return None
    lines = sample.logs(machine)
    return partial(list, lines)


def _repository(machine: Machine) -> str:
    name = machine.image.partition("@")[0].rpartition(":")[0]
    return name.removeprefix("docker.io/")


def _tag(machine: Machine) -> str:
    return machine.image.partition("@")[0].rpartition(":")[2]


# -- hello-app, node-hello, hello-go-gke: github.com/GoogleCloudPlatform/kubernetes-engine-samples


def _hello_app(machine: Machine, asked: Asked, source: str) -> str:
    version = _tag(machine) if _tag(machine).count(".") > 1 else f"{_tag(machine)}.0"
    return f"Hello, world!\nVersion: {version}\nHostname: {machine.hostname}\n"


def _hello_app_logs(machine: Machine) -> list[tuple[str, str]]:
    return [("stderr", f"{machine.now():%Y/%m/%d %H:%M:%S} Server listening on port 8080")]


# -- kubernetes-bootcamp, of the tutorials on Kubernetes' basics


def _bootcamp(machine: Machine, asked: Asked, source: str) -> str:
    return f"Hello Kubernetes bootcamp! | Running on: {machine.hostname} | v={_tag(machine).lstrip('v')}\n"


def _bootcamp_logs(machine: Machine) -> list[tuple[str, str]]:
    now = machine.now()
    started = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    return [
        ("stdout", f"Kubernetes Bootcamp App Started At: {started} | Running On:  {machine.hostname} "),
        ("stdout", ""),
    ]


# -- echoserver, of the tutorials on Services


def _echo(machine: Machine, asked: Asked, source: str) -> str:
    path, _, query = asked.path.partition("?")
    version = asked.version.removeprefix("HTTP/")
    uri = f"http://{asked.headers.get('host', '').partition(':')[0]}:8080{asked.path}"
    headers = sorted(asked.headers.items())
    body = asked.body.decode(errors="replace") or "-no body in request-"
    if _tag(machine) in _OLD_ECHO:
        told = "".join(f"{name}={value}\n" for name, value in headers)
        return (
            f"CLIENT VALUES:\nclient_address={source}\ncommand={asked.method}\nreal path={path}\n"
            f"query={query or 'nil'}\nrequest_version={version}\nrequest_uri={uri}\n\n"
            "SERVER VALUES:\nserver_version=nginx: 1.10.0 - lua: 10001\n\n"
            f"HEADERS RECEIVED:\n{told}BODY:\n{body}"
        )
    told = "".join(f"\t{name}={value}\n" for name, value in headers)
    return (
        f"\n\nHostname: {machine.hostname}\n\nPod Information:\n{_of_the_pod(machine)}\n"
        "Server values:\n\tserver_version=nginx: 1.13.3 - lua: 10008\n\n"
        f"Request Information:\n\tclient_address={source}\n\tmethod={asked.method}\n\treal path={path}\n"
        f"\tquery={query}\n\trequest_version={version}\n\trequest_scheme=http\n\trequest_uri={uri}\n\n"
        f"Request Headers:\n{told}\nRequest Body:\n\t{body}\n\n"
    )


_OLD_ECHO = ("1.3", "1.4")
_POD = {"NODE_NAME": "node name", "POD_NAME": "pod name", "POD_NAMESPACE": "pod namespace", "POD_IP": "pod IP"}


def _of_the_pod(machine: Machine) -> str:
    """By variables that its manifest may set."""
    told = [f"\t{name}:\t{machine.env[variable]}\n" for variable, name in _POD.items() if machine.env.get(variable)]
    return "".join(told) or "\t-no pod information available-\n"


_HELLO_APP = Sample(8080, _hello_app, logs=_hello_app_logs)
_BOOTCAMP = Sample(8080, _bootcamp, "text/plain", _bootcamp_logs)
_ECHO = Sample(8080, _echo, "text/plain")
_SAMPLES: Mapping[str, Sample] = {
    "gcr.io/google-samples/hello-app": _HELLO_APP,
    "us-docker.pkg.dev/google-samples/containers/gke/hello-app": _HELLO_APP,
    "gcr.io/google-samples/node-hello": Sample(8080, lambda machine, asked, source: "Hello Kubernetes!", "text/plain"),
    "gcr.io/google-samples/hello-go-gke": Sample(
        80, lambda machine, asked, source: '{"message":"Hello"}\n', "application/json"
    ),
    "registry.k8s.io/hpa-example": Sample(80, lambda machine, asked, source: "OK!", "text/html; charset=UTF-8"),
    "gcr.io/google-samples/kubernetes-bootcamp": _BOOTCAMP,
    "gcr.io/k8s-minikube/kubernetes-bootcamp": _BOOTCAMP,
    "jocatalin/kubernetes-bootcamp": _BOOTCAMP,
    "registry.k8s.io/echoserver": _ECHO,
    "k8s.gcr.io/echoserver": _ECHO,
    "gcr.io/google_containers/echoserver": _ECHO,
}
