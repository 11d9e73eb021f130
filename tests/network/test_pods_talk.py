"""What processes of one Pod get from another over the simulated network: names, Services, node ports, refusals."""

from __future__ import annotations

from typing import Any

from engine.api.types import NODES, PODS, SERVICES, Object
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.streaming import Target

METER = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)


def pod(name: str, image: str, *command: str, **container: Any) -> Object:
    container = {"name": "main", "image": image, **({"command": list(command)} if command else {}), **container}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec}


def on(node: str, made: Object) -> Object:
    made["spec"]["nodeName"] = node
    return made


def service(name: str, app: str, **spec: Any) -> Object:
    ports = [{"port": 80, "targetPort": 5678}]
    return {"metadata": {"name": name}, "spec": {"selector": {"app": app}, "ports": ports, **spec}}


async def until_running(client: Client, clock: VirtualClock, count: int) -> dict[str, Object]:
    while True:
        pods = (await client.list(PODS, namespace="default")).items
        if sum((item.get("status") or {}).get("phase") == "Running" for item in pods) == count:
            return {item["metadata"]["name"]: item for item in pods}
        await clock.sleep(1)


async def addresses(client: Client) -> list[str]:
    """Of the nodes."""
    nodes = (await client.list(NODES)).items
    return [each["address"] for node in nodes for each in node["status"]["addresses"] if each["type"] == "InternalIP"]


