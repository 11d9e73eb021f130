"""For whom a proxy asks that stands before this server, by headers that it writes (apiserver
pkg/authentication/request/headerrequest).

Only who shows a certificate of the proxies' authority is believed, and of those only the names that are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from engine.api.errors import unauthorized
from engine.api.wire import Request
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import UserInfo
from engine.config import RequestHeaders

# Those that servers behind this one are asked with, and that are believed of nobody else.
USER, UID, GROUP, EXTRA = "x-remote-user", "x-remote-uid", "x-remote-group", "x-remote-extra-"
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


class RequestHeaderAuthenticator:
    name = "requestheader"

    def __init__(self, config: RequestHeaders) -> None:
        self._allowed_names = config.allowed_names
        self._names, self._uids, self._groups, self._prefixes = (
            tuple(each.strip().lower() for each in headers)
            for headers in (
                config.username_headers,
                config.uid_headers,
                config.group_headers,
                config.extra_headers_prefix,
            )
        )

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Raises ApiError 401 for a proxy that is not allowed."""
        certificate = request.certificate
        if certificate is None or not certificate.of_proxy:
            return None  # what is to be said of the certificates of others, their own authenticator says
        if self._allowed_names and certificate.common_name not in self._allowed_names:
            raise unauthorized()
        headers = request.headers
        name = _first(headers, self._names)
        if not name:
            return None
        groups = tuple(each for header in self._groups for each in _values(headers, header) if each)
        return UserInfo(name, _first(headers, self._uids), groups, tuple(self._extra(headers)))

    def _extra(self, headers: dict[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        found: dict[str, list[str]] = {}
        for prefix in self._prefixes:
            for header in headers:
                if header.startswith(prefix):
                    found.setdefault(_unescaped(header.removeprefix(prefix)), []).extend(_values(headers, header))
        return ((key, tuple(values)) for key, values in sorted(found.items()))


def _values(headers: dict[str, str], header: str) -> list[str]:
    return headers[header].split("\n") if header in headers else []


def _first(headers: dict[str, str], names: Iterable[str]) -> str:
    """The first value of the first header that has one."""
    return next((values[0] for name in names if (values := _values(headers, name)) and values[0]), "")


def _unescaped(key: str) -> str:
    return key if _BROKEN_ESCAPE.search(key) else unquote(key)
