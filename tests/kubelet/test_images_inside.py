"""What is in a simulated container of a well-known image: its files, what its entrypoint says, and its memory."""

from __future__ import annotations

import pytest

from engine.kubelet.cri import ContainerState, CriError
from engine.world import World
from tests.kubelet.containers import logged, started


@pytest.mark.parametrize(
    ("image", "command", "out"),
    [
        pytest.param("busybox", "ls /", "bin dev etc home lib lib64 proc root sys tmp usr var", id="busybox"),
        pytest.param("alpine", "sed -n 2p /etc/os-release", "ID=alpine", id="alpine"),
        pytest.param("nginx:1.27-alpine", "sed -n 2p /etc/os-release", "ID=alpine", id="a variant"),
        pytest.param("debian", "grep ^ID /etc/os-release", "ID=debian", id="debian"),
        pytest.param("ubuntu", "grep ^ID= /etc/os-release", "ID=ubuntu", id="ubuntu"),
        pytest.param("mysql", "grep ^ID= /etc/os-release", 'ID="ol"', id="oracle"),
        pytest.param("nginx", "ls /etc/nginx", "conf.d mime.types nginx.conf", id="nginx, configuration"),
        pytest.param("nginx", "ls /usr/share/nginx/html", "50x.html index.html", id="nginx, pages"),
        pytest.param("nginx", "ls -1 /etc/nginx", "conf.d mime.types nginx.conf", id="one in a line"),
        pytest.param("nginx", "which nginx", "/usr/sbin/nginx", id="nginx, which"),
        pytest.param("nginx", "rm /etc/nginx/nginx.conf; ls /etc/nginx", "conf.d mime.types", id="a file goes"),
        pytest.param("busybox", "hostname -i", "10.244.0.2", id="the address"),
        pytest.param("busybox", "ps | head -n 2 | tail -n 1", "1 root 0:00 sleep 3600", id="process 1"),
    ],
)
async def test_what_a_container_shows(world: World, image: str, command: str, out: str) -> None:
    runtime, container = await started(world, image, "sleep", "3600")

    ran = await runtime.exec_sync(container, ["sh", "-c", command])

    assert " ".join(ran.stdout.split()) == out


@pytest.mark.parametrize(
    ("image", "program", "there"),
    [
        ("busybox", "bash", False),
        ("busybox", "ash", True),
        ("nginx:alpine", "/bin/bash", False),
        ("postgres:17-alpine", "bash", True),
        ("debian", "bash", True),
        ("debian", "ash", False),
        ("registry.k8s.io/pause:3.10", "sh", False),
        ("hashicorp/http-echo", "ls", False),
        ("gcr.io/distroless/static-debian12", "sh", False),
        ("gcr.io/distroless/static-debian12:debug", "sh", True),
    ],
)
async def test_which_shell_an_image_has(world: World, image: str, program: str, there: bool) -> None:
    """Whoever runs one that is not there is told so by the runtime: there is nothing that could say 127.
    (kubernetes.io's page about ephemeral containers begins with a Pod of the pause image, in which no `sh` is.)"""
    runtime, container = await started(world, image, *(() if "/" in image else ("sleep", "3600")))

    async def run() -> int:
        return (await runtime.exec_sync(container, [program, "-c", "exit 3"])).exit_code

    if there:
        assert await run() == 3
        return
    with pytest.raises(CriError, match=f'exec: "{program}": '):
        await run()


async def test_what_one_container_writes_another_of_its_image_does_not_see(world: World) -> None:
    first, one = await started(world, "nginx")
    second, two = await started(world, "nginx")
    await first.exec_sync(one, ["sh", "-c", "echo mine > /usr/share/nginx/html/index.html"])

    assert first.read_file(one, "/usr/share/nginx/html/index.html") == "mine\n"
    assert "Welcome to nginx!" in str(second.read_file(two, "/usr/share/nginx/html/index.html"))


