"""Variables out of a file that an init container wrote (pkg/kubelet/util/env env_util.go; KEP-3721).

A line is `NAME='value'`; a value may go on over lines until its closing quote. Blank lines and comments are skipped.
"""

from __future__ import annotations

import re

from engine.kubelet.kuberuntime.errors import ConfigError

_SKIPPED = re.compile(r"\s*(#.*)?(\n|$)")
_VARIABLE = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_.-]*)='([^']*)'[ \t]*(\n|$)")


def env_file_value(text: str, key: str) -> str | None:
    """The value of a variable; None if the file does not set it. Raises ConfigError for what is no such file."""
    at, found = 0, None
    while at < len(text):
        if blank := _SKIPPED.match(text, at):
            at = blank.end()
            continue
        variable = _VARIABLE.match(text, at)
        if variable is None:
            raise ConfigError("couldn't parse env file")
        if variable[1] == key and found is None:
            found = variable[2]
        at = variable.end()
    return found
