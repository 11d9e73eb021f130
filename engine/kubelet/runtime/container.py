"""One simulated container: a state machine whose process is a generator, resumed by timers of the model clock.

A container that waits for nothing but a signal costs nothing: no task, no timer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import partial

from engine.api.quantity import Quantity
from engine.clock import Clock, Timer
from engine.kubelet import kernel
from engine.kubelet.cri import ContainerConfig, ContainerState, ContainerStatus, CriError, Mount, PodSandboxStatus
from engine.kubelet.runtime import agnhost, entrypoints, samples
from engine.kubelet.runtime.catalog import ImageProfile, known_as
from engine.kubelet.runtime.files import Files
from engine.kubelet.runtime.image_files import tree_of
from engine.kubelet.runtime.kernel_files import KernelFiles
from engine.kubelet.runtime.logs import LogFile
from engine.kubelet.runtime.reference import Reference
from engine.kubelet.runtime.sessions import encoded
from engine.kubelet.runtime.shell import Call, exists, is_usual_program, programs, start
from engine.kubelet.runtime.shell.process import FOREVER, Input, Io, Machine, Network, OutOfMemoryError, Process
from engine.kubelet.runtime.shell.processes import Processes
from engine.kubelet.runtime.terminal import Terminal
from engine.streaming import Output
from engine.trace import SpanContext, current_context

log = logging.getLogger(__name__)

START_ERROR = 128  # containerd's exit code for a container that could not be started
KILLED = 137
# Where web servers have their pages.
DOCUMENTS = {"nginx": "/usr/share/nginx/html", "httpd": "/usr/local/apache2/htdocs"}
# Where they are told what to answer.
CONFIGURATION = {"nginx": ("/etc/nginx", "/docker-entrypoint.d"), "httpd": ("/usr/local/apache2/conf",)}


class SimulatedContainer:
    def __init__(
        self,
        status: ContainerStatus,
        profile: ImageProfile,
        machine: Machine,
        clock: Clock,
        on_exit: Callable[[SimulatedContainer], None],
    ) -> None:
        self.status = status
        self.profile = profile
        self.machine = machine
        machine.memory_limit = self._memory_limit
        machine.files.kernel = KernelFiles(machine, lambda: self.status.config)
        self.log = LogFile(clock.now)
        self.cause: SpanContext | None = None  # the call that started it
        self._clock = clock
        self._on_exit = on_exit
        self._process: Process | None = None
        self._begun = False
        self._pid = 0
        self._timer: Timer | None = None
        self._exited: asyncio.Future[None] | None = None
        self._endings: dict[Callable[[], None], None] = {}
        self._listeners: dict[Output, None] = {}
        config = status.config
        self.input = Input() if config.stdin or config.tty else None
        self.terminal = Terminal(self.input, self._show, self.signal) if config.tty and self.input else None

    @property
    def running(self) -> bool:
        return self.status.state == ContainerState.RUNNING

    # -- CRI's StartContainer and StopContainer

    def start(self) -> None:
        """Run its program. Raises CriError if the image does not have it."""
        self.cause = current_context()
        argv = command_line(self.status.config, self.profile)
        if argv and not exists(self.machine, argv[0]):
            message = _not_started(argv[0])
            self._finish(START_ERROR, "StartError", message)
            raise CriError("Unknown", message)
        self.status.state = ContainerState.RUNNING
        self.status.started_at = self._clock.now()

    def run(self) -> None:
        """Let the program take its first step (after the runtime has told that the container started)."""
        Context().run(self._run)

    def _run(self) -> None:
        argv = command_line(self.status.config, self.profile)
        started = self._launch(argv)
        if isinstance(started, int):
            self._finish(started)
        else:
            self._process = started
            self._resume()

    def signal(self, name: str) -> None:
        """Deliver a signal to process 1; SIGKILL ends it."""
        if not self.running:
            return
        if name == "KILL" or self._process is None:
            self._end(KILLED)
        elif self._begun:
            Context().run(self._resume, name)

    def _signalled_from_inside(self, name: str) -> None:
        self._clock.call_later(0, lambda: self.signal(name))

    def kill(self, reason: str = "") -> None:
        if self.running:
            self._end(KILLED, reason)

    def power_off(self) -> None:
        """The machine is gone: no timer is left, and nobody is told."""
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.close()
            self._process = None

    async def wait(self, timeout: float) -> bool:
        """Wait until it has exited; False if `timeout` model seconds were not enough."""
        if not self.running:
            return True
        if self._exited is None or self._exited.done():
            self._exited = asyncio.get_running_loop().create_future()
        try:
            async with self._clock.timeout(timeout):
                await asyncio.shield(self._exited)
        except TimeoutError:
            return not self.running
        return True

    # -- running

    def _launch(self, argv: Sequence[str]) -> int | Process:
        if self.profile.output:
            self._print(1, self.profile.output)
            return 0
        if not argv:  # an image that the catalogue does not know: taken for a server that ends on SIGTERM
            self._serve_unknown()
            name = self.machine.image.rpartition("/")[2].partition(":")[0]
            self._pid = self.machine.processes.enter([name], self._signalled_from_inside, self.machine.files)
            return programs.serve(programs.Server(0), first=True)
        program = argv[0].rpartition("/")[2]
        by_entrypoint = not self.status.config.command and self.profile.programs is not None
        if by_entrypoint and (refused := entrypoints.refusal(program, self.machine)):
            self._print(2, refused)
            return 1
        self._pid = self.machine.processes.enter(argv, self._signalled_from_inside, self.machine.files)
        reads = self.input if self.status.config.stdin else None
        io = Io(
            partial(self._print, 1),
            partial(self._print, 2),
            None,
            reads,
            self.terminal is not None,
            window=self.terminal,
        )
        call = Call(
            self.machine, list(argv), io, self.machine.env, self.status.config.working_dir or "/", first=self._pid == 1
        )
        started = start(call)
        if by_entrypoint and self.machine.listening and self.profile.ports:  # the image has its server configured
            self.machine.listening.clear()
            self.machine.listening.update(self.profile.ports)
        if not isinstance(started, int):
            told = entrypoints.startup(program, self.machine, by_entrypoint=by_entrypoint)
            if told is not None:
                self.log.open_with(told)
        return started

    def _serve_unknown(self) -> None:
        """Any port may be the server's, but for a sample's."""
        sample = samples.sample_of(self.machine)
        if sample is None:
            self.machine.serving = True
            return
        self.machine.listening.add(sample.port)
        if (told := samples.startup(self.machine)) is not None:
            self.log.open_with(told)

    def _memory_limit(self) -> int | None:
        amount = (self.status.config.resources.get("limits") or {}).get("memory")
        return Quantity.parse(str(amount)).value if amount is not None else None

    def _resume(self, signal: str | None = None) -> None:
        process = self._process
        if process is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            seconds = process.send(signal) if self._begun else next(process)
        except StopIteration as end:
            self._finish(int(end.value or 0) & 0xFF)
            return
        except OutOfMemoryError:
            self._process = None
            self._end(KILLED, "OOMKilled")
            return
        except Exception:
            log.exception("the simulated program of container %s failed", self.status.name)
            self._finish(255)
            return
        self._begun = True
        if seconds < FOREVER:
            self._timer = self._clock.call_later(seconds, lambda: Context().run(self._resume))

    def _end(self, exit_code: int, reason: str = "") -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.close()
        self._finish(exit_code, reason)

    def _finish(self, exit_code: int, reason: str = "", message: str = "") -> None:
        self._process = None
        self._timer = None
        status = self.status
        status.state = ContainerState.EXITED
        status.finished_at = self._clock.now()
        status.exit_code = exit_code
        status.reason = reason or ("Error" if exit_code else "Completed")
        status.message = message
        self.machine.processes.leave(self._pid)
        self.machine.listening.clear()
        self.machine.serving = False
        self.log.close()
        if self._exited is not None and not self._exited.done():
            self._exited.set_result(None)
        for told in list(self._endings):
            told()
        self._on_exit(self)

    # -- what it prints, and who is attached

    def _print(self, stream: int, text: str) -> None:
        self.log.write("stdout" if stream == 1 or self.terminal else "stderr", _printable(text))
        if not self._listeners:
            return
        if self.terminal is not None:
            self.terminal.write(text)
        else:
            self._tell(stream, text)

    def _show(self, text: str) -> None:
        """What its terminal shows."""
        self._tell(1, text)

    def _tell(self, stream: int, text: str) -> None:
        for listener in list(self._listeners):
            listener(stream, encoded(text))

    def listen(self, output: Output) -> Callable[[], None]:
        """Tell of all that it prints from now on; returns what ends that."""
        self._listeners[output] = None
        return lambda: self._listeners.pop(output, None)

    def when_ended(self, told: Callable[[], None]) -> Callable[[], None]:
        """Tell once when it ends; returns what takes that back."""
        self._endings[told] = None
        return lambda: self._endings.pop(told, None)

    def input_came(self) -> None:
        if self.running and self._begun:
            Context().run(self._resume)

    # -- the network

    def answers(self, port: int) -> bool:
        """Whether something listens: what its programs opened; of a server, what the Pod declares for it; of a server
        that the catalogue does not know, any port."""
        if port in self.machine.listening:
            return True
        return self.machine.serving and (self.machine.programs is None or port in self.status.config.ports)

    def http_status(self, path: str) -> int:
        """200, but 404 from a known web server without configuration of its own for a page that it does not have (403
        for a folder without its index)."""
        if (answered := agnhost.page(self.machine, path)) is not None:
            return answered.status
        if not self.profile.paths or self._is_configured() or self.page(path) is not None:
            return 200
        return 403 if path.partition("?")[0] == "/" else 404

    def _is_configured(self) -> bool:
        """Whether what is mounted may tell the server what to answer: in, at or above the places for that, or named by
        the command."""
        config, programs = self.status.config, self.profile.programs or ()
        places = [f"{place}/" for name, those in CONFIGURATION.items() if name in programs for place in those]
        mounted = [mount.container_path.rstrip("/") for mount in config.mounts]
        words = " ".join((*config.command, *config.args))
        return any(
            path in words or any(place.startswith(f"{path}/") or path.startswith(place) for place in places)
            for path in mounted
        )

    def page(self, path: str) -> str | None:
        """What a known web server has at a path: a file of its folder."""
        programs = self.profile.programs or ()
        folder = next((DOCUMENTS[name] for name in DOCUMENTS if name in programs), None)
        page = path.partition("?")[0]
        return None if folder is None else self.machine.files.get(folder + page + "index.html" * page.endswith("/"))


def _printable(text: str) -> str:
    """A log is text, also where a program prints bytes that are not."""
    return text if text.isascii() else encoded(text).decode("utf-8", "replace")


def command_line(config: ContainerConfig, profile: ImageProfile) -> list[str]:
    """What to run: the Pod's command and args in the place of the image's entrypoint and cmd (as the API defines)."""
    if config.command:
        return [*config.command, *config.args]
    if not config.args:
        return [*profile.entrypoint, *profile.cmd]
    if profile.entrypoint:
        return [*profile.entrypoint, *config.args]
    server = profile.cmd[0] if profile.cmd else ""
    if config.args[0].startswith("-") and server:
        return [server, *config.args]
    # An unknown image may have an entrypoint, whose arguments these are; but hardly ever is one of them a shell's name.
    return list(config.args) if profile.programs is not None or is_usual_program(config.args[0]) else []


def _not_started(program: str) -> str:
    missing = "no such file or directory" if "/" in program else "executable file not found in $PATH"
    called = f"stat {program}: {missing}: unknown" if "/" in program else f"{missing}: unknown"
    return (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        f'unable to start container process: error during container init: exec: "{program}": {called}'
    )


def new_machine(
    status: ContainerStatus,
    profile: ImageProfile,
    image: Reference,
    *,
    sandbox: PodSandboxStatus,
    clock: Clock,
    network: Network,
    processes: Processes,
    cpus: int,
    memory: int,
) -> Machine:
    """The machine that a container's processes see."""
    config, hostname = status.config, sandbox.config.hostname
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": hostname}
    env.update(config.envs)
    env.setdefault("HOME", "/root" if not (config.user or profile.uid) else "/")
    tree = tree_of(known_as(image), profile.busybox)
    files = Files(
        tree.files,
        clock.now,
        directories=tree.directories,
        identity=status.identity,
        read_only=config.readonly_rootfs,
        privileged=config.privileged,
        termination_log=config.termination_message_path,
    )
    for name, value in sandbox.config.sysctls.items():
        files.provide(kernel.sysctl_path(name), f"{value}\n")
    for mount in config.mounts:
        _mount(files, mount)
    return Machine(
        files=files,
        hostname=hostname,
        address=sandbox.ips[0],
        image=image.full,
        now=clock.now,
        monotonic=clock.monotonic,
        env=env,
        network=network,
        processes=processes,
        programs=profile.programs,
        busybox=profile.busybox,
        bare=profile.bare,
        stdin_open=config.stdin or config.tty,
        cpus=max(cpus, 1),
        memory=memory,
    )


def _mount(files: Files, mount: Mount) -> None:
    path, volume = mount.container_path.rstrip("/"), mount.volume
    if volume is None:
        files.directories.show(path)
        return
    if mount.sub_path in volume:  # one file
        files.directories.show(path.rpartition("/")[0])
    else:
        files.directories.show(path)
        volume.make_directory(mount.sub_path)
    files.mount(path, volume, mount.sub_path, read_only=mount.readonly)
