"""`kuberc`: look at the preferences and change them.

Source of the behaviour: kubectl pkg/cmd/kuberc (set.go, view.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.kubectl import yaml
from engine.kubectl.command import Command
from engine.kubectl.errors import Aggregate, CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT
from engine.kubectl.preferences import GROUP, KIND, VERSIONS, file_of, read
from engine.kubectl.printers.objects import structured_printer, unknown_format
from engine.kubectl.session import Session

_SECTIONS = ("defaults", "aliases", "credentialplugin")
_LISTS = ("defaults", "aliases")
_POLICIES = ("AllowAll", "DenyAll", "Allowlist")
_RECOMMENDED: dict[str, Any] = {
    "defaults": [
        {"command": "apply", "options": [{"name": "server-side", "default": "true"}]},
        {"command": "delete", "options": [{"name": "interactive", "default": "true"}]},
    ]
}
_ENTRY = ("name", "command", "prependArgs", "appendArgs", "options")


async def view(session: Session) -> None:
    file = _file(session)
    if not file.exists():
        _offer(session, file)
        return
    preference, _ = read(_content(file))
    if preference is None:
        raise CommandError(
            "error reading kuberc file: error converting Preferences to v1beta1.Preferences: expected pointer, but got "
            "invalid kind"
        )
    if session.flags.text("output") == "name":
        session.out("preference.kubectl.config.k8s.io/<unknown>")
        return
    printer = structured_printer(session, typed=True)
    if printer is None:
        raise unknown_format(session.flags.text("output"))
    shown = _ordered(preference)
    printer({**shown, **{name: shown[name] or [] for name in _LISTS}})


def _offer(session: Session, file: Path) -> None:
    """Where there are no preferences yet, ask whether to write those that are recommended. Raises CommandError."""
    if session.flags.text("kuberc"):
        raise CommandError(f"kuberc file not found at {file}")
    session.out(f"kuberc file not found at {file}")
    session.stdout.write("Would you like to generate a default kuberc file with recommended options? (y/N): ")
    session.stdout.flush()
    if session.stdin.readline().strip().lower() == "y":
        _save(file, yaml.dump(_ordered(_RECOMMENDED)))
        session.out(f"Updated {file}")


def _file(session: Session) -> Path:
    if given := session.flags.text("kuberc"):
        return Path(given)
    if session.environ("KUBERC") == "off":
        raise CommandError("KUBERC is disabled via KUBERC=off environment variable")
    return file_of(session.environment)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise CommandError(f"error reading kuberc file: open {file}: {(error.strerror or '').lower()}") from error


def _ordered(preference: dict[str, Any]) -> dict[str, Any]:
    """As the newest version's struct has its fields: a section that there is not is null in a file."""
    shown: dict[str, Any] = {"kind": KIND, "apiVersion": f"{GROUP}/{VERSIONS[0]}"}
    for section in _LISTS:
        entries = preference.get(section)
        shown[section] = entries and [_entry(entry) for entry in entries]
    for name in ("credentialPluginPolicy", "credentialPluginAllowlist"):
        if preference.get(name):
            shown[name] = preference[name]
    return shown


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    shown = {key: entry[key] for key in _ENTRY if entry.get(key)}
    if options := shown.get("options"):
        shown["options"] = [{key: option[key] for key in ("name", "default") if key in option} for option in options]
    return shown


async def put(session: Session) -> None:
    flags, file = session.flags, _file(session)
    section = flags.text("section")
    _check(session, section)
    preference = read(_content(file))[0] or {}
    options = [_option(text) for text in flags.many("option")]
    if section == "credentialplugin":
        if entries := [*_allowed(flags.many("allowlist-entry"))]:
            preference["credentialPluginAllowlist"] = entries
        preference["credentialPluginPolicy"] = flags.text("policy")
    else:
        _put(session, preference, section, options)
    _save(file, yaml.dump(_ordered(preference)))
    session.out(f"Updated {file}")