class Inside:
    """Runs commands in a container of a Pod."""

    def __init__(self, cluster: Cluster, pod: Object) -> None:
        streams = cluster.world.streams.find(pod["spec"]["nodeName"])
        assert streams is not None
        self._streams = streams
        self._target = Target("default", pod["metadata"]["name"], pod["metadata"]["uid"], "main")

    async def run(self, script: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        shown = {1: "", 2: ""}

        def output(stream: int, data: bytes) -> None:
            shown[stream] = shown.get(stream, "") + data.decode()

        command = ["sh", "-c", script]
        session = self._streams.exec(self._target, command, stdin=False, tty=False, output=output)
        session.close_input()
        return await session.wait(), shown[1], shown[2]


async def test_pods_ask_each_other(virtual_clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1), clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl")
        echo = {"args": ["-text=hello"], "ports": [{"containerPort": 5678}]}
        await client.create(PODS, on("node-1", pod("echo", "hashicorp/http-echo", **echo)), namespace="default")
        await client.create(PODS, pod("page", "nginx:1.27"), namespace="default")
        for name, image in (("asking", "busybox:1.36"), ("debian", "debian:12")):
            await client.create(PODS, on("node-2", pod(name, image, "sleep", "9999")), namespace="default")
        await client.create(SERVICES, service("echo", "echo", type="NodePort"), namespace="default")
        await client.create(SERVICES, service("nobody", "nobody"), namespace="default")
        quiet = {"internalTrafficPolicy": "Local"}
        await client.create(SERVICES, service("elsewhere", "echo", **quiet), namespace="default")
        await client.create(SERVICES, service("nowhere", "nobody", **quiet), namespace="default")
        kept = {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
        await client.create(SERVICES, service("near", "echo", **kept), namespace="default")
        balanced = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}}
        await client.patch(SERVICES, "near", balanced, namespace="default", subresource="status")
        pods = await until_running(client, virtual_clock, 4)
        await virtual_clock.sleep(5)
        address = {name: item["status"]["podIP"] for name, item in pods.items()}
        services = {item["metadata"]["name"]: item for item in (await client.list(SERVICES, namespace="default")).items}
        virtual = services["echo"]["spec"]["clusterIP"]
        node_port = services["echo"]["spec"]["ports"][0]["nodePort"]
        asking, debian = Inside(cluster, pods["asking"]), Inside(cluster, pods["debian"])

        # busybox wget
        assert await asking.run("wget -qO- http://echo") == (0, "hello\n", "")
        assert await asking.run("wget -q -O - echo.default.svc.cluster.local") == (0, "hello\n", "")
        assert await asking.run(f"wget -qO- {pods['asking']['status']['hostIP']}:{node_port}") == (0, "hello\n", "")
        assert await asking.run("wget -T 2 -O- echo") == (
            0, "hello\n",
            f"Connecting to echo ({virtual}:80)\nwriting to stdout\n"
            f"{'-':<20} 100% |{'*' * 32}|     6  0:00:00 ETA\nwritten to stdout\n",
        )  # fmt: skip
        assert await asking.run("wget -q echo && cat index.html") == (0, "hello\n", "")
        assert await asking.run("wget -q --spider echo") == (0, "", "")
        missing = f"wget -qO- {address['page']}/missing"
        assert await asking.run(missing) == (1, "", "wget: server returned error: HTTP/1.1 404 Not Found\n")
        refused = services["nobody"]["spec"]["clusterIP"]
        words = f"wget: can't connect to remote host ({refused}): Connection refused\n"
        assert await asking.run("wget -qO- nobody") == (1, "", words)
        before = virtual_clock.monotonic()
        assert await asking.run("wget -T 3 -qO- elsewhere") == (1, "", "wget: download timed out\n")
        assert round(virtual_clock.monotonic() - before, 6) == 3
        refused = services["nowhere"]["spec"]["clusterIP"]
        words = f"wget: can't connect to remote host ({refused}): Connection refused\n"
        assert await asking.run("wget -qO- nowhere") == (1, "", words), "there is none on any other node either"

        # an external policy is for those outside, not for Pods of the node whose rules they meet
        near = services["near"]["spec"]["ports"][0]["nodePort"]
        assert await asking.run("wget -qO- 192.0.2.7") == (0, "hello\n", "")
        assert await asking.run(f"wget -qO- {pods['asking']['status']['hostIP']}:{near}") == (0, "hello\n", "")
        assert await asking.run(f"wget -qO- {pods['echo']['status']['hostIP']}:{near}") == (0, "hello\n", "")
        third = next(
            node
            for node in await addresses(client)
            if node not in {each["status"]["hostIP"] for each in (pods["asking"], pods["echo"])}
        )
        assert await asking.run(f"wget -T 3 -qO- {third}:{near}") == (1, "", "wget: download timed out\n")

        unknown = "wget: can't connect to remote host (10.244.9.9): No route to host\n"
        assert await asking.run("wget -qO- 10.244.9.9") == (1, "", unknown)
        assert (await asking.run("wget -qO- https://kubernetes.default"))[1].startswith("ktui simulates no way")

        # curl
        assert await debian.run("curl -s echo/x?y=1") == (0, "hello\n", "")
        assert await debian.run("curl echo") == (
            0, "hello\n", f"{METER}100     6  100     6    0     0   6      0 --:--:-- --:--:-- --:--:--     6\n",
        )  # fmt: skip
        assert await debian.run(f"curl -s -o /dev/null -w '%{{http_code}}\\n' {address['page']}/no") == (0, "404\n", "")
        failing = "curl: (22) The requested URL returned error: 404\n"
        assert await debian.run(f"curl -sSf {address['page']}/no") == (22, "", failing)
        assert await debian.run("curl -s nope") == (6, "", "")
        assert await debian.run("curl -sS nope") == (6, "", "curl: (6) Could not resolve host: nope\n")
        no_server = "after 0 ms: Could not connect to server\n"
        assert await debian.run("curl -sS nobody:80") == (
            7, "", f"curl: (7) Failed to connect to nobody port 80 {no_server}",
        )  # fmt: skip
        late = "curl: (28) Connection timed out after 2000 milliseconds\n"
        assert await debian.run("curl -sS --max-time 2 elsewhere") == (28, "", late)
        assert (await debian.run(f"curl -sI {address['page']}"))[1].startswith("HTTP/1.1 200 OK\r\nServer: nginx/")
        assert (await debian.run("curl --nope x"))[::2] == (
            2, "curl: option --nope: is unknown\ncurl: try 'curl --help' for more information\n",
        )  # fmt: skip

        # ports and echoes
        assert await asking.run("nc -zv -w 2 echo 80") == (0, "", f"echo ({virtual}:80) open\n")
        assert await asking.run(f"nc -z {address['page']} 81") == (
            1, "", f"nc: {address['page']} ({address['page']}:81): Connection refused\n",
        )  # fmt: skip
        code, out, _ = await asking.run(f"ping -c 2 {address['page']}")
        assert (code, out.splitlines()[-2]) == (0, "2 packets transmitted, 2 packets received, 0% packet loss")
        code, out, _ = await asking.run("ping -c 1 echo")
        assert (code, out.splitlines()[-1]) == (1, "1 packets transmitted, 0 packets received, 100% packet loss")

        # an image whose program is curl
        await client.create(PODS, pod("one", "curlimages/curl", args=["-s", "http://echo"]), namespace="default")
        await virtual_clock.sleep(5)
        log = await client.request("GET", "/api/v1/namespaces/default/pods/one/log", query={"container": ["main"]})
        assert log in (b"hello\n", "hello\n")

        # a Pod's own loopback
        assert (await Inside(cluster, pods["page"]).run("curl -s localhost"))[1].startswith("<!DOCTYPE html>")


