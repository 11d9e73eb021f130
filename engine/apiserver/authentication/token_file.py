"""Tokens that stand in a file (--token-auth-file): `token,name,uid,"group1,group2"` (apiserver
pkg/authentication/token/tokenfile). It is read once, at the start."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from pathlib import Path

from engine.api.wire import Request
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.handshake import offered_token

log = logging.getLogger(__name__)

_COLUMNS = 3


class TokenFileError(Exception):
    """The file is none that a server would start with."""


def read_tokens(file: Path) -> dict[str, UserInfo]:
    """Who shows which token; of two that are the same the last one counts. Raises TokenFileError."""
    tokens: dict[str, UserInfo] = {}
    try:
        with file.open(newline="") as lines:
            records = [record for record in csv.reader(lines, strict=True) if record]
    except OSError as error:
        raise TokenFileError(f"open {file}: {(error.strerror or str(error)).lower()}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise TokenFileError(f"{file}: {error}") from error
    for number, record in enumerate(records, start=1):
        if len(record) < _COLUMNS:
            found = f"(token, user name, user uid), found {len(record)}"
            raise TokenFileError(f"token file '{file}' must have at least {_COLUMNS} columns {found}")
        token, name, uid, *more = record
        if not token:
            log.warning("empty token has been found in token file '%s', record number '%d'", file, number)
            continue
        if token in tokens:
            log.warning("duplicate token has been found in token file '%s', record number '%d'", file, number)
        tokens[token] = UserInfo(name, uid, tuple(more[0].split(",")) if more else ())
    return tokens


class TokenFileAuthenticator:
    name = "TokenFile"

    def __init__(self, tokens: Mapping[str, UserInfo]) -> None:
        self._tokens = tokens

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        token = bearer_token(request.headers.get("authorization", ""), Remarks()) or offered_token(request)
        return self._tokens.get(token) if token else None
