"""`ktui up` in the foreground: the one command that loads the engine."""

from __future__ import annotations

import asyncio
import csv
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.api.golang.boolean import parse_bool
from engine.api.golang.duration import parse_duration
from engine.api.schema import UnknownVersionError, load_definitions, resolve_version
from engine.apiserver.admission.choice import Choice
from engine.apiserver.admission.configuration import AdmissionConfigurationError, load_configuration
from engine.apiserver.admission.configured_hooks import check_hooks
from engine.apiserver.authentication.token_file import TokenFileError, read_tokens
from engine.apiserver.cors import origin_errors
from engine.config import ClusterConfig, Component, default_nodes
from engine.folder import ClusterFolder, ClusterRunningError, FolderError, Running
from engine.latency import PROFILES, ProfileError, load_profile
from engine.serve import ServeError, serve
from engine.store import StoreError
from ktui.commands import UsageError
from ktui.commands.access_options import authorization_fields
from ktui.commands.audit_options import audit_fields
from ktui.commands.front_options import proxy_fields
from ktui.commands.jwt_options import jwt_fields
from ktui.commands.lifecycle import DEFAULT_NAME, tell_running
from ktui.engine_collector import RestingCollector, tame_the_collector
from ktui.engine_process import UpOptions


def run(options: UpOptions, *, announce: bool) -> int:
    """Serve until a signal; returns the exit code."""
    config = configure(options)
    folder = ClusterFolder.named(options.name)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    def ready(running: Running) -> None:
        tame_the_collector()
        RestingCollector().start()
        if announce:
            _announce(running, folder)
        else:
            tell_running(running)

    try:
        asyncio.run(serve(config, folder, port=options.port, ready=ready, say=_say, asked=options.arguments()))
    except ClusterRunningError as error:
        print(f"error: {error}", file=sys.stderr)
        if error.running is not None:
            print(_ways_on(error.running, options.name), file=sys.stderr)
        return 1
    except (FolderError, ServeError, StoreError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _ways_on(running: Running, name: str) -> str:
    """What can be done where the cluster that was to be started runs."""
    named = "" if name == DEFAULT_NAME else f" --name {name}"
    return (
        f"export KUBECONFIG={running.kubeconfig}\n"
        f'To use it as it is: "ktui{named}". To start it anew: "ktui down{named}", then "ktui up{named}". '
        'To have another beside it: "ktui up --name NAME".'
    )


def _say(text: str) -> None:
    """A line for the person; a log that cannot be written must not keep the engine from stopping in order."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _announce(running: Running, folder: ClusterFolder) -> None:
    """Tell the parent, then leave its pipes for the log file: the parent may go."""
    log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    print(running.model_dump_json(), flush=True)
    os.dup2(log, sys.stdout.fileno())
    os.dup2(log, sys.stderr.fileno())
    os.close(log)


def configure(options: UpOptions) -> ClusterConfig:
    """The configuration that the options stand for. Raises UsageError with a message that names the option."""
    try:
        resolve_version(options.kubernetes_version)
        latencies = None if options.profile in PROFILES else load_profile(Path(options.profile))
    except (UnknownVersionError, ProfileError) as error:
        raise UsageError(str(error)) from error
    check_store(options)
    if options.scheduler_config:
        check_scheduler_config(Path(options.scheduler_config))
    plugins = admission_plugins(options)
    try:
        return ClusterConfig(
            name=options.name,
            data_folder=None if options.ephemeral else ClusterFolder.named(options.name).path,
            nodes=default_nodes(options.nodes),
            components=parse_components(options.components),
            kubernetes_version=options.kubernetes_version,
            profile=options.profile if latencies is None else "custom",
            latencies=latencies,
            seed=options.seed,
            scheduler_config=Path(options.scheduler_config).absolute() if options.scheduler_config else None,
            enable_admission_plugins=plugins.enabled,
            disable_admission_plugins=plugins.disabled,
            admission_control_config_file=admission_configuration(options, plugins),
            **authorization_fields(options),
            anonymous_auth=anonymous_auth(options.anonymous_auth),
            **jwt_fields(options),
            token_auth_file=token_file(options.token_auth_file),
            cors_allowed_origins=allowed_origins(options.cors_allowed_origins),
            watch_cache_sizes=parse_sizes(options.watch_cache_sizes),
            **audit_fields(options),
            **proxy_fields(options, _say),
            **store_fields(options),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"--{str(problem['loc'][0]).replace('_', '-')}: {problem['msg']}") from error


def check_store(options: UpOptions) -> None:
    """Raises UsageError for options that do not go together."""
    if options.store == "etcd":
        if options.etcd_members != 1:
            raise UsageError(
                "--etcd-members simulates a quorum around the SQLite log; a real etcd has members of its own"
            )
        for name in ("auto_compaction_retention", "auto_compaction_revisions", "quota_backend_bytes"):
            if getattr(options, name) != getattr(UpOptions(), name):
                raise UsageError(f"--{name.replace('_', '-')} is for the SQLite log: give it to etcd itself")
        return
    for name in ("etcd_endpoints", "etcd_cafile", "etcd_certfile", "etcd_keyfile"):
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} is for a real etcd: add --store etcd")


def store_fields(options: UpOptions) -> dict[str, Any]:
    """The fields of the configuration that say where the objects are kept."""
    fields: dict[str, Any] = {
        "store": options.store,
        "etcd_members": options.etcd_members,
        "compaction_period": parse_retention(options.auto_compaction_retention),
        "compaction_revisions": options.auto_compaction_revisions,
        "quota_backend_bytes": options.quota_backend_bytes,
    }
    if options.etcd_endpoints:
        fields["etcd_endpoints"] = tuple(filter(None, options.etcd_endpoints.split(",")))
    for name in ("etcd_cafile", "etcd_certfile", "etcd_keyfile"):
        if value := getattr(options, name):
            fields[name] = Path(value).absolute()
    return fields


def parse_retention(text: str) -> float:
    """Seconds of a duration as etcd takes it: `90m`, or a number of hours. Raises UsageError."""
    try:
        seconds = float(text) * 3600 if text.isascii() and text.isdigit() else parse_duration(text)
    except ValueError:
        seconds = -1.0
    if seconds < 0:
        raise UsageError(f'--auto-compaction-retention: "{text}" is no duration; give one as in 90m or 4h')
    return seconds


def parse_sizes(text: str) -> dict[str, int]:
    """`resource.group#size,...`, as kube-apiserver takes it. Raises UsageError."""
    sizes = {}
    for word in filter(None, text.split(",")):
        resource, separator, size = word.partition("#")
        if not (resource and separator and size.isascii() and size.isdigit()):
            raise UsageError(f"--watch-cache-sizes: invalid value of watch cache size: {word}; give resource#size")
        sizes[resource] = int(size)
    return sizes


def check_scheduler_config(file: Path) -> None:
    """Tell what of it has no effect. Raises UsageError for one that the scheduler would not start with."""
    from engine.scheduler.configuration.fields import ConfigurationError
    from engine.scheduler.configuration.loading import load_file

    try:
        for note in load_file(file).notes:
            _say(f"{file}: {note}")
    except ConfigurationError as error:
        raise UsageError(f"--scheduler-config: {error}") from error


def anonymous_auth(text: str) -> bool:
    """Raises UsageError."""
    try:
        return parse_bool(text)
    except ValueError as error:
        raise UsageError(f"--anonymous-auth: {error}") from error


def token_file(path: str) -> Path | None:
    """Raises UsageError for a file that the server would not start with."""
    if not path:
        return None
    file = Path(path).absolute()
    try:
        read_tokens(file)
    except TokenFileError as error:
        raise UsageError(f"--token-auth-file: {error}") from error
    return file


def admission_plugins(options: UpOptions) -> Choice:
    """Raises UsageError for plugins that there are not, or that are both on and off."""
    chosen = Choice(_names(options.enable_admission_plugins), _names(options.disable_admission_plugins))
    if errors := chosen.errors():
        raise UsageError(", ".join(errors))
    return chosen


def admission_configuration(options: UpOptions, plugins: Choice) -> Path | None:
    """Raises UsageError for a file that the server would not start with, or that a plugin lacks."""
    path = options.admission_control_config_file
    file = Path(path).absolute() if path else None
    try:
        version = resolve_version(options.kubernetes_version)
        release = load_definitions(version).release if file is not None else (99, 0)
        check_hooks(load_configuration(file, enabled=plugins.enabled, release=release), version)
    except UnknownVersionError:
        return file  # which is told by itself
    except AdmissionConfigurationError as error:
        raise UsageError(f"--admission-control-config-file: {error}") from error
    return file


def allowed_origins(text: str) -> tuple[str, ...]:
    """Patterns with commas between them; one that holds a comma stands in quotes. Raises UsageError."""
    if not text:
        return ()
    patterns = tuple(next(csv.reader([text])))
    if errors := list(origin_errors(patterns)):
        raise UsageError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return patterns


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def parse_components(text: str) -> frozenset[Component]:
    """`all`, a list of names, or names that are left out of all: `-scheduler`. Raises UsageError."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    known = [component.value for component in Component]
    for word in words:
        if word != "all" and word.removeprefix("-") not in known:
            raise UsageError(f'--components: there is no component "{word}"; there are: {", ".join(known)}')
    without = {Component(word[1:]) for word in words if word.startswith("-")}
    named = {Component(word) for word in words if word in known}
    if "all" in words or not named:
        named = set(Component)
    return frozenset(named - without)
