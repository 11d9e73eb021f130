"""Tokens to a syntax tree, by recursive descent over POSIX's grammar (Shell Command Language, 2.10)."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell.lexer import Lexer, ShellSyntaxError, Token, Word, plain
from engine.kubelet.runtime.shell.syntax import (
    AndOr,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    Redirect,
    Redirected,
    Script,
    Simple,
)

RESERVED = frozenset(
    ["if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "in", "{", "}", "!"]
)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse(script: str) -> Script:
    """The tree of a script. Raises ShellSyntaxError."""
    parser = _Parser(list(Lexer(script).tokens()))
    tree = parser.script()
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    # -- tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is(self, *texts: str) -> bool:
        """Whether the next token is one of these operators or reserved words."""
        token = self._next
        if token.kind == "operator":
            return token.text in texts
        return token.kind == "word" and plain(token.word) in texts

    def _accept(self, *texts: str) -> bool:
        if self._is(*texts):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise ShellSyntaxError(f'{self._unexpected()} (expecting "{text}")')

    def _unexpected(self) -> str:
        token = self._next
        if token.kind == "end":
            return "unexpected end of file"
        text = plain(token.word) or token.text if token.kind == "word" else token.text
        return "unexpected newline" if text == "\n" else f'unexpected "{text}"'

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise ShellSyntaxError(self._unexpected())

    def _newlines(self) -> None:
        while self._accept("\n"):
            pass

    # -- grammar

    def script(self, *ends: str) -> Script:
        """Commands up to (not including) one of the reserved words or operators `ends`."""
        items: list[AndOr] = []
        while self._accept("\n"):
            pass
        while self._next.kind != "end" and not (ends and self._is(*ends)):
            if self._is(")", ";", "&", "&&", "||", "|"):
                break
            items.append(self._and_or())
            if not self._ended_by_separator():
                break
            self._newlines()
        return tuple(items)

    def _ended_by_separator(self) -> bool:
        previous = self._tokens[self._at - 1]
        if previous.kind == "operator" and previous.text == "&":
            self._accept(";", "\n")
            return True
        return self._accept(";", "\n")

    def _body(self, *ends: str) -> Script:
        body = self.script(*ends)
        if not body:
            raise ShellSyntaxError(self._unexpected())
        return body

    def _and_or(self) -> AndOr:
        links = [("", self._pipeline())]
        while self._is("&&", "||"):
            operator = self._take().text
            self._newlines()
            links.append((operator, self._pipeline()))
        return AndOr(tuple(links), self._accept("&"))

    def _pipeline(self) -> Pipeline:
        negated = False
        while self._accept("!"):
            negated = not negated
        commands = [self._command()]
        while self._accept("|"):
            self._newlines()
            commands.append(self._command())
        return Pipeline(tuple(commands), negated)

    def _command(self) -> Command:
        compound = self._compound()
        if compound is None:
            return self._simple()
        redirects = []
        while self._next.kind == "redirect":
            redirects.append(self._redirect())
        return Redirected(compound, tuple(redirects)) if redirects else compound

    def _compound(self) -> Command | None:
        if self._accept("("):
            body = self._body(")")
            self._expect(")")
            return Group(body, subshell=True)
        if self._accept("{"):
            body = self._body("}")
            self._expect("}")
            return Group(body, subshell=False)
        if self._accept("if"):
            return self._if()
        if self._is("while", "until"):
            until = plain(self._take().word) == "until"
            condition = self._body("do")
            return Loop(condition, self._do(), until)
        if self._accept("for"):
            return self._for()
        if self._accept("case"):
            return self._case()
        return self._function()

    def _do(self) -> Script:
        self._expect("do")
        body = self._body("done")
        self._expect("done")
        return body

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        otherwise: Script | None = None
        while True:
            condition = self._body("then")
            self._expect("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            if self._accept("elif"):
                continue
            if self._accept("else"):
                otherwise = self._body("fi")
            self._expect("fi")
            return If(tuple(branches), otherwise)

    def _for(self) -> For:
        variable = plain(self._take().word) or ""
        if not _NAME.fullmatch(variable):
            raise ShellSyntaxError("bad for loop variable")
        self._newlines()
        words: list[Word] | None = None
        if self._accept("in"):
            words = []
            while self._next.kind == "word":
                words.append(self._take().word)
        self._accept(";")
        self._newlines()
        return For(variable, None if words is None else tuple(words), self._do())

    def _case(self) -> Case:
        word = self._take().word
        self._newlines()
        self._expect("in")
        self._newlines()
        clauses: list[tuple[tuple[Word, ...], Script]] = []
        while not self._is("esac"):
            self._accept("(")
            patterns = [self._take().word]
            while self._accept("|"):
                patterns.append(self._take().word)
            self._expect(")")
            clauses.append((tuple(patterns), self.script(";;", "esac")))
            if not self._accept(";;"):
                break
            self._newlines()
        self._expect("esac")
        return Case(word, tuple(clauses))

    def _function(self) -> Function | None:
        name = plain(self._next.word) if self._next.kind == "word" else None
        following = self._tokens[self._at + 1 : self._at + 3]
        called = [token.text for token in following] == ["(", ")"]
        if name is None or name in RESERVED or name.endswith("=") or not called:
            return None
        self._at += 3
        self._newlines()
        return Function(name, self._command())

    def _redirect(self) -> Redirect:
        token = self._take()
        if self._next.kind != "word":
            raise ShellSyntaxError(self._unexpected())
        return Redirect(token.fd, token.text, self._take().word)

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        arrays: list[tuple[str, tuple[Word, ...]]] = []
        while self._next.kind in ("word", "redirect"):
            if self._next.kind == "redirect":
                redirects.append(self._redirect())
                continue
            if not words and plain(self._next.word) in RESERVED:
                raise ShellSyntaxError(self._unexpected())
            word = self._take().word
            assignment = _assignment(word) if not words else None
            if assignment is not None and not any(part.value for part in assignment[1]) and self._accept("("):
                arrays.append((assignment[0], self._elements()))
            elif assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
        if not (assignments or words or redirects or arrays):
            raise ShellSyntaxError(self._unexpected())
        return Simple(tuple(assignments), tuple(words), tuple(redirects), tuple(arrays))

    def _elements(self) -> tuple[Word, ...]:
        """What stands in the parentheses of an array."""
        words: list[Word] = []
        self._newlines()
        while self._next.kind == "word":
            words.append(self._take().word)
            self._newlines()
        self._expect(")")
        return tuple(words)


def _assignment(word: Word) -> tuple[str, Word] | None:
    if not word or word[0].kind != "text" or word[0].quoted:
        return None
    match = _ASSIGNMENT.fullmatch(word[0].value)
    if match is None:
        return None
    return match[1], (word[0]._replace(value=match[2]), *word[1:])
