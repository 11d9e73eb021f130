"""`label` and `annotate`: set and remove entries of an object's maps of metadata.

Source of the behaviour: kubectl pkg/cmd/label/label.go, pkg/cmd/annotate/annotate.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.api.patch import two_way_merge_patch
from engine.api.selectors import label_value_errors
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH
from engine.kubectl.arguments import split_arguments, split_changes
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command, Run
from engine.kubectl.errors import CommandError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import (
    ALL,
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    PRINT,
    SELECTOR,
    field_manager,
    filename,
)
from engine.kubectl.printers.objects import Printer, result_printer
from engine.kubectl.selection import Info, Selection, collect, is_one_file, visit
from engine.kubectl.session import Session


@dataclass(frozen=True, slots=True)
class _Change:
    """What the command line sets and removes."""

    set: dict[str, str]
    remove: list[str]


def _parse(words: list[str], noun: str) -> _Change:
    change = _Change({}, [])
    for word in words:
        key, equals, value = word.partition("=")
        if noun == "label" and "=" in value:
            raise CommandError(f"invalid label spec: {word}")
        if equals and key:
            if noun == "label" and (problems := label_value_errors(value)):
                raise CommandError(f'invalid label value: "{word}": {";".join(problems)}')
            change.set[key] = value
        elif word.endswith("-"):
            change.remove.append(word[:-1])
        else:
            raise CommandError(f"unknown {noun} spec: {word}")
    both = [key for key in change.remove if key in change.set]
    if both:
        what = "a label" if noun == "label" else f"the following annotation(s) in the same command: {', '.join(both)}"
        raise CommandError(
            f"can not both modify and remove {what}" + (" in the same command" if noun == "label" else "")
        )
    return change


def _runner(noun: str, map_name: str, done: str) -> Run:
    async def run(session: Session) -> None:
        dry_run = session.dry_run()
        resources, words = split_changes(session.arguments, noun)
        change = _parse(words, noun)
        _check(session, resources, words, noun)
        if noun == "annotation":
            result_printer(session, done, dry_run=dry_run)
        selection = Selection.of_flags(session, arguments=resources)
        selection.local = session.flags.on("local")
        one = _one(session, selection, noun)
        if not one and session.flags.text("resource-version"):
            if noun == "label":
                await collect(session, selection)  # what is wrong with the words is told before
            raise CommandError("--resource-version may only be used with a single resource")
        await visit(session, selection, _Editor(session, change, noun, map_name, done, dry_run, one))

    return run


def _check(session: Session, resources: Sequence[str], words: Sequence[str], noun: str) -> None:
    """What the flags allow. Raises CommandError."""
    flags = session.flags
    if flags.on("list") and flags.text("output"):
        raise CommandError("--list and --output may not be specified together")
    for name in ("selector", "field-selector"):
        if flags.on("all") and flags.text(name):
            raise CommandError(f"cannot set --all and --{name} at the same time")
    if flags.on("local"):
        _check_local(session, resources, "pod" if noun == "label" else "rsrc")
    elif not resources and not session.from_files:
        raise CommandError("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    if not words and not flags.on("list"):
        raise CommandError(f"at least one {noun} update is required")


def _check_local(session: Session, resources: Sequence[str], example: str) -> None:
    files = f"-f {example}.yaml or --filename={example}.json"
    if session.dry_run() == "server":
        raise CommandError("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
    if resources:
        raise CommandError(f"can only use local files by {files} when --local=true is set")
    if not session.from_files:
        raise CommandError(f"one or more files must be specified as {files}")


def _one(session: Session, selection: Selection, noun: str) -> bool:
    """Whether the words name one object, or one file (IntoSingleItemImplied of the builder)."""
    if selection.of_manifests:
        return is_one_file(selection)
    if selection.selector or selection.field_selector or selection.everything:
        return False
    try:
        pairs, types, names = split_arguments(selection.arguments, session.program)
    except CommandError:
        if noun == "label":
            raise
        return False  # which is told when the objects are looked for
    return len(pairs) == 1 or (len(types), len(names)) == (1, 1)


@dataclass(slots=True)
class _Editor:
    session: Session
    change: _Change
    noun: str
    map_name: str
    done: str
    dry_run: str
    one: bool
    printer: Printer | None = None

    async def __call__(self, info: Info) -> None:
        if self.session.flags.on("list"):
            self._list(info)
            return
        before = info.object
        after = self._changed(before)
        if not self._local:
            after = recorded(self.session, after)
        if self._local:
            info.object = after
        elif (
            self.noun == "annotation"
            or (before.get("metadata") or {}).get(self.map_name) != after["metadata"][self.map_name]
        ):
            patch = two_way_merge_patch(before, after)
            info.refresh(
                await self.session.patch(
                    info.resource,
                    info.name,
                    info.namespace,
                    patch,
                    MERGE_PATCH,
                    fieldManager=self.session.flags.text("field-manager"),
                    dryRun="All" if self.dry_run == "server" else None,
                )
            )
        printer = self.printer or result_printer(self.session, self._operation(before, after), dry_run=self.dry_run)
        if self.noun == "annotation":  # one prints all, with lines between documents; labels are printed one by one
            self.printer = printer
        printer(info.object, info.resource)

    @property
    def _local(self) -> bool:
        return self.session.flags.on("local") or self.dry_run == "client"

    def _list(self, info: Info) -> None:
        values = self._changed(info.object)["metadata"][self.map_name]
        gvk = info.resource.gvk
        if not self.one:
            self.session.out(f"Listing {self.map_name} for {gvk.kind}.{gvk.group}/{info.name}:")
        for key in sorted(values):
            self.session.out(f"{'' if self.one else ' '}{key}={values[key]}")

    def _changed(self, obj: Object) -> Object:
        metadata = obj.get("metadata") or {}
        values = dict(metadata.get(self.map_name) or {})
        if self.noun == "label" and not self._local and not self.session.flags.on("list"):
            for key in self.change.remove:
                if key not in values:
                    self.session.out(f'label "{key}" not found.')
        if not self.session.flags.on("overwrite"):
            self._refuse_overwrite(values)
        for key in self.change.remove:
            values.pop(key, None)
        values |= self.change.set
        changed = {**metadata, self.map_name: values}
        if version := self.session.flags.text("resource-version"):
            changed["resourceVersion"] = version
        return {**obj, "metadata": changed}

    def _refuse_overwrite(self, values: dict[str, str]) -> None:
        there = [
            f"'{key}' already has a value ({values[key]})"
            for key, value in self.change.set.items()
            if key in values and values[key] != value
        ]
        if there and self.noun == "label":
            raise of([CommandError(f"{text}, and --overwrite is false") for text in there])
        if there:
            raise CommandError(
                f"--overwrite is false but found the following declared annotation(s): {'; '.join(there)}"
            )

    def _operation(self, before: Object, after: Object) -> str:
        if self.noun == "annotation":
            return self.done
        old = (before.get("metadata") or {}).get(self.map_name) or {}
        new = after["metadata"].get(self.map_name) or {}
        if old == new:
            return "not labeled"
        if not self.session.flags.on("overwrite") and len(str(new)) < len(str(old)):
            return "unlabeled"
        return self.done


def _command(name: str, short: str, run: Run) -> Command:
    return Command(
        name=name,
        short=short,
        usage=("[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"),
        run=run,
        flags=(
            *filename(recursive=name == "annotate"),
            *PRINT,
            *SELECTOR,
            *FIELD_SELECTOR,
            *ALL,
            *ALL_NAMESPACES,
            *DRY_RUN,
            *field_manager(f"kubectl-{name}"),
            *RECORD,
            Flag("list", Type.BOOL, help="Show what there is."),
            Flag("local", Type.BOOL, help="Change the manifest here and send nothing."),
            Flag("overwrite", Type.BOOL, help="Replace values that are there."),
            Flag("resource-version", help="Only if the object has this resourceVersion."),
        ),
        examples=(f"{name} pods web tier=front", f"{name} pods web tier-"),
    )


LABEL = _command("label", "Update the labels on a resource", _runner("label", "labels", "labeled"))
ANNOTATE = _command(
    "annotate", "Update the annotations on a resource", _runner("annotation", "annotations", "annotated")
)