async def test_an_affine_service_sends_a_source_to_one_endpoint(virtual_clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1), clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl")
        for name in ("a", "b", "c"):
            echo = pod(name, "hashicorp/http-echo", args=[f"-text={name}"], ports=[{"containerPort": 5678}])
            echo["metadata"]["labels"] = {"app": "echo"}
            await client.create(PODS, echo, namespace="default")
        await client.create(PODS, pod("asking", "busybox:1.36", "sleep", "9999"), namespace="default")
        await client.create(SERVICES, service("any", "echo"), namespace="default")
        await client.create(SERVICES, service("one", "echo", sessionAffinity="ClientIP"), namespace="default")
        pods = await until_running(client, virtual_clock, 4)
        await virtual_clock.sleep(5)
        asking = Inside(cluster, pods["asking"])

        async def answers(name: str) -> set[str]:
            return set((await asking.run(f"for i in $(seq 30); do wget -qO- {name}; done"))[1].split())

        assert await answers("any") == {"a", "b", "c"}
        assert len(await answers("one")) == 1
        await client.patch(SERVICES, "one", {"spec": {"sessionAffinity": "None"}}, namespace="default")
        await virtual_clock.sleep(5)
        assert await answers("one") == {"a", "b", "c"}


async def test_netexec_tells_its_name_on_the_port_that_is_asked_for(virtual_clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1), clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl")
        image = "registry.k8s.io/e2e-test-images/agnhost:2.53"
        probe = {"httpGet": {"path": "/healthz", "port": 8083}}
        netexec = pod("netexec", image, args=["netexec", "--http-port=8083"], readinessProbe=probe)
        await client.create(PODS, netexec, namespace="default")
        await client.create(PODS, pod("asking", image), namespace="default")
        pods = await until_running(client, virtual_clock, 2)
        address = pods["netexec"]["status"]["podIP"]
        asking = Inside(cluster, pods["asking"])

        assert await asking.run(f"curl -s {address}:8083/hostname") == (0, "netexec", "")
        assert await asking.run(f"curl -s '{address}:8083/echo?msg=hi&code=404'") == (0, "hi", "")
        assert await asking.run(f"/agnhost connect {address}:8083") == (0, "", "")
        assert await asking.run(f"/agnhost connect {address}:80") == (1, "", "REFUSED\n")
        assert await asking.run("/agnhost dns-server-list") == (0, "10.96.0.10\n", "")
