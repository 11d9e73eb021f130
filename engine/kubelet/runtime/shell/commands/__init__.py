"""The usual small utilities. What they print follows busybox where the image is built on it, GNU coreutils elsewhere.

A command returns its exit code at once or the process that it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.kubelet.runtime.shell.commands import (
    agnhost,
    archive,
    awk,
    clock,
    condition,
    curl,
    digests,
    dumps,
    ends,
    fields,
    files,
    find,
    grep,
    listing,
    lookup,
    names,
    network,
    output,
    processes,
    sed,
    symlinks,
    system,
    terminals,
    text,
    usage,
    wget,
)
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file

UTILITIES: Mapping[str, Command] = {
    **agnhost.COMMANDS,
    **output.COMMANDS,
    **clock.COMMANDS,
    **fields.COMMANDS,
    **files.COMMANDS,
    **text.COMMANDS,
    **ends.COMMANDS,
    **system.COMMANDS,
    **condition.COMMANDS,
    **names.COMMANDS,
    **network.COMMANDS,
    **wget.COMMANDS,
    **curl.COMMANDS,
    **digests.COMMANDS,
    **dumps.COMMANDS,
    **archive.COMMANDS,
    **awk.COMMANDS,
    **listing.COMMANDS,
    **find.COMMANDS,
    **grep.COMMANDS,
    **lookup.COMMANDS,
    **processes.COMMANDS,
    **sed.COMMANDS,
    **symlinks.COMMANDS,
    **terminals.COMMANDS,
    **usage.COMMANDS,
}

__all__ = ["UTILITIES", "Call", "Command", "read_file"]
