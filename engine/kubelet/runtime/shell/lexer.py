"""Script text to tokens: quotes, escapes, comments, operators and the parts of words that are expanded later
(POSIX.1-2017, Shell Command Language, 2.2 and 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

OPERATORS = ("&&", "||", ";;", ";", "&", "|", "(", ")", "\n")
REDIRECTS = (">>", ">&", "<<<", "<<", ">", "<")


class ShellSyntaxError(ValueError):
    """The script is not one that this shell can run."""


class Part(NamedTuple):
    """A piece of a word. A variable may have an `operator` (`:-`, `:=`, `#`, `%`, `len`, ...) with its `argument`;
    `index` and `count` are of arrays, which bash has."""

    kind: Literal["text", "variable", "command", "arithmetic"]
    value: str
    quoted: bool
    operator: str = ""
    argument: str = ""


Word = tuple[Part, ...]


class Token(NamedTuple):
    kind: Literal["word", "operator", "redirect", "end"]
    text: str
    word: Word = ()
    fd: int = -1


def plain(word: Word) -> str | None:
    """The text of a word that has neither quotes nor expansions: the only kind that can be a reserved word."""
    if len(word) == 1 and word[0].kind == "text" and not word[0].quoted:
        return word[0].value
    return None


class Lexer:
    def __init__(self, script: str) -> None:
        self._text = script
        self._at = 0
        self._documents: list[Token] = []  # the words of here-documents whose redirection has just been told
        self._jump: tuple[int, int] | None = None  # from the end of a line with here-documents to behind them

    def tokens(self) -> Iterator[Token]:
        while self._skip_blanks():
            yield self._redirect() or self._operator() or self._word_token()
            while self._documents:
                yield self._documents.pop()
        yield Token("end", "")

    # -- between tokens

    def _skip_blanks(self) -> bool:
        """Go to the next token; False at the end."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char in " \t\r":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif char == "#":
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            else:
                return True
        return False

    def _redirect(self) -> Token | None:
        at, fd = self._at, -1
        if self._text[at].isdigit() and self._text[at + 1 : at + 2] in ("<", ">"):
            fd, at = int(self._text[at]), at + 1
        elif self._text.startswith("&>", at):
            self._at += 2
            return Token("redirect", ">", fd=3)  # 3 stands for both standard streams
        for operator in REDIRECTS:
            if self._text.startswith(operator, at):
                self._at = at + len(operator)
                if operator == "<<":
                    self._documents.append(self._here_document())
                return Token("redirect", operator, fd=fd if fd >= 0 else int(operator[0] == ">"))
        return None

    def _here_document(self) -> Token:
        """The lines below this one up to the delimiter (2.7.4); in quotes it keeps them as they are."""
        tabs = self._text.startswith("-", self._at)
        self._at += tabs
        self._run_of(" \t")
        delimiter = self._word()
        line_end, at = self._jump or (self._text.find("\n", self._at), self._text.find("\n", self._at) + 1)
        if line_end < 0:
            raise ShellSyntaxError("unexpected end of file (expecting a here-document)")
        last, body = "".join(part.value for part in delimiter), ""
        while at < len(self._text):
            line, newline, _ = self._text[at:].partition("\n")
            at += len(line) + len(newline)
            line = line.lstrip("\t") if tabs else line
            if line == last:
                break
            body += f"{line}\n"
        self._jump = line_end, at
        kept = any(part.quoted for part in delimiter)
        return Token("word", "", (Part("text", body, True),) if kept else Lexer(body)._here_text())

    def _here_text(self) -> Word:
        parts: list[Part] = [Part("text", "", True)]
        while self._at < len(self._text):
            escaped = self._text[self._at + 1 : self._at + 2]
            if self._text[self._at] == "\\" and escaped and escaped in "$`\\\n":
                parts.append(Part("text", "" if escaped == "\n" else escaped, True))
                self._at += 2
            elif self._text[self._at] in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                parts.append(Part("text", self._run("\\$`") or self._take(), True))
        return tuple(parts)

    def _run_of(self, chars: str) -> None:
        while self._at < len(self._text) and self._text[self._at] in chars:
            self._at += 1

    def _operator(self) -> Token | None:
        for operator in OPERATORS:
            if self._text.startswith(operator, self._at):
                if operator == "\n" and self._jump is not None and self._at == self._jump[0]:
                    (_, self._at), self._jump = self._jump, None
                    return Token("operator", operator)
                self._at += len(operator)
                return Token("operator", operator)
        return None

    # -- words

    def _word_token(self) -> Token:
        begin = self._at
        return (
            Token("word", self._text[begin : self._at], self._word()) if begin < len(self._text) else Token("end", "")
        )

    def _word(self) -> Word:
        parts: list[Part] = []
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char in " \t\r\n;&|()<>":
                break
            if char == "'":
                parts.append(Part("text", self._until("'"), True))
            elif char == '"':
                self._at += 1
                parts += self._double_quoted()
            elif char == "\\":
                parts.append(Part("text", text[self._at + 1 : self._at + 2], True))
                self._at += 2
            elif char in "$`":
                parts.append(self._expansion(quoted=False))
            else:
                parts.append(Part("text", self._run(" \t\r\n;&|()<>'\"\\$`"), False))
        return tuple(parts)

    def _double_quoted(self) -> list[Part]:
        parts: list[Part] = [Part("text", "", True)]
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == '"':
                self._at += 1
                return parts
            if char == "\\" and text[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\", "\n"):
                escaped = text[self._at + 1]
                parts.append(Part("text", "" if escaped == "\n" else escaped, True))
                self._at += 2
            elif char in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                parts.append(Part("text", self._run('"\\$`') or self._take(), True))
        raise ShellSyntaxError("unterminated quoted string")

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _run(self, stops: str) -> str:
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] not in stops:
            self._at += 1
        return self._text[begin : self._at]

    def _until(self, quote: str) -> str:
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise ShellSyntaxError("unterminated quoted string")
        begin, self._at = self._at + 1, end + 1
        return self._text[begin:end]

    def _expansion(self, *, quoted: bool) -> Part:
        text = self._text
        if text[self._at] == "`":
            return Part("command", self._until("`"), quoted)
        following = text[self._at + 1 : self._at + 2]
        if text.startswith("$((", self._at):
            self._at += 1
            return Part("arithmetic", self._balanced("(", ")")[1:-1], quoted)
        if following == "(":
            self._at += 1
            return Part("command", self._balanced("(", ")"), quoted)
        if following == "{":
            self._at += 1
            return _braced(self._balanced("{", "}"), quoted=quoted)
        if (following and following in "?$!#@*") or following.isdigit():
            self._at += 2
            return Part("variable", following, quoted)
        if following == "_" or following.isalpha():
            self._at += 1
            begin = self._at
            while self._at < len(text) and (text[self._at] == "_" or text[self._at].isalnum()):
                self._at += 1
            return Part("variable", text[begin : self._at], quoted)
        self._at += 1
        return Part("text", "$", quoted)

    def _balanced(self, opening: str, closing: str) -> str:
        """What stands between a bracket and its partner, quotes respected."""
        depth, begin = 0, self._at + 1
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "'" and opening == "(":
                self._until("'")
                continue
            if char == "\\":
                self._at += 1
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if not depth:
                    self._at += 1
                    return self._text[begin : self._at - 1]
            self._at += 1
        raise ShellSyntaxError(f'unexpected end of file (expecting "{closing}")')


def _braced(inside: str, *, quoted: bool) -> Part:
    if inside.startswith("#") and len(inside) > 1:
        array = inside.endswith(("[@]", "[*]"))
        return Part("variable", inside[1:-3] if array else inside[1:], quoted, "count" if array else "len")
    end = 1 if inside[:1] in "?$!#@*" else 0
    while end < len(inside) and (inside[end] == "_" or inside[end].isalnum()):
        end += 1
    name, rest = inside[:end], inside[end:]
    if not rest:
        return Part("variable", name, quoted)
    if name and rest.startswith("[") and rest.endswith("]"):
        return Part("variable", name, quoted, "index", rest[1:-1])
    for operator in (":-", ":=", ":+", ":?", "##", "%%", "-", "=", "+", "?", "#", "%"):
        if name and rest.startswith(operator):
            return Part("variable", name, quoted, operator, rest[len(operator) :])
    raise ShellSyntaxError(f"bad substitution: ${{{inside}}}")
