"""Servers of the tutorials on kubernetes.io: what these pages print, and where the servers listen."""

from __future__ import annotations

import pytest

from engine.disks import Volume
from engine.kubelet.cri import Mount
from engine.world import World
from tests.kubelet.containers import logged, started

ECHO = """
Hostname: pod

Pod Information:
	-no pod information available-

Server values:
	server_version=nginx: 1.13.3 - lua: 10008

Request Information:
	client_address=127.0.0.1
	method=GET
	real path=/a
	query=b=c
	request_version=1.1
	request_scheme=http
	request_uri=http://localhost:8080/a?b=c
"""


@pytest.mark.parametrize(
    ("image", "address", "said"),
    [
        pytest.param("gcr.io/google-samples/hello-app:2.0", "localhost:8080",
                     "Hello, world!\nVersion: 2.0.0\nHostname: pod\n", id="hello-app"),
        pytest.param("us-docker.pkg.dev/google-samples/containers/gke/hello-app:1.0", "localhost:8080",
                     "Hello, world!\nVersion: 1.0.0\nHostname: pod\n", id="hello-app, GKE"),
        pytest.param("gcr.io/google-samples/node-hello:1.0", "localhost:8080", "Hello Kubernetes!", id="node-hello"),
        pytest.param("gcr.io/google-samples/hello-go-gke:1.0", "localhost", '{"message":"Hello"}\n', id="hello-go-gke"),
        pytest.param("gcr.io/google-samples/kubernetes-bootcamp:v1", "localhost:8080",
                     "Hello Kubernetes bootcamp! | Running on: pod | v=1\n", id="bootcamp"),
        pytest.param("docker.io/jocatalin/kubernetes-bootcamp:v2", "localhost:8080",
                     "Hello Kubernetes bootcamp! | Running on: pod | v=2\n", id="bootcamp, v2"),
        pytest.param("registry.k8s.io/hpa-example", "localhost", "OK!", id="hpa-example"),
        pytest.param("registry.k8s.io/echoserver:1.10", "localhost:8080/a?b=c", ECHO, id="echoserver"),
        pytest.param("k8s.gcr.io/echoserver:1.4", "localhost:8080", "CLIENT VALUES:\nclient_address=127.0.0.1\n"
                     "command=GET\nreal path=/\nquery=nil\n", id="echoserver, old"),
    ],
)  # fmt: skip
async def test_a_sample_answers_as_its_tutorial_prints(world: World, image: str, address: str, said: str) -> None:
    runtime, container = await started(world, image)

    ran = await runtime.exec_sync(container, ["curl", "-s", address])

    assert said in ran.stdout
    assert runtime.network_probe(container, 9999) == ("refused", "connect: connection refused")


@pytest.mark.parametrize(
    ("image", "lines"),
    [
        pytest.param("gcr.io/google-samples/hello-app:1.0", ["2026/01/01 00:00:00 Server listening on port 8080"],
                     id="hello-app"),
        pytest.param("gcr.io/k8s-minikube/kubernetes-bootcamp:v1",
                     ["Kubernetes Bootcamp App Started At: 2026-01-01T00:00:00.000Z | Running On:  pod ", ""],
                     id="bootcamp"),
    ],
)  # fmt: skip
async def test_a_sample_logs_that_it_listens(world: World, image: str, lines: list[str]) -> None:
    runtime, container = await started(world, image)

    assert logged(runtime, container) == lines


@pytest.mark.parametrize(
    ("image", "out"),
    [
        pytest.param("registry.k8s.io/nginx-slim:0.21", "mine\n", id="nginx-slim"),
        pytest.param("public.ecr.aws/docker/library/nginx:1.27", "mine\n", id="a mirror"),
    ],
)
async def test_copies_of_nginx_serve_their_folder(world: World, image: str, out: str) -> None:
    """As the tutorial on StatefulSets does with nginx-slim."""
    runtime, container = await started(world, image)

    ran = await runtime.exec_sync(
        container, ["sh", "-c", "echo mine > /usr/share/nginx/html/index.html; curl -s http://localhost/"]
    )

    assert ran.stdout == out


async def test_a_copy_of_busybox_is_busybox(world: World) -> None:
    runtime, container = await started(world, "registry.k8s.io/busybox:1.27.2", "sleep", "9")

    ran = await runtime.exec_sync(container, ["sh", "-c", "ls -l /nowhere; ls / | head -n 1"])

    assert (ran.stdout, ran.stderr) == ("bin\n", "ls: /nowhere: No such file or directory\n")


async def test_nginx_has_no_pages_where_an_empty_volume_is_mounted(world: World) -> None:
    mount = Mount("/usr/share/nginx/html", "/volumes/html", volume=Volume())
    runtime, container = await started(world, "nginx", mounts=(mount,))

    assert runtime.network_probe(container, 80, "/") == ("status", "403")
    assert runtime.network_probe(container, 80, "/index.html") == ("status", "404")


async def test_an_unprivileged_nginx_listens_where_its_image_says(world: World) -> None:
    runtime, container = await started(world, "nginxinc/nginx-unprivileged")

    assert runtime.network_probe(container, 8080, "/") == ("status", "200")
    assert runtime.network_probe(container, 80)[0] == "refused"
