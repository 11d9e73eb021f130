"""The folder that a cluster lives in: revision log, traces, certificates, kubeconfig, and who runs it now.

DATA/NAME/store.db     the revision log
DATA/NAME/traces.db    the spans
DATA/NAME/pki/         CA, server and admin certificates
DATA/NAME/kubeconfig   the admin's, mode 0600
DATA/NAME/lock         held (flock) by the process that runs the cluster; what it serves stands here too
DATA/NAME/held         held by it as well: who looks whether it is has it for a moment, which must keep none from `lock`
DATA/NAME/running.json what that process serves; gone when it has stopped
DATA/NAME/time         the model's time, where it is ahead of the machine's
DATA/NAME/engine.log   what a detached process wrote
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict

HOME_VARIABLE = "KTUI_HOME"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class FolderError(Exception):
    """The folder cannot be used; the message says what to do."""


class ClusterRunningError(FolderError):
    """Another process runs the cluster of this folder. `running` is what it serves, None while it is still starting."""

    def __init__(self, message: str, running: Running | None) -> None:
        super().__init__(message)
        self.running = running


class Running(BaseModel):
    """What a running cluster says of itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    pid: int
    address: str
    data_folder: str
    kubeconfig: str
    kubernetes_version: str
    ktui_version: str
    asked: tuple[str, ...] = ()  # the options of `ktui up`


def data_home() -> Path:
    """Where clusters live: $KTUI_HOME, or ktui's folder in the user's data directory."""
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).expanduser() if home else user_data_path("ktui")


def clusters() -> list[ClusterFolder]:
    """Those that there are, by name, whether they run or not."""
    home = data_home()
    found = sorted(path for path in home.iterdir() if NAME.fullmatch(path.name)) if home.is_dir() else []
    return [folder for folder in map(ClusterFolder, found) if folder.has_store() or folder.find_running()]


class Hold:
    """A folder that this process holds."""

    def __init__(self) -> None:
        self.is_started = False

    def started(self) -> None:
        """What is in the folder is a cluster now, to be kept whatever happens."""
        self.is_started = True


class ClusterFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = path / "store.db"
        self.traces = path / "traces.db"
        self.pki = path / "pki"
        self.kubeconfig = path / "kubeconfig"
        self.lock = path / "lock"
        self.held = path / "held"
        self.running_file = path / "running.json"
        self.time = path / "time"
        self.log = path / "engine.log"

    @classmethod
    def named(cls, name: str) -> ClusterFolder:
        """The folder of a cluster. Raises FolderError for a name that is none."""
        if not NAME.fullmatch(name):
            raise FolderError(
                f'"{name}" cannot be the name of a cluster: use lower case letters, digits and dashes, as in demo-1'
            )
        return cls(data_home() / name)

    @contextmanager
    def hold(self) -> Iterator[Hold]:
        """Make the folder and hold it for this process. A folder that was made for a start that failed is removed
        again: what the body leaves without having called `started` was never a cluster.

        Raises ClusterRunningError if another process holds it, FolderError if it cannot be made or written.
        """
        made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _take(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._held_by_another() from None
        except OSError as error:
            raise FolderError(
                f"cannot use the data folder {self.path}: {error.strerror}. "
                f"Choose another with {HOME_VARIABLE}=FOLDER: a cluster is found by it, also one that keeps nothing"
            ) from error
        held = _take(self.held, fcntl.LOCK_EX)  # waits for those that look just now, for none else comes this far
        hold = Hold()
        try:
            self._forget_running(lock)
            yield hold
        finally:
            if not self.running_file.is_dir():  # the start failed with what to do about it
                self.running_file.unlink(missing_ok=True)
            self.lock.unlink(missing_ok=True)  # before `held`: who sees that nothing is held finds the lock free
            self.held.unlink(missing_ok=True)
            if made and not hold.is_started:
                shutil.rmtree(self.path, ignore_errors=True)
                for folder in made[1:]:
                    if folder.is_dir() and not any(folder.iterdir()):
                        folder.rmdir()
            os.close(lock)
            os.close(held)

    def _forget_running(self, lock: int) -> None:
        """What a killed process left names a process that may be anybody's by now. Raises FolderError if it stays."""
        try:
            self.running_file.unlink(missing_ok=True)
        except OSError as error:
            raise FolderError(
                f"cannot replace {self.running_file}: {error.strerror}. Move it away, then start the cluster again"
            ) from error
        os.ftruncate(lock, 0)

    def _held_by_another(self) -> ClusterRunningError:
        running = self.read_running()
        where = f" at {running.address} (pid {running.pid})" if running else " (it is still starting)"
        return ClusterRunningError(f"the cluster in {self.path} is already running{where}", running)

    def write_running(self, running: Running) -> None:
        document = running.model_dump_json(indent=2).encode()
        partial = self.running_file.with_suffix(".partial")
        partial.write_bytes(document)
        partial.replace(self.running_file)
        self.lock.write_bytes(document)

    def has_store(self) -> bool:
        """Whether there is a store that can be seen: in a folder that may not be read, none can."""
        return os.path.exists(self.store)

    def read_running(self) -> Running | None:
        """What the file says, whether or not the process is still there; the lock says it too, for one is easily
        damaged, and a cluster that runs must be found and stopped."""
        for file in (self.running_file, self.lock):
            try:
                return Running.model_validate(orjson.loads(file.read_bytes()))
            except (OSError, ValueError):
                continue
        return None

    def find_running(self) -> Running | None:
        """What serves this folder's cluster now; None if nothing does (a file that a crash left counts as nothing)."""
        return self.read_running() if self.is_held() else None

    def is_held(self) -> bool:
        """Whether a process runs the cluster, or starts it: one that starts says only later where it is."""
        try:
            shown = os.open(self.held, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(shown, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(shown)
        return False

    def remove(self) -> None:
        """Delete the cluster for good."""
        shutil.rmtree(self.path, ignore_errors=False)


def _take(path: Path, how: int) -> int:
    """A file that is made and held, its descriptor. Who held it before may have taken it away after it was opened here,
    and another may hold the one that was made since: only the file that is still in its place counts.

    Raises BlockingIOError if it is held and is not to be waited for, OSError if it cannot be made.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
