"""`agnhost`, in the image of Kubernetes' own tests and tutorials: the subcommands that concern what is simulated here
(kubernetes test/images/agnhost)."""

from __future__ import annotations

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.agnhost_loops import NEW_FILE, generate_logs, read_in_loop
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.http import addresses_of
from engine.kubelet.runtime.shell.commands.tree import Entry, look_at
from engine.kubelet.runtime.shell.process import Process

_NEW_MODES = (0o644, 0o666, 0o660, 0o777)
# The flag and the default of each port that a server opens.
_PORTS = {
    "grpc-health-checking": (("port", 5000), ("http-port", 8080)),
    "guestbook": (("http-port", 80),),
    "liveness": (("", 8080),),
    "netexec": (("http-port", 8080), ("udp-port", 8081)),
    "porter": (("", 80),),
    "serve-hostname": (("port", 9376),),
    "test-webserver": (("port", 80),),
}


def _agnhost(call: Call) -> int | Process:
    subcommand = call.argv[1] if len(call.argv) > 1 else "help"
    flags, words = _flags(call.argv[2:])
    if subcommand == "pause":
        return programs.serve(programs.Server(2), first=call.first)
    if subcommand in _PORTS:
        return _serve(call, subcommand, flags)
    if subcommand == "entrypoint-tester":
        call.io.stdout(f"[{' '.join(call.argv)}]\n")
        return 0
    if subcommand == "mounttest":
        code = _mount_test(call, flags)
        return read_in_loop(call, flags, code) if flags.get("file_content_in_loop") else code
    if subcommand == "logs-generator":
        return generate_logs(call, flags)
    if subcommand == "connect" and len(words) == 1:
        return _connect(call, words[0])
    if subcommand == "etc-hosts":
        call.io.stdout(read_file(call.machine, "/etc/hosts") or "")
        return 0
    if key := {"dns-suffix": "search", "dns-server-list": "nameserver"}.get(subcommand):
        lines = (read_file(call.machine, "/etc/resolv.conf") or "").splitlines()
        call.io.stdout(",".join(word for line in lines if line.startswith(key) for word in line.split()[1:]) + "\n")
        return 0
    call.io.stderr(f'Error: unknown command "{subcommand}" for "app" (or one that is not simulated)\n')
    return 1


def _flags(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """`--name=value` and `--name value`, and what is no flag."""
    flags, rest, waiting = dict[str, str](), list[str](), list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-"):
            rest.append(word)
            continue
        name, given, value = word.lstrip("-").partition("=")
        if not given and waiting and not waiting[0].startswith("-"):
            value = waiting.pop(0)
        flags[name] = value
    return flags, rest


def _serve(call: Call, subcommand: str, flags: dict[str, str]) -> Process:
    machine = call.machine
    for flag, default in _PORTS[subcommand]:
        port = flags.get(flag, "")
        machine.listening.add(int(port) if port.isdigit() else default)
    if subcommand == "netexec":
        _log_start(call, flags)
    machine.serves = subcommand
    machine.serves_since = machine.monotonic()
    return programs.serve(programs.Server(2), first=call.first)


def _log_start(call: Call, flags: dict[str, str]) -> None:
    """As the tutorial Hello Minikube prints it, in klog's form."""
    head = f"I{call.machine.now():%m%d %H:%M:%S.%f}       1 log.go:195]"
    call.io.stderr(f"{head} Started HTTP server on port {flags.get('http-port', 8080)}\n")
    if (port := flags.get("udp-port", "8081")) != "-1":
        call.io.stderr(f"{head} Started UDP server on port  {port}\n")


def _mount_test(call: Call, flags: dict[str, str]) -> int:
    """In upstream's order: type, new files, mode, permissions, owner, content."""
    files, say, failed = call.machine.files, call.io.stdout, False
    if path := flags.get("fs_type"):
        mounted = files.mounted(path)
        kind = "tmpfs" if mounted is not None and mounted.volume.medium else "61267"
        say(f'mount type of "{path}": {kind}\n')
    for mode in _NEW_MODES:
        if path := flags.get(f"new_file_{mode:04o}"):
            try:
                files[path] = NEW_FILE
                files.set_mode(path, mode)
            except OSError as error:
                say(f'error writing new file "{path}": open {path}: {(error.strerror or "").lower()}\n')
                failed = True
            else:
                failed = _told(call, path) or failed
    for flag, told in (("file_mode", _mode), ("file_perm", _permissions), ("file_owner", _owner)):
        if path := flags.get(flag):
            entry = look_at(call.machine, path)
            failed = failed or entry is None
            say(f'error calling Lstat on "{path}"\n' if entry is None else told(path, entry))
    if path := flags.get("file_content"):
        failed = _told(call, path) or failed
    return int(failed)


def _told(call: Call, path: str) -> bool:
    """Say what is in a file. Whether it could not be read."""
    text = read_file(call.machine, path)
    if text is None or not call.machine.files.is_readable(path):
        why = "no such file or directory" if text is None else "permission denied"
        call.io.stdout(f'error reading file content for "{path}": open {path}: {why}\n')
        return True
    call.io.stdout(f'content of file "{path}": {text}\n')
    return False


def _mode(path: str, entry: Entry) -> str:
    return f'mode of file "{path}": {_go_mode(entry)}\n'


def _permissions(path: str, entry: Entry) -> str:
    return f'perms of file "{path}": -{entry.permissions[1:]}\n'


def _owner(path: str, entry: Entry) -> str:
    return f'owner UID of "{path}": {entry.uid}\nowner GID of "{path}": {entry.gid}\n'


def _go_mode(entry: Entry) -> str:
    """As Go's FileMode prints: `dgrwxrwxrwx` for a directory with its group's bit."""
    kinds = (
        ("d" if entry.directory else "") + ("g" if entry.mode & 0o2000 else "") + ("t" if entry.mode & 0o1000 else "")
    )
    bits = "".join("rwx"[at % 3] if entry.mode & (0o400 >> at) else "-" for at in range(9))
    return f"{kinds or '-'}{bits}"


def _connect(call: Call, target: str) -> int:
    host, _, port = target.rpartition(":")
    if not host or not port.isdigit():
        call.io.stderr(f"UNKNOWN: address {target}: missing port in address\n")
        return 1
    addresses = addresses_of(call.machine, host)
    if not addresses:
        call.io.stderr(f"DNS: lookup {host}: no such host\n")
        return 1
    try:
        call.machine.network.ask(addresses[0], int(port), b"")
    except ConnectionRefusedError:
        word = "REFUSED"
    except TimeoutError:
        word = "TIMEOUT"
    except OSError as error:
        word = f"OTHER: dial tcp {addresses[0]}:{port}: {(error.strerror or '').lower()}"
    else:
        return 0
    call.io.stderr(f"{word}\n")
    return 1


COMMANDS: dict[str, Command] = {"agnhost": _agnhost, "agnhost-2": _agnhost}
