"""`get --sort-by` where tables are printed: what kubectl sorts then, and what it says where it cannot.

The rows of a table are sorted as it is printed. Several answers of the server are put in order beforehand, by a field
of each answer itself, not of the objects in it.

Source of the behaviour: kubectl pkg/cmd/get/get.go (Complete, Run), sorter.go (RuntimeSorter, SortingPrinter).
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubectl.errors import CommandError, FatalError
from engine.kubectl.printers.sorting import sort_objects, sort_rows
from engine.kubectl.session import Session
from engine.kubectl.verbs.get_targets import Target

Answer = tuple[Target, Object]


def warn_if_watching(session: Session) -> None:
    """That `--sort-by` is of no use to what comes later."""
    if not session.flags.text("sort-by"):
        return
    if session.flags.on("watch"):
        session.err("warning: --watch requested, --sort-by will be ignored for watch events received")
    elif session.flags.on("watch-only"):
        session.err("warning: --watch-only requested, --sort-by will be ignored")


def in_order(session: Session, answers: list[Answer]) -> list[Answer]:
    """The answers in the order that kubectl prints them in. Raises CommandError, FatalError."""
    path = session.flags.text("sort-by")
    if not path:
        return answers
    if session.flags.on("server-print"):
        keys = [table for _, table in answers]
    else:  # then kubectl has the objects themselves, whatever list they came in
        answers = [(target, {**table, "rows": [row]}) for target, table in answers for row in table["rows"]]
        keys = [table["rows"][0].get("object") or {} for _, table in answers]
    if len(answers) < 2:
        return answers
    return [answers[index] for index in sort_objects(keys, path)]


def sort_table(session: Session, table: Object) -> None:
    """Sort the rows; kubectl shows none of several if it cannot, and says nothing of why. Raises FatalError."""
    path = session.flags.text("sort-by")
    if not path or len(table["rows"]) < 2:
        return
    try:
        table["rows"] = sort_rows(table["rows"], path)
    except FatalError:
        raise
    except CommandError:
        table["rows"] = []
