"""One text in the person's editor, which opens again under the reasons as long as the text is refused.

Source of the behaviour: kubectl pkg/cmd/util/editor/editoroptions.go (Run's loop).
"""

from __future__ import annotations

from pathlib import Path

from engine.kubectl import manifests
from engine.kubectl.editor import edit_text
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session
from engine.kubectl.validation import check

CANCELLED = "Edit cancelled, no changes made."
SAVED = 'A copy of your changes has been stored to "{}"'
NAME = "edited-file"  # what the text is called where it cannot be read


def stripped(text: str) -> str:
    """A text without its comments."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


def source_of(text: str) -> manifests.Source:
    return manifests.Source(NAME, lambda: text)


class Editing:
    """`header` stands above the text, and above why it was refused; JSON, which has no comments, has none.

    `about` names what is edited, as in `deployments.apps "web"`. `file` still holds what was last written.
    """

    def __init__(self, session: Session, text: str, *, header: str, about: str, suffix: str = ".yaml") -> None:
        self._session = session
        self._original = self._text = header + text
        self._header = header
        self._about = about
        self._suffix = suffix
        self._reasons: list[str] = []
        self.file: Path | None = None

    async def edited(self) -> str | None:
        """The text as it was changed; None where it was not, which is said. Raises CommandError where what was
        refused was left as it is."""
        while True:
            text = await self._opened()
            if text is None or not (problem := self._problem(text)):
                return text
            self._session.err(f"error: {self._about} is invalid")
            why = f'Invalid value: "The edited file failed validation": {problem}'
            self.refuse([f"{self._about} was not valid:\n* <nil>: {why}"])

    async def _opened(self) -> str | None:
        before = stripped(self._text)
        edited, file = await edit_text(self._with_reasons(), self._session.environment, suffix=self._suffix)
        self.done()
        self.file = file
        if self._reasons and stripped(edited) == before:
            self._session.err(SAVED.format(file))
            raise CommandError("Edit cancelled, no valid changes were saved.")
        if stripped(edited) == stripped(self._original):
            self.done()
            self._session.err(CANCELLED)
            return None
        self._text = edited
        return edited

    def refuse(self, reasons: list[str]) -> None:
        """What is written there is not to be had: the editor opens again, and says why."""
        self._reasons = reasons

    def done(self) -> None:
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        self.file = None

    def _with_reasons(self) -> str:
        if not self._reasons or not self._header:
            return self._text
        lines = [f"# {line}" for reason in self._reasons for line in reason.split("\n")]
        return self._header + "\n".join([*lines, "#"]) + "\n" + stripped(self._text)

    def _problem(self, text: str) -> str:
        """What is wrong with the form of the text; "" for nothing, or where nobody wants to know."""
        if self._session.field_validation() == "Ignore":
            return ""
        try:
            values = [document.value for document in manifests.documents(source_of(stripped(text)))]
        except CommandError as error:
            return str(error).removeprefix(f"error parsing {NAME}: ").removeprefix("error converting YAML to JSON: ")
        return check(values[0] if values else None)
