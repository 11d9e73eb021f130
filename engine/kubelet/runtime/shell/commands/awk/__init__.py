"""`awk`: patterns and actions on the fields of lines, as one writes them on a command line (POSIX awk).

`reading` makes a tree of a program, `running` runs it. Functions of one's own, getline and redirected output are syntax
errors here.
"""

from engine.kubelet.runtime.shell.commands.awk.command import COMMANDS

__all__ = ["COMMANDS"]
