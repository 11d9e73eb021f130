"""SPDY frames of port-forward."""

from __future__ import annotations

import zlib

import pytest

from engine.apiserver.streaming import spdy


def test_the_dictionary_is_that_of_spdy_3() -> None:
    # The id that a zlib stream with the dictionary begins with, as every implementation must have it.
    assert zlib.adler32(spdy.DICTIONARY) == 0xE3C6A7C2


def test_frames_in_pieces_and_many_at_once() -> None:
    writer, reader = spdy.Framer(), spdy.Framer()
    headers = {"streamtype": "data", "port": "80", "requestid": "0"}
    sent = writer.syn_stream(1, headers) + spdy.data_frame(1, b"hello") + writer.syn_stream(3, headers, fin=True)
    sent += spdy.ping(7) + spdy.reset(3, 5) + spdy.data_frame(1, b"", fin=True) + spdy.go_away(3)
    frames = [frame for place in range(len(sent)) for frame in reader.read(sent[place : place + 1])]
    assert frames == spdy.Framer().read(sent)
    assert [frame.kind for frame in frames] == [1, 0, 1, 6, 3, 0, 7]
    assert frames[0].headers == frames[2].headers == headers
    assert (frames[1].stream, frames[1].data, frames[2].flags) == (1, b"hello", spdy.FIN)
    assert (frames[3].value, frames[4].stream, frames[4].value, frames[5].flags) == (7, 3, 5, spdy.FIN)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"\x80\x02\x00\x01\x00\x00\x00\x00", id="version 2"),
        pytest.param(b"\x80\x03\x00\x01\x00\x00\x00\x0c" + b"\x00" * 12, id="no zlib"),
        pytest.param(b"\x80\x03\x00\x06\x00\x00\x00\x00", id="a ping without a number"),
    ],
)
def test_what_is_no_spdy_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match="SPDY"):
        spdy.Framer().read(broken)
