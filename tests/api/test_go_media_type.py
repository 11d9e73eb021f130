"""Media types as Go's mime package reads them."""

from __future__ import annotations

import pytest

from engine.api.golang.media_type import MediaTypeError, parse_media_type


@pytest.mark.parametrize(
    "text",
    [
        "application/json",
        "Application/JSON",
        " application/json ;charset=utf-8",
        "application/json; charset=utf-8;",
        "application/json;",
        "application/json; charset = utf-8",
        'application/json; charset="utf-8"; q="a;\\"b"',
        "application/json; a=1; a=1",
    ],
)
def test_the_type_is_told_without_its_parameters(text: str) -> None:
    assert parse_media_type(text) == "application/json"


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "application/",
        "/json",
        "application/json/x",
        "application/json, text/plain",
        "application/json; charset",
        "application/json; charset=",
        "application/json; =utf-8",
        "application/json;; charset=utf-8",
        "application/json; a=1; a=2",
        'application/json; charset="utf-8',
    ],
)
def test_what_is_no_media_type_is_told_so(text: str) -> None:
    with pytest.raises(MediaTypeError):
        parse_media_type(text)
