"""Commands that suggest, for an option that is none, only options that their help shows."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class SuggestingCommand(TyperCommand):
    """typer's own suggests hidden options too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # typer's NoSuchOption is its own, and no part of what it offers
            if possibilities := getattr(error, "possibilities", None):
                hidden = {name for one in self.params if getattr(one, "hidden", False) for name in one.opts}
                possibilities[:] = [name for name in possibilities if name not in hidden]
            raise
