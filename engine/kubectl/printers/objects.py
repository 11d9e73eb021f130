"""Printing one object at a time: as a result line, as YAML or JSON, by name or through a template (`-o`).

Source of the behaviour: cli-runtime pkg/genericclioptions/print_flags.go and pkg/printers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.api.golang.json import escaped_text
from engine.api.golang.text import quoted
from engine.api.golang.values import go_syntax, shown_value
from engine.api.types import Object
from engine.kubectl import yaml
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.last_applied import compact
from engine.kubectl.printers import kyaml
from engine.kubectl.printers.go_template import Template, TemplateError
from engine.kubectl.printers.jsonpath import JsonPath
from engine.kubectl.printers.typed import in_order
from engine.kubectl.session import Session

FORMATS = (
    "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml"
)
PLAIN = ("json", "yaml", "kyaml", "name")  # in letters of either size
TEMPLATES = (
    "jsonpath", "jsonpath-as-json", "jsonpath-file", "custom-columns", "custom-columns-file",
    "go-template", "go-template-file", "template", "templatefile",
)  # fmt: skip
GO_TEMPLATES = ("go-template", "go-template-file", "template", "templatefile")
Printer = Callable[[Object, Resource], None]


def json_text(value: Any, *, sort_keys: bool = True) -> str:
    """JSON as Go prints it: four spaces, sorted keys, the characters of HTML escaped."""
    text = json.dumps(value, indent=4, sort_keys=sort_keys, ensure_ascii=False)
    return escaped_text(text)


def without_managed_fields(obj: Object) -> Object:
    metadata = obj.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        obj = {**obj, "metadata": {k: v for k, v in metadata.items() if k != "managedFields"}}
    if obj.get("kind", "").endswith("List") and isinstance(obj.get("items"), list):
        obj = {**obj, "items": [without_managed_fields(item) for item in obj["items"]]}
    return obj


def split_format(session: Session, output: str = "") -> tuple[str, str]:
    """The format and its template: `jsonpath={.a}`, or `jsonpath` and `--template`. Raises CommandError.

    Where --template is given it is the template, and a format with another is none. Alone it is a Go template.
    """
    output = output or session.flags.text("output")
    given = session.flags.text("template") if "template" in session.flags else ""
    if not output and given:
        return "go-template", given
    name, equals, template = output.partition("=")
    if name not in TEMPLATES or (equals and given):
        plain = output.lower()
        return plain if plain in PLAIN else output, ""
    if not (template := given or template):
        if name.startswith("custom-columns"):
            raise CommandError("custom-columns format specified but no custom columns given")
        raise CommandError("template format specified but no template given")
    return name, template


class _YamlPrinter:
    """YAML documents, parted by `---` from the second on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._printed = False

    def __call__(self, obj: Object) -> None:
        if self._printed:
            self._session.out("---")
        self._printed = True
        self._session.stdout.write(yaml.dump(obj))


def structured_printer(session: Session, *, typed: bool = False) -> Callable[[Object], None] | None:
    """The printer of `-o json|yaml|jsonpath=...`; None where the format is no structured one.

    `typed` where kubectl holds the object as the struct of its kind.
    """
    name, template = split_format(session)
    if name == "json":
        if typed:
            return lambda obj: session.out(json_text(in_order(obj), sort_keys=False))
        return lambda obj: session.out(json_text(obj))
    if name == "kyaml":
        if typed:
            return lambda obj: _write_text(session, kyaml.dump(in_order(obj), sort_keys=False))
        return lambda obj: _write_text(session, kyaml.dump(obj))
    if name in GO_TEMPLATES:
        return _template_printer(session, _read(template) if name in ("go-template-file", "templatefile") else template)
    if name == "yaml":
        return _YamlPrinter(session)
    if name == "jsonpath-file":
        name, template = "jsonpath", _read(template)
    if name in ("jsonpath", "jsonpath-as-json"):
        path = _parsed(template, allow_missing=session.flags.on("allow-missing-template-keys"))
        shown = path.render if name == "jsonpath" else lambda obj: _each_as_json(path, obj)
        return lambda obj: _write(session, shown, obj, template)
    return None


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError as error:
        why = (error.strerror or "").lower()
        raise CommandError(f"error reading --template {file}, open {file}: {why}") from error


def _write_text(session: Session, text: str) -> None:
    session.stdout.write(text)


def _template_printer(session: Session, text: str) -> Callable[[Object], None]:
    """The printer of a Go template; where it fails, what it was given goes to stdout as kubectl shows it."""
    try:
        template = Template(text, allow_missing=session.flags.on("allow-missing-template-keys"))
    except TemplateError as error:
        raise CommandError(str(error)) from error

    def show(obj: Object) -> None:
        try:
            session.stdout.write(template.render(obj))
        except TemplateError as error:
            session.stdout.write(
                f"{error.written}Error executing template: {error}. "
                "Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{text}\n\traw data was:\n\t\t{compact(obj)}\n"
                f"\tobject given to template engine was:\n\t\t{shown_value(obj)}\n\n"
            )
            quoted = json.dumps(text, ensure_ascii=False)
            raise CommandError(f"error executing template {quoted}: {error}") from error

    return show


def _parsed(template: str, *, allow_missing: bool) -> JsonPath:
    try:
        return JsonPath(template, allow_missing=allow_missing)
    except CommandError as error:
        raise CommandError(f"error parsing jsonpath {template}, {error}") from error


def _each_as_json(path: JsonPath, obj: Object) -> str:
    return "".join(f"{json_text(found)}\n" for found in path.find(obj))


def _write(session: Session, shown: Callable[[Object], str], obj: Object, template: str) -> None:
    try:
        session.stdout.write(shown(obj))
    except CommandError as error:
        raise CommandError(
            f"error executing jsonpath {quoted(template)}: Error executing template: {error}. "
            "Printing more information for debugging the template:\n"
            f"\ttemplate was:\n\t\t{template}\n\tobject given to jsonpath engine was:\n\t\t{go_syntax(obj)}\n\n"
        ) from error


def unknown_format(output: str, allowed: str = FORMATS) -> CommandError:
    return CommandError(
        f'unable to match a printer suitable for the output format "{output}", allowed formats are: {allowed}'
    )


def result_printer(session: Session, operation: str, *, dry_run: str = "none", typed: bool = False) -> Printer:
    """The printer of a command that changes objects: `deployment.apps/web created`, or what `-o` says."""
    output, _ = split_format(session)
    suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    if output in ("", "name"):
        tail = f" {operation}{suffix}" if not output and operation else ""
        return lambda obj, resource: session.out(f"{resource.named(_name(obj))}{tail}")
    structured = structured_printer(session, typed=typed)
    if structured is None:
        raise unknown_format(session.flags.text("output"))
    keep = session.flags.on("show-managed-fields") or output not in PLAIN
    return lambda obj, resource: structured(obj if keep else without_managed_fields(obj))


def _name(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("name") or "<unknown>")
