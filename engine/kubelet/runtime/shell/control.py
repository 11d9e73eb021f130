"""How control leaves a loop, a function or the shell."""

from __future__ import annotations


class _Levels(Exception):
    def __init__(self, levels: int = 1) -> None:
        super().__init__()
        self.levels = levels


class BreakLoop(_Levels):
    pass


class ContinueLoop(_Levels):
    pass


class _Status(Exception):
    def __init__(self, status: int = 0) -> None:
        super().__init__()
        self.status = status


class ReturnFunction(_Status):
    pass


class ExitShell(_Status):
    pass
