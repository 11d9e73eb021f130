"""`ktui store snapshot save|status|restore`: the store as one file.

`save` asks the API server; the other two look at a file, as etcdutl does, and need no running cluster.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store import printers
from ktui.store.client import (
    BAD_ARGUMENTS,
    INTERRUPTED,
    PREFIX,
    EtcdctlError,
    Format,
    WriteOut,
    ask,
    show,
    stream,
)
from ktui.store.keys import integer_flag

SQLITE_MAGIC = b"SQLite format 3\0"

snapshot = typer.Typer(no_args_is_help=True, help="Save, look at and restore snapshots of the store.")
File = Annotated[list[str] | None, typer.Argument(metavar="FILE", show_default=False)]


@snapshot.command("save")
def save(words: File = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Write the store to a file."""
    file = _only(words, "snapshot save expects one argument")
    partial = file.with_name(file.name + ".part")

    async def fetch(client: Any) -> None:
        # The snapshot holds Secrets: for its owner alone. Nothing is asked for that could not be kept.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            async for chunk in await stream(client, f"{PREFIX}/snapshot", {}):
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(file)

    try:
        ask(name, fetch)
    except OSError as error:
        problem = (error.strerror or str(error)).lower()
        raise EtcdctlError(f"could not open {partial} (open {partial}: {problem})", INTERRUPTED) from error
    finally:
        partial.unlink(missing_ok=True)
    print(f"Snapshot saved at {file}")


@snapshot.command("status")
def snapshot_status(words: File = None, write_out: WriteOut = Format.SIMPLE) -> None:
    """Print hash, revision, keys and size of a snapshot."""
    file = _only(words, "snapshot status requires exactly one argument")
    _check_snapshot(file)
    from engine.store import StoreError
    from engine.store.snapshot import describe

    try:
        found = describe(file)
    except StoreError as error:
        raise EtcdctlError(str(error)) from error
    document = {"hash": found.hash, "revision": found.revision, "totalKey": found.keys, "totalSize": found.size}
    show(
        document,
        write_out,
        simple=lambda found: [", ".join(printers.snapshot_row(found))],
        fields=printers.fields_snapshot,
        table=lambda found: printers.table(printers.SNAPSHOT_HEADERS, [printers.snapshot_row(found)]),
    )


@snapshot.command("restore")
def restore(
    words: File = None,
    *,
    name: Annotated[str, typer.Option(help="The new cluster's name.")],
    bump_revision: Annotated[
        int, integer_flag("bump-revision", "How much later the new cluster goes on.", signed=False)
    ] = 0,
    mark_compacted: Annotated[
        bool, typer.Option("--mark-compacted", help="What was before is compacted; required with --bump-revision.")
    ] = False,
) -> None:
    """Make a new cluster of a snapshot; `ktui up --name NAME` starts it."""
    file = _only(words, "snapshot restore requires exactly one argument")
    if mark_compacted != (bump_revision > 0):
        raise EtcdctlError("--mark-compacted required if --revision-bump > 0", BAD_ARGUMENTS)
    from engine.folder import ClusterFolder, FolderError
    from engine.store import StoreError
    from engine.store import restore as restore_store

    _check_snapshot(file)
    folder = ClusterFolder.named(name)
    if folder.store.exists():
        raise EtcdctlError(f'there is a cluster "{name}" in {folder.path} already: name a new one')
    try:
        with folder.hold() as hold:
            revision = restore_store(file, folder.store, bump=bump_revision)
            hold.started()
    except (FolderError, StoreError) as error:
        raise EtcdctlError(str(error)) from error
    print(f'restored revision {revision} into cluster {name}: start it with "ktui up --name {name}"')


def _only(words: list[str] | None, otherwise: str) -> Path:
    if words is None or len(words) != 1:
        raise EtcdctlError(otherwise, BAD_ARGUMENTS)
    return Path(words[0])


def _check_snapshot(file: Path) -> None:
    """Raises EtcdctlError for a file that is no snapshot of ktui's own store."""
    try:
        with file.open("rb") as opened:
            head = opened.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise EtcdctlError(f"stat {file}: {(error.strerror or str(error)).lower()}") from error
    if head != SQLITE_MAGIC:
        raise EtcdctlError(
            f"{file} is no snapshot of ktui's own store: one that was saved from an etcd is for "
            '"etcdutl snapshot status" and "etcdutl snapshot restore"'
        )