@pytest.mark.parametrize(
    ("image", "folder", "said"),
    [
        pytest.param(
            "registry.k8s.io/e2e-test-images/httpd:2.4.38-4", "/usr/local/apache2/htdocs", "renamed ", id="httpd"
        ),
        pytest.param("registry.k8s.io/e2e-test-images/nginx:1.14-4", "/usr/share/nginx/html", "renamed ", id="nginx"),
        pytest.param("nginx:1.27-alpine", "/usr/share/nginx/html", "", id="nginx, busybox"),
    ],
)
async def test_a_page_that_was_taken_away_is_not_served(world: World, image: str, folder: str, said: str) -> None:
    """How the end-to-end tests of StatefulSets make a Pod unready and ready again."""
    runtime, container = await started(world, image)

    away = await runtime.exec_sync(container, ["sh", "-c", f"mv -v {folder}/index.html /tmp/"])
    without = [runtime.network_probe(container, 80, path) for path in ("/index.html", "/")]
    shown = await runtime.exec_sync(container, ["sh", "-c", "curl -s localhost"])
    await runtime.exec_sync(container, ["sh", "-c", f"mv /tmp/index.html {folder}/"])

    assert away.stdout == f"{said}'{folder}/index.html' -> '/tmp/index.html'\n"
    assert without == [("status", "404"), ("status", "403")]
    assert "403 Forbidden" in shown.stdout
    assert runtime.network_probe(container, 80, "/index.html") == ("status", "200")


async def test_nginx_serves_the_files_of_its_folder(world: World) -> None:
    runtime, container = await started(world, "nginx")
    await runtime.exec_sync(container, ["sh", "-c", "cd /usr/share/nginx/html; echo mine > index.html; echo b > b.txt"])

    served = await runtime.exec_sync(container, ["sh", "-c", "curl -s localhost; curl -s localhost/b.txt"])

    assert served.stdout == "mine\nb\n"
    assert runtime.network_probe(container, 80, "/b.txt") == ("status", "200")
    assert runtime.network_probe(container, 80, "/c.txt") == ("status", "404")


@pytest.mark.parametrize(
    ("image", "env", "words"),
    [
        pytest.param("postgres:17", {}, "Error: Database is uninitialized and superuser password is not specified.",
                     id="postgres"),
        pytest.param("postgres:17", {"POSTGRES_PASSWORD": ""}, "       superuser. For example, "
                     '"-e POSTGRES_PASSWORD=password" on "docker run".', id="postgres, empty"),
        pytest.param("mysql:8", {}, "    - MYSQL_ALLOW_EMPTY_PASSWORD", id="mysql"),
        pytest.param("mariadb:11", {"MARIADB_USER": "app"}, "\tYou need to specify one of MARIADB_ROOT_PASSWORD, "
                     "MARIADB_ROOT_PASSWORD_HASH, MARIADB_ALLOW_EMPTY_ROOT_PASSWORD and MARIADB_RANDOM_ROOT_PASSWORD",
                     id="mariadb"),
    ],
)  # fmt: skip
async def test_a_database_without_a_password_exits(world: World, image: str, env: dict[str, str], words: str) -> None:
    runtime, container = await started(world, image, envs=env)

    status = await runtime.container_status(container)

    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 1, "Error")
    assert words in logged(runtime, container)


@pytest.mark.parametrize(
    ("image", "env"),
    [
        pytest.param("postgres:17", {"POSTGRES_PASSWORD": "x"}, id="postgres"),
        pytest.param("postgres:17", {"POSTGRES_HOST_AUTH_METHOD": "trust"}, id="postgres, trust"),
        pytest.param("mysql:8", {"MYSQL_ALLOW_EMPTY_PASSWORD": "1"}, id="mysql"),
        pytest.param("mariadb:11", {"MARIADB_ROOT_PASSWORD": "x"}, id="mariadb"),
        pytest.param("mariadb:11", {"MYSQL_ROOT_PASSWORD": "x"}, id="mariadb, the old name"),
    ],
)
async def test_a_database_with_a_password_runs(world: World, image: str, env: dict[str, str]) -> None:
    runtime, container = await started(world, image, envs=env)

    assert (await runtime.container_status(container)).state == ContainerState.RUNNING


