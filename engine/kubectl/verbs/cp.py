"""`cp`: files and folders to and from containers, through a `tar` that is run there.

Source of the behaviour: kubectl pkg/cmd/cp (cp.go, filespec.go).
"""

from __future__ import annotations

import asyncio
import io
import posixpath
import tarfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.streaming import Output, pipe
from engine.kubectl.workload_pods import container_of


class FileSpec(NamedTuple):
    """`[[NAMESPACE/]POD:]PATH`; without a Pod it is a local file."""

    namespace: str
    pod: str
    path: str


def file_spec(text: str) -> FileSpec:
    """Read a source or destination. Raises CommandError."""
    place, colon, path = text.partition(":")
    if not colon:
        return FileSpec("", "", text)
    if not place:
        raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")
    parts = place.split("/")
    if len(parts) == 1:
        return FileSpec("", parts[0], path)
    if len(parts) == 2:
        return FileSpec(parts[0], parts[1], path)
    raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")


async def run(session: Session) -> None:
    if len(session.arguments) != 2:
        raise CommandError("source and destination are required")
    source, target = (file_spec(text) for text in session.arguments)
    if source.pod and target.pod:
        raise CommandError("one of src or dest must be a local file specification")
    if not source.path or not target.path:
        raise CommandError("filepath can not be empty")
    if source.pod:
        await _Copy(session, source).fetch(source.path, Path(target.path))
    elif target.pod:
        await _Copy(session, target).send(Path(source.path), target.path)
    else:
        raise CommandError("one of src or dest must be a remote file specification")


class _Copy:
    """One copy to or from a container."""

    def __init__(self, session: Session, place: FileSpec) -> None:
        self._session = session
        self._place = place
        self._path = ""
        self._container = ""

    async def send(self, source: Path, target: str) -> None:
        if not await asyncio.to_thread(source.exists):
            raise CommandError(f"{source} doesn't exist in local filesystem")
        target = target.rstrip("/") or "/"
        await self._find()
        if not (await self._run(["test", "-d", target])).failed:
            target = posixpath.join(target, posixpath.basename(posixpath.normpath(source)))
        archive = await asyncio.to_thread(_packed, source, posixpath.basename(target))
        owner = ["--no-same-permissions", "--no-same-owner"] if self._session.flags.on("no-preserve") else []
        command = ["tar", *owner, "-xmf", "-"]
        folder = posixpath.dirname(target)
        if folder:
            command += ["-C", folder]
        self._check(await self._run(command, stdin=archive))

    async def fetch(self, source: str, target: Path) -> None:
        await self._find(tell=self._session.out)
        printed = await self._run(["tar", "cf", "-", source])
        # What the other side could not read it says, which kubectl prints as output, and ends well.
        self._session.stdout.write(printed.stderr.decode(errors="replace"))
        place = self._place
        instead = f'kubectl exec -n "{place.namespace}" "{place.pod}" -- tar cf - "{source}" | tar xf -'
        skipped = await asyncio.to_thread(_unpack, printed.stdout, source, target, instead)
        for warning in skipped:
            self._session.err(warning)

    async def _find(self, *, tell: Callable[[str], None] | None = None) -> None:
        """The Pod and the container. What is said of it counts as output where kubectl takes it for what `tar` says."""
        session = self._session
        namespace = self._place.namespace or session.namespace
        pods = await session.resolve("pods")
        pod = await session.get(pods, self._place.pod, namespace)
        session.working_on(pods, self._place.pod, namespace)
        self._container = container_of(session, pod, tell=tell)
        self._path = session.path_of(pods, namespace, self._place.pod, "exec")

    async def _run(self, command: list[str], *, stdin: bytes | None = None) -> Output:
        query = {"command": command, "container": [self._container]}
        return await pipe(self._session, self._path, query, stdin=stdin)

    def _check(self, printed: Output) -> None:
        """Pass on what `tar` said. Raises Exit with its exit code."""
        self._session.stderr.write(printed.stderr.decode(errors="replace"))
        if not printed.failed:
            return
        causes = (printed.status.get("details") or {}).get("causes") or ()
        code = next((str(cause.get("message", "")) for cause in causes if cause.get("reason") == "ExitCode"), "")
        if not code:
            raise CommandError(str(printed.status.get("message", "")))
        self._session.err(f"command terminated with exit code {code}")
        raise Exit(int(code))


def _packed(source: Path, name: str) -> bytes:
    """An archive of a file or folder, under another name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.add(source, arcname=name)
    return buffer.getvalue()


def _unpack(data: bytes, source: str, target: Path, instead: str) -> list[str]:
    """Write what an archive holds of `source` as `target`; returns warnings of what was left out. Of links the first
    says what could be done `instead`."""
    prefix = posixpath.normpath(source).lstrip("/")
    if target.is_dir():
        target = target / (posixpath.basename(posixpath.normpath(source)) or ".")
    warnings: list[str] = []
    hint = f' (consider using "{instead}")'
    with tarfile.open(fileobj=io.BytesIO(data), mode="r") as archive:
        for member in archive:
            name = posixpath.normpath(member.name).lstrip("/")
            if name != prefix and not name.startswith(f"{prefix}/") and prefix != ".":
                raise CommandError(f"tar contents corrupted: {member.name} is not in {source}")
            relative = PurePosixPath(name).relative_to(prefix) if prefix != "." else PurePosixPath(name)
            if ".." in relative.parts:
                warnings.append(f'warning: file "{member.name}" is outside target destination, skipping')
            elif member.issym() or member.islnk():
                warnings.append(f'warning: skipping symlink: "{target / relative}" -> "{member.linkname}"{hint}')
                hint = ""
            else:
                _extract(archive, member, target / relative)
    return warnings


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    content = archive.extractfile(member)
    if content is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.read())


COMMAND = Command(
    name="cp",
    short="Copy files and directories to and from containers",
    usage="<file-spec-src> <file-spec-dest>",
    run=run,
    flags=(
        Flag("container", short="c", help="The container; by default the annotated one, or the first."),
        Flag("no-preserve", Type.BOOL, help="Do not keep owner and permissions in the container."),
        Flag("retries", Type.INT, help="How often to try again to copy from a container."),
    ),
    examples=("cp ./page.html web-5d8c:/srv/", "cp web-5d8c:/var/log/app.log ./app.log"),
)
