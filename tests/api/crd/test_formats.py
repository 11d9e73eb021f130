"""Formats of strings, after the tables of kube-openapi's strfmt: what has a format, and what has not."""

from __future__ import annotations

import pytest

from engine.api.crd import formats

FIT: dict[str, list[str]] = {
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "byte": ["aGVsbG8=", "ZWxpemFiZXRocG9zZXk="],
    "cidr": ["192.168.254.2/24", "192.0.02.1/24", "2001:db8:a0b:12f0::1/32", "10.0.0.0/08", "::ffff:1.2.3.4/128"],
    "creditcard": ["4111-1111-1111-1111", "4012-8888-8888-1881"],
    "date": ["2021-02-28", "0000-02-29"],
    "date-time": ["2021-01-01T00:00:00Z", "2021-01-01t23:59:59.5+01:00", "2021-01-01T00:00:00zTrailing"],
    "duration": ["1h30m", "-1.5h", "0", "2 days", "1week 3 Hours", "5 microseconds", "10 secs", "1 foo 2 s"],
    "email": [
        "somebody@somewhere.com", "root@localhost", '" "@example.com', r'"Abc\@def"@example.com', "Miles.O'Brian@e.com",
        "!#$%&'*+-/=?^_`{}|~@example.com", "postmaster@☁→❄.ws", "Gopher <gopher@example.com>", '"A B" <a@b>', "<a@b>",
        "a@[127.0.0.1]", "a@b (comment)",
    ],
    "hexcolor": ["#FFFFFF", "000", "#aB1"],
    "hostname": [
        "somewhere.com", "888.com", "1.2.3.4.com", "xn--bcher-kva.example.com", "☁→❄→☃→☀→☺→☂→☹→✝.ws", "www.example.ôlà",
        "ex$ample", "localhost", "x", "x-y", "a.b.c.dot", "ex=ample.com", "<foo>", "www.example-hyphenated.org",
    ],
    "ipv4": ["192.168.254.2", "192.168.1.01", "::ffff:1.2.3.4"],
    "ipv6": ["::2", "::ffff:1.2.3.4"],
    "isbn": ["0321751043", "978-0321751041"],
    "isbn10": ["0321751043", "0-8044-2957-X"],
    "isbn13": ["978-0321751041"],
    "mac": ["06:05:04:03:02:01", "01-23-45-67-89-ab-cd-ef", "0123.4567.89AB", ":".join(["00"] * 20)],
    "password": ["anything"],
    "rgbcolor": ["rgb(0,0,0)", "rgb( 255 , 25, 199 )"],
    "ssn": ["111-11-1111", "999 99 9999"],
    "uri": ["http://somewhereelse.com", "/a/path"],
    "uuid": ["123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"],
    "a-format-of-mine": ["anything"],
    "hex-color": ["#FFFFFF"],
    "k8s-short-name": ["a-1"],
    "k8s-long-name": ["a.b"],
}  # fmt: skip
NOT_FIT: dict[str, list[str]] = {
    "bsonobjectid": ["507f1f77bcf86cd79943901", ""],
    "byte": ["ZWxpemFiZXRocG9zZXk", "", "a", "QQ==QQ=="],
    "cidr": ["198.168.254.2", "2001:db8::1", "10.0.0.0/255.0.0.0", "10.0.0.0/33", "10.0.0.0/+8", "fe80::1%en0/64"],
    "creditcard": ["9999-9999-9999-999", "4111-1111-1111-1112", "1234567812345670"],
    "date": ["2021-02-29", "2021-W01-1", "20210228", "2021-2-28", "2021-01-01T00:00:00Z"],
    "date-time": [
        "2021-01-01 00:00:00Z", "2021-01-01T00:00:00", "2021-01-01T24:00:00Z", "2021-01-01T00:00:60Z",
        "2021-01-01T00:00:00+0100", "2021-01-01T00:00Z", "",
    ],
    "duration": ["", "1", "s", "1 foo", "1.5 days", "-2 days", "9999999999999999999s", f"1 day {'9' * 5000} foo"],
    "email": ["somebody@somewhere@com", "a", "@b", "a@", ".a@b", "a..b@c", "a@b.", '""@b', "a b@c", "a@b c", "<a@b"],
    "hexcolor": ["#fffffffz", "#ffff", ""],
    "hostname": [
        "somewhere.com!", "1.1.1.1", "a" * 256, "x.y." + "a" * 64, "www.example-.org", "-www.example.org", "www-",
        "www.ex ample.org", "_www.example.org", "www.詹姆斯.x", "a.b.c.d", "xyz-", "x.", "a.b.c.dot-", "a.b.c.é;ö",
        "my-host", "",
    ],
    "ipv4": ["198.168.254.2.2", "::1", "1.2.3.256", "1.2.3"],
    "ipv6": ["127.0.0.1", "fe80::1%en0", "1::2::3"],
    "isbn": ["836217463", "978-0321751042"],
    "isbn10": ["0321751044", "X321751043"],
    "isbn13": ["978-0321751042", "0321751043"],
    "mac": ["01:02:03:04:05", "01:02-03:04:05:06", "0123.4567.89ab-cdef", "01:02:03:04:05:06:07"],
    "rgbcolor": ["rgb(300,0,0)", "rgb(007,0,0)", "rgb(1,2)"],
    "ssn": ["999 99 999", "999999999"],
    "uri": ["somewhere.com", ""],
    "uuid": ["not-a-uuid", "123e4567-e89b-12d3-a456-42661417400"],
    "uuid3": ["123e4567-e89b-12d3-a456-426614174000"],
    "uuid4": ["123e4567-e89b-42d3-c456-426614174000"],
    "hex-color": ["#ffff"],
    "k8s-short-name": ["A", "a.b", ""],
    "k8s-long-name": ["A", ""],
}  # fmt: skip


@pytest.mark.parametrize("name", FIT)
def test_what_has_a_format(name: str) -> None:
    assert [each for each in FIT[name] if not formats.fits(name, each)] == []


@pytest.mark.parametrize("name", NOT_FIT)
def test_what_has_not(name: str) -> None:
    assert [each for each in NOT_FIT[name] if formats.fits(name, each)] == []


def test_dashes_of_a_format_s_name_do_not_count() -> None:
    assert [name for name in ("hex-color", "date-time", "hex_color") if formats.known(name)] == [
        "hex-color",
        "date-time",
    ]