def _save(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except OSError as error:
        raise CommandError(f"error writing kuberc file: open {file}: {(error.strerror or '').lower()}") from error


def _check(session: Session, section: str) -> None:
    flags = session.flags
    name, policy, entries = flags.text("name"), flags.text("policy"), flags.many("allowlist-entry")
    if section not in _SECTIONS:
        raise CommandError(f'--section must be "defaults", "aliases", or "credentialplugin", got: {section}')
    if section == "aliases" and not name:
        raise CommandError("--name is required when --section=aliases")
    if section == "defaults" and name:
        raise CommandError("--name should not be specified when --section=defaults")
    if section == "defaults" and (flags.many("prependarg") or flags.many("appendarg")):
        raise CommandError("--prependarg and --appendarg are only valid for --section=aliases")
    if section != "credentialplugin":
        if not flags.text("command"):
            raise CommandError("--command is required when --section=aliases or --section=defaults")
        return
    if not policy:
        raise CommandError("--policy is required when --section=credentialplugin")
    if policy not in _POLICIES:
        raise CommandError(f' --policy must be  "AllowAll", "DenyAll", or "Allowlist", got: {policy}')
    if policy != "Allowlist" and entries:
        raise CommandError("--allowlist-entry may only be used when --section=credentialplugin and --policy=Allowlist")
    if policy == "Allowlist" and not entries:
        raise CommandError("--allowlist-entry is required when --section=credentialplugin and --policy=Allowlist")


def _option(text: str) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f'invalid option format "{text}", expected flag=value')
    return {"name": name.lstrip("-"), "default": value}


def _put(session: Session, preference: dict[str, Any], section: str, options: list[dict[str, str]]) -> None:
    flags = session.flags
    command, name = flags.text("command"), flags.text("name")
    entry: dict[str, Any] = {"command": command, "options": options}
    key, wanted, problem = "command", command, f'defaults for command "{command}" already exist'
    if section == "aliases":
        words = {"prependArgs": flags.many("prependarg"), "appendArgs": flags.many("appendarg")}
        entry |= {"name": name, **words}
        key, wanted, problem = "name", name, f'alias "{name}" already exists'
    entries = list(preference.get(section) or ())
    for index, old in enumerate(entries):
        if old.get(key) == wanted:
            if not flags.on("overwrite"):
                raise CommandError(f"{problem}, use --overwrite to replace")
            entries[index] = {**old, **{field: value for field, value in entry.items() if value}}
            break
    else:
        entries.append(entry)
    preference[section] = entries


def _allowed(entries: list[str]) -> Iterator[dict[str, str]]:
    problems: list[str] = []
    for pair in (pair for entry in entries for pair in entry.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            problems.append(f'improperly formatted allowlist entry: "{pair}"')
        elif key == "name":
            problems.append('allowlist entry field "name" is deprecated, use "command" instead')
        elif key != "command":
            problems.append(f'unrecognized allowlist entry field: "{key}"')
        elif not value.strip():
            problems.append(f'empty value in allowlist entry for field "{key}"')
        else:
            yield {"command": value}
    if problems:
        raise Aggregate([CommandError(problem) for problem in problems])


_KUBERC = Flag("kuberc", help="The preferences file to use.")
_GROUP = Command(
    name="kuberc",
    short="Manage kuberc configuration files",
    usage="SUBCOMMAND",
    children=(
        Command(
            name="set",
            short="Set values in the kuberc configuration",
            usage="--section (defaults|aliases) --command COMMAND",
            run=put,
            flags=(
                _KUBERC,
                Flag("allowlist-entry", Type.ARRAY, help="A plugin that may run, as field=value."),
                Flag("appendarg", Type.ARRAY, help="A word that is put after those of an alias."),
                Flag("command", help="The command that a default or alias is of."),
                Flag("name", help="The name of an alias."),
                Flag("option", Type.ARRAY, help="A flag, as flag=value."),
                Flag("overwrite", Type.BOOL, help="Replace what is there."),
                Flag("policy", help="AllowAll, DenyAll or Allowlist."),
                Flag("prependarg", Type.ARRAY, help="A word that is put before those of an alias."),
                Flag("section", required=True, help="defaults, aliases or credentialplugin."),
            ),
        ),
        Command(
            name="view",
            short="Display the current kuberc configuration",
            run=view,
            flags=(
                *(flag for flag in PRINT if flag.name != "output"),
                _KUBERC,
                Flag("output", default="yaml", short="o", help="Output format: yaml, json, ..."),
            ),
        ),
    ),
)
COMMAND = replace(_GROUP, children=tuple(replace(child, connects=False) for child in _GROUP.children))
