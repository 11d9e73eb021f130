"""Runs a syntax tree on a simulated machine.

The interpreter is one process: a generator that yields what it would sleep. Its children are generators that it resumes
itself, so that a signal reaches the shell, not the command that it waits for, as in a container whose process 1 is a
shell: without a trap, process 1 ignores SIGTERM.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from engine.kubelet.runtime.shell import builtins
from engine.kubelet.runtime.shell.commands import Call
from engine.kubelet.runtime.shell.commands.call import absolute
from engine.kubelet.runtime.shell.control import BreakLoop, ContinueLoop, ExitShell, ReturnFunction
from engine.kubelet.runtime.shell.jobs import Job
from engine.kubelet.runtime.shell.lexer import ShellSyntaxError, Word
from engine.kubelet.runtime.shell.parser import parse
from engine.kubelet.runtime.shell.process import Io, Machine, Process
from engine.kubelet.runtime.shell.processes import SIGNALS
from engine.kubelet.runtime.shell.redirection import redirected
from engine.kubelet.runtime.shell.syntax import (
    AndOr,
    Case,
    Command,
    For,
    Group,
    If,
    Loop,
    Pipeline,
    Redirected,
    Script,
    Simple,
)
from engine.kubelet.runtime.shell.words import Steps, Words

Launcher = Callable[[Call], int | Process]

# A loop that never sleeps would never let go of the event loop: so many commands cost so much model time.
COMMANDS_PER_SLICE = 500
SLICE_SECONDS = 0.1


class Interpreter:
    """One shell. `launch` starts its commands; `first` says that it is process 1 of the container."""

    def __init__(
        self, machine: Machine, io: Io, *, launch: Launcher, name: str = "sh", first: bool = False, pid: int = 7
    ) -> None:
        self.machine = machine
        self.pid = 1 if first else pid
        self.name = name
        self.arguments: list[str] = []
        self.variables: dict[str, str] = dict(machine.env)
        self.arrays: dict[str, list[str]] = {}
        self.exported: set[str] = set(machine.env)
        self.directory = "/"
        self.status = 0
        self.traps: dict[str, str] = {}
        self.errexit = False
        self.nounset = False
        self.pipefail = False
        self.jobs: list[Job] = []
        self._io = io
        self._launch = launch
        self._words = Words(self)
        self._first = first
        self._functions: dict[str, Command] = {}
        self._pending: list[str] = []
        self._count = 0
        self._condition = 0  # depth of conditions, where errexit does not apply
        self._pids = 10

    # -- the outside

    def run(self, script: str) -> Process:
        """The process of `sh -c script`."""
        try:
            tree = parse(script)
        except ShellSyntaxError as error:
            self._io.stderr(f"{self.name}: syntax error: {error}\n")
            return 2
        try:
            only = _only_command(tree)
            if only is not None:
                yield from self._replace_by(only)
            else:
                yield from self._script(tree)
        except ExitShell as end:
            self.status = end.status
        except (ReturnFunction, BreakLoop, ContinueLoop):
            pass
        if "EXIT" in self.traps:
            yield from self._trap("EXIT")
        return self.status

    def environment(self) -> dict[str, str]:
        return {name: self.variables[name] for name in sorted(self.exported) if name in self.variables}

    def _replace_by(self, command: Simple) -> Steps[None]:
        """A script of one command: the shell execs it, so that signals reach it."""
        yield from self._simple(command, self._io, exec_it=True)

    # -- time and signals

    def take_signals(self) -> Steps[None]:
        """Those that were sent just now, the shell's own to itself among them, before its next command."""
        yield from self._pass_time(0.0)

    def wait_for(self, *jobs: Job, interruptible: bool = False) -> Steps[None]:
        """Let time pass until `jobs` have ended; with `interruptible` also until a trap is due."""
        while any(job.running for job in jobs):
            if interruptible and self._pending:
                return
            yield from self._pass_time(min(job.due for job in [*self.jobs, *jobs]))

    def _pass_time(self, due: float) -> Steps[bool]:
        """Wait until `due`. True if it was woken before, because input came: who waits for it must look."""
        signal = yield max(0.0, due - self.machine.monotonic())
        if signal is not None:
            self._signalled(signal)
        now = self.machine.monotonic()
        early = signal is None and now < due
        for job in self.jobs:
            if job.running and (job.due <= now or early):
                job.advance(now)
        return early

    def _signalled(self, signal: str) -> None:
        if signal in self.traps:
            if self.traps[signal]:
                self._pending.append(signal)
        elif not self._first and signal in SIGNALS:
            raise ExitShell(128 + SIGNALS[signal])

    def _trap(self, name: str) -> Steps[None]:
        script = self.traps.pop(name) if name == "EXIT" else self.traps[name]
        before = self.status
        try:
            yield from self._script(parse(script))
        except ShellSyntaxError as error:
            self._io.stderr(f"{self.name}: syntax error: {error}\n")
        self.status = before

    def _run_traps(self) -> Steps[None]:
        while self._pending:
            yield from self._trap(self._pending.pop(0))

    def _breathe(self) -> Steps[None]:
        self._count += 1
        if self._count % COMMANDS_PER_SLICE == 0:
            due = self.machine.monotonic() + SLICE_SECONDS
            while self.machine.monotonic() < due:
                yield from self._pass_time(min([due, *(job.due for job in self.jobs if job.running)]))

    # -- lists, pipelines

    def _script(self, script: Script, io: Io | None = None) -> Steps[None]:
        for item in script:
            yield from self._and_or(item, io or self._io)

    def _and_or(self, item: AndOr, io: Io) -> Steps[None]:
        if item.background:
            self._background(item._replace(background=False), io)
            return
        for index, (operator, pipeline) in enumerate(item.links):
            if (operator == "&&" and self.status) or (operator == "||" and not self.status):
                continue
            last = index == len(item.links) - 1
            self._condition += not last
            try:
                yield from self._pipeline(pipeline, io)
            finally:
                self._condition -= not last
            if self.errexit and self.status and last and not self._condition and not pipeline.negated:
                raise ExitShell(self.status)

    def _background(self, item: AndOr, io: Io) -> None:
        child = self._fork(Io(io.stdout, io.stderr, "", watched=io.watched))
        job = self.start_job(child.subshell((item,)))
        job.advance(self.machine.monotonic())
        self.jobs.append(job)
        self.variables["!"] = str(job.pid)
        self.status = 0

    def start_job(self, process: Process) -> Job:
        self._pids += 1
        return Job(self._pids, process)

    def _fork(self, io: Io) -> Interpreter:
        child = Interpreter(self.machine, io, launch=self._launch, name=self.name, pid=self.pid)
        child.arguments = list(self.arguments)
        child.variables = dict(self.variables)
        child.arrays = dict(self.arrays)
        child.exported = set(self.exported)
        child.directory = self.directory
        child.errexit = self.errexit
        child.nounset = self.nounset
        child.pipefail = self.pipefail
        child._functions = dict(self._functions)
        child._pids = self._pids
        return child

    def subshell(self, script: Script) -> Process:
        """The process of a forked shell that runs `script`."""
        try:
            yield from self._script(script)
        except ExitShell as end:
            self.status = end.status
        if "EXIT" in self.traps:
            yield from self._trap("EXIT")
        return self.status

    def _pipeline(self, pipeline: Pipeline, io: Io) -> Steps[None]:
        if len(pipeline.commands) == 1:
            yield from self._command(pipeline.commands[0], io)
        else:
            yield from self._piped(pipeline.commands, io)
        if pipeline.negated:
            self.status = int(not self.status)
        yield from self._run_traps()

    def _piped(self, pipeline: tuple[Command, ...], io: Io) -> Steps[None]:
        """Each command runs to its end in a subshell, its output the next one's input."""
        stdin, source, failed = io.stdin, io.input, 0
        for command in pipeline[:-1]:
            output: list[str] = []
            yield from self._foreground(Io(output.append, io.stderr, stdin, source, watched=io.watched), command)
            stdin, source, failed = "".join(output), None, self.status or failed
        yield from self._foreground(Io(io.stdout, io.stderr, stdin, watched=io.watched), pipeline[-1])
        if self.pipefail:
            self.status = self.status or failed

    def _foreground(self, io: Io, command: Command) -> Steps[None]:
        child = self._fork(io)
        link = AndOr((("", Pipeline((command,), False)),), False)
        self.status = yield from self._await(child.subshell((link,)))

    def _await(self, process: Process) -> Steps[int]:
        job = self.start_job(process)
        job.advance(self.machine.monotonic())
        while job.running:
            due = min([job.due, *(other.due for other in self.jobs if other.running)])
            try:
                early = yield from self._pass_time(due)
            except ExitShell:
                job.kill(143)
                raise
            now = self.machine.monotonic()
            if job.due <= now or early:
                job.advance(now)
        return job.status or 0

    # -- commands

    def _command(self, command: Command, io: Io) -> Steps[None]:
        if isinstance(command, Simple):
            yield from self._simple(command, io)
        elif isinstance(command, Redirected):
            target = yield from redirected(self, self._words, io, command.redirects)
            if target is None:
                self.status = 1
            else:
                yield from self._command(command.command, target)
        elif isinstance(command, Group):
            yield from self._group(command, io)
        elif isinstance(command, If):
            yield from self._if(command, io)
        elif isinstance(command, Loop):
            yield from self._loop(command, io)
        elif isinstance(command, For):
            yield from self._for(command, io)
        elif isinstance(command, Case):
            yield from self._case(command, io)
        else:
            self._functions[command.name] = command.body
            self.status = 0

    def _group(self, command: Group, io: Io) -> Steps[None]:
        if command.subshell:
            self.status = yield from self._await(self._fork(io).subshell(command.body))
        else:
            yield from self._script(command.body, io)

    def _test(self, condition: Script, io: Io) -> Steps[bool]:
        self._condition += 1
        try:
            yield from self._script(condition, io)
        finally:
            self._condition -= 1
        return self.status == 0

    def _if(self, command: If, io: Io) -> Steps[None]:
        for condition, body in command.branches:
            if (yield from self._test(condition, io)):
                yield from self._script(body, io)
                return
        if command.otherwise is not None:
            yield from self._script(command.otherwise, io)
        else:
            self.status = 0

    def _loop(self, command: Loop, io: Io) -> Steps[None]:
        status = 0
        while (yield from self._test(command.condition, io)) != command.until:
            going = yield from self._iteration(command.body, io)
            status = self.status
            if not going:
                break
            yield from self._breathe()
        self.status = status

    def _for(self, command: For, io: Io) -> Steps[None]:
        values = list(self.arguments)
        if command.words is not None:
            values = yield from self._words.fields(command.words)
        self.status = 0
        for value in values:
            self.variables[command.variable] = value
            if not (yield from self._iteration(command.body, io)):
                break

    def _iteration(self, body: Script, io: Io) -> Steps[bool]:
        """Once through a loop's body; False to leave the loop."""
        try:
            yield from self._script(body, io)
        except BreakLoop as leaving:
            if leaving.levels > 1:
                raise BreakLoop(leaving.levels - 1) from None
            return False
        except ContinueLoop as going:
            if going.levels > 1:
                raise ContinueLoop(going.levels - 1) from None
        return True

    def _case(self, command: Case, io: Io) -> Steps[None]:
        value = yield from self._words.text(command.word)
        self.status = 0
        for patterns, body in command.clauses:
            for pattern in patterns:
                if fnmatch.fnmatchcase(value, (yield from self._words.text(pattern))):
                    yield from self._script(body, io)
                    return

    def _simple(self, command: Simple, io: Io, *, exec_it: bool = False) -> Steps[None]:
        yield from self._breathe()
        fields = yield from self._words.fields(command.words)
        target = yield from redirected(self, self._words, io, command.redirects)
        if target is None:
            self.status = 1
            return
        for name, words in command.arrays:
            yield from self._set_array(name, words, io)
        assigned: dict[str, str] = {}
        for name, word in command.assignments:
            assigned[name] = yield from self._words.text(word)
        if not fields:
            self.variables.update(assigned)
            if not any(part.kind == "command" for _, word in command.assignments for part in word):
                self.status = 0
            return
        if fields[0] == "exec" and len(fields) > 1:
            fields, exec_it = fields[1:], True
        yield from self._invoke(fields, target, assigned, exec_it=exec_it)

    def _set_array(self, name: str, words: tuple[Word, ...], io: Io) -> Steps[None]:
        if "bash" not in self.name:
            io.stderr(f'{self.name}: syntax error: unexpected "("\n')
            raise ExitShell(2)
        self.arrays[name] = elements = yield from self._words.fields(words)
        self.variables[name] = elements[0] if elements else ""

    def _invoke(self, fields: list[str], io: Io, assigned: dict[str, str], *, exec_it: bool) -> Steps[None]:
        builtin = builtins.BUILTINS.get(fields[0])
        if fields[0] in self._functions:
            yield from self._call_function(fields, io)
        elif builtin is not None:
            self.variables.update(assigned)
            self.status = yield from builtin(self, fields, io)
        else:
            call = Call(
                self.machine,
                fields,
                io,
                {**self.environment(), **assigned},
                self.directory,
                self.name,
                self._first and exec_it,
            )
            started = self._launch(call)
            if isinstance(started, int):
                self.status = started
            elif exec_it:
                self.status = yield from started
            else:
                self.status = yield from self._await(started)
        if exec_it:
            raise ExitShell(self.status)

    def _call_function(self, fields: list[str], io: Io) -> Steps[None]:
        outer, self.arguments = self.arguments, fields[1:]
        try:
            yield from self._command(self._functions[fields[0]], io)
        except ReturnFunction as back:
            self.status = back.status
        finally:
            self.arguments = outer

    def evaluate(self, script: str, io: Io) -> Steps[int]:
        """`eval`: run text in this shell."""
        try:
            tree = parse(script)
        except ShellSyntaxError as error:
            io.stderr(f"{self.name}: syntax error: {error}\n")
            return 2
        yield from self._script(tree, io)
        return self.status

    # -- what its words need

    def complain(self, message: str) -> None:
        self._io.stderr(message)

    def substitute(self, script: str) -> Steps[str]:
        """`$(script)`: what it prints, without the newlines at its end."""
        output: list[str] = []
        child = self._fork(Io(output.append, self._io.stderr, None, watched=self._io.watched))
        self.status = yield from self._await(child.run(script))
        return "".join(output).rstrip("\n")

    def run_command(self, fields: list[str], io: Io) -> Steps[int]:
        """For the builtins that run one."""
        yield from self._invoke(fields, io, {}, exec_it=False)
        return self.status

    def located(self, name: str) -> str:
        """Where a program is; "" where there is none of the name."""
        found: list[str] = []
        self._launch(Call(self.machine, ["which", name], Io(found.append, found.append, ""), self.environment()))
        return "".join(found).rstrip("\n")

    def path(self, name: str) -> str:
        return absolute(name, self.directory)


def _only_command(tree: Script) -> Simple | None:
    if len(tree) != 1 or tree[0].background or len(tree[0].links) != 1:
        return None
    pipeline = tree[0].links[0][1]
    command = pipeline.commands[0]
    if len(pipeline.commands) != 1 or pipeline.negated or not isinstance(command, Simple) or not command.words:
        return None
    name = command.words[0]
    if len(name) == 1 and name[0].kind == "text" and name[0].value not in builtins.BUILTINS and name[0].value != "exec":
        return command
    return None
