"""A small POSIX shell for simulated containers: `sh -c SCRIPT` without a kernel.

`parse` turns a script into a syntax tree, `Interpreter` runs it as a generator that yields how long it would sleep, so
the same code runs on any clock and in a plain test. What it cannot do, it refuses as a real shell refuses bad syntax.
"""

from engine.kubelet.runtime.shell.commands import Call
from engine.kubelet.runtime.shell.interpreter import Interpreter
from engine.kubelet.runtime.shell.launch import exists, is_usual_program, start
from engine.kubelet.runtime.shell.lexer import ShellSyntaxError
from engine.kubelet.runtime.shell.parser import parse
from engine.kubelet.runtime.shell.process import FOREVER, Io, Machine, Process

__all__ = [
    "FOREVER",
    "Call",
    "Interpreter",
    "Io",
    "Machine",
    "Process",
    "ShellSyntaxError",
    "exists",
    "is_usual_program",
    "parse",
    "start",
]
