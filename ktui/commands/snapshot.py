"""`ktui store snapshot save|status|restore`: the store as one file.

`save` asks the API server; the other two look at a file, as etcdutl does, and need no running cluster.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ktui import store_printers as printers
from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store_client import PREFIX, Format, WriteOut, ask, print_lines, stream

SQLITE_MAGIC = b"SQLite format 3\0"

snapshot = typer.Typer(no_args_is_help=True, help="Save, look at and restore snapshots of the store.")


@snapshot.command("save")
def save(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)],
    name: Name = DEFAULT_NAME,
) -> None:
    """Write the store to a file."""
    partial = file.with_name(file.name + ".part")

    async def fetch(client: Any) -> None:
        chunks = await stream(client, f"{PREFIX}/snapshot", {})
        # The snapshot holds Secrets: for its owner alone.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            async for chunk in chunks:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(file)

    try:
        ask(name, fetch)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    print(f"Snapshot saved at {file}")


@snapshot.command("status")
def snapshot_status(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)], write_out: WriteOut = Format.SIMPLE
) -> None:
    """Print hash, revision, keys and size of a snapshot."""
    _check_snapshot(file)
    from engine.store import StoreError
    from engine.store.snapshot import describe

    try:
        found = describe(file)
    except StoreError as error:
        raise UsageError(str(error)) from error
    document = {"hash": found.hash, "revision": found.revision, "totalKey": found.keys, "totalSize": found.size}
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(document)])
        case Format.FIELDS:
            print_lines(printers.fields_snapshot(document))
        case Format.TABLE:
            print_lines(printers.table(printers.SNAPSHOT_HEADERS, [printers.snapshot_row(document)]))
        case _:
            print(", ".join(printers.snapshot_row(document)))


@snapshot.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)],
    name: Annotated[str, typer.Option(help="The new cluster's name.")],
) -> None:
    """Make a new cluster of a snapshot; `ktui up --name NAME` starts it."""
    from engine.folder import ClusterFolder, FolderError
    from engine.store import StoreError
    from engine.store import restore as restore_store

    _check_snapshot(file)
    folder = ClusterFolder.named(name)
    if folder.store.exists():
        raise UsageError(f'there is a cluster "{name}" in {folder.path} already: name a new one')
    try:
        with folder.hold() as hold:
            revision = restore_store(file, folder.store)
            hold.started()
    except (FolderError, StoreError) as error:
        raise UsageError(str(error)) from error
    print(f'restored revision {revision} into cluster {name}: start it with "ktui up --name {name}"')


def _check_snapshot(file: Path) -> None:
    """Raises UsageError for a file that is no snapshot of ktui's own store."""
    try:
        with file.open("rb") as opened:
            head = opened.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise UsageError(f"cannot read the snapshot {file}: {error.strerror}") from error
    if head != SQLITE_MAGIC:
        raise UsageError(
            f"{file} is no snapshot of ktui's own store: one that was saved from an etcd is for "
            '"etcdutl snapshot status" and "etcdutl snapshot restore"'
        )