@pytest.mark.parametrize(
    ("image", "env", "first", "last"),
    [
        pytest.param("nginx:1.27", {},
                     "/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration",
                     "2026/01/01 00:00:00 [notice] 1#1: start worker process 29", id="nginx"),
        pytest.param("redis:7.2", {}, "1:C 01 Jan 2026 00:00:00.000 * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
                     "1:M 01 Jan 2026 00:00:00.000 * Ready to accept connections tcp", id="redis"),
        pytest.param("postgres:17", {"POSTGRES_PASSWORD": "x"}, "",
                     "2026-01-01 00:00:00.000 UTC [1] LOG:  database system is ready to accept connections",
                     id="postgres"),
    ],
)  # fmt: skip
async def test_servers_tell_of_their_start(
    world: World, image: str, env: dict[str, str], first: str, last: str
) -> None:
    runtime, container = await started(world, image, envs=env)
    await world.clock.sleep(60)

    lines = logged(runtime, container)

    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    ("command", "args", "memory", "seconds"),
    [
        pytest.param(("tail", "/dev/zero"), (), "1Gi", 1, id="tail"),
        pytest.param(("sh", "-c", "echo hi; tail /dev/zero; echo no"), (), "512Mi", 0.5, id="in a script"),
        pytest.param(("stress",), ("--vm", "1", "--vm-bytes", "250M", "--vm-hang", "1"), "128Mi", 0.125, id="stress"),
    ],
)
async def test_a_container_that_takes_more_memory_than_it_may_is_killed(
    world: World, command: tuple[str, ...], args: tuple[str, ...], memory: str, seconds: float
) -> None:
    image = "polinux/stress" if command == ("stress",) else "busybox"
    runtime, container = await started(world, image, *command, args=args, memory=memory)
    await world.clock.sleep(10)

    status = await runtime.container_status(container)

    assert (status.exit_code, status.reason) == (137, "OOMKilled")
    assert status.started_at is not None
    assert status.finished_at is not None
    assert (status.finished_at - status.started_at).total_seconds() == seconds


@pytest.mark.parametrize(
    ("args", "memory"),
    [
        pytest.param(("--vm", "1", "--vm-bytes", "100M"), "200Mi", id="less than the limit"),
        pytest.param(("--vm", "1", "--vm-bytes", "100M"), "", id="no limit"),
    ],
)
async def test_a_container_within_its_memory_runs_on(world: World, args: tuple[str, ...], memory: str) -> None:
    runtime, container = await started(world, "polinux/stress", "stress", args=args, memory=memory)
    await world.clock.sleep(60)

    assert (await runtime.container_status(container)).state == ContainerState.RUNNING


@pytest.mark.parametrize(
    ("args", "ended"),
    [
        pytest.param(("sh", "-c", "exit 3"), 3, id="a shell"),
        pytest.param(("/bin/sleep", "2"), 0, id="a utility"),
        pytest.param(("serve", "--port=80"), None, id="arguments of its own"),
    ],
)
async def test_what_an_unknown_image_makes_of_arguments(world: World, args: tuple[str, ...], ended: int | None) -> None:
    """`kubectl run -it debug --image=nicolaka/netshoot -- bash` wants a shell."""
    runtime, container = await started(world, "example.com/tools:1", args=args)
    await world.clock.sleep(5)

    status = await runtime.container_status(container)
    assert (status.exit_code if status.state == ContainerState.EXITED else None) == ended


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param(("perl", "-Mbignum=bpi", "-wle", "print bpi(25)"), "3.141592653589793238462643\n", id="pi"),
        pytest.param(("perl", "-we", "my $x = 1;"), "", id="a one-liner that is not simulated"),
        pytest.param(
            (
                "bash",
                "-c",
                "items=(foo 'b r'\n baz)\necho ${items[$X]} ${#items[@]} $items ${items[-1]} ${items[9]}."
                '; for i in "${items[@]}"; do echo $i; done; none=(); echo ${#none[@]}',
            ),
            "b r 3 foo baz .\nfoo\nb r\nbaz\n0\n",
            id="arrays of bash",
        ),
        pytest.param(("sh", "-c", "echo foo > /f; rev /f; echo bar | rev"), "oof\nrab\n", id="rev"),
    ],
)
async def test_the_jobs_of_the_documentation_end(world: World, command: tuple[str, ...], said: str) -> None:
    """kubernetes.io: "Jobs", and "Indexed Job for Parallel Processing with Static Work Assignment"."""
    runtime, container = await started(world, "perl:5.34.0", *command, envs={"X": "1"})
    await world.clock.sleep(1)

    assert (await runtime.container_status(container)).exit_code == 0
    assert "".join(f"{line}\n" for line in logged(runtime, container)) == said


async def test_an_exec_that_takes_all_memory_ends_its_container(world: World) -> None:
    runtime, container = await started(world, "busybox", "sleep", "3600", memory="1Gi")

    ran = await runtime.exec_sync(container, ["tail", "/dev/zero"])

    assert ran.exit_code == 137
    assert (await runtime.container_status(container)).reason == "OOMKilled"
