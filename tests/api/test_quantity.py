"""Quantities: parsing, canonical form, arithmetic and the failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.quantity import FORMAT_WRONG, NUMBER_WRONG, SUFFIX_WRONG, Format, Quantity, QuantityError


@pytest.mark.parametrize(
    ("given_as", "canonical", "value", "milli"),
    [
        ("0", "0", 0, 0),
        ("100m", "100m", 1, 100),
        ("1000m", "1", 1, 1000),
        ("0.5", "500m", 1, 500),
        ("1500m", "1500m", 2, 1500),
        (1, "1", 1, 1000),
        (0.25, "250m", 1, 250),
        (" 2 ", "2", 2, 2000),
        ("+3", "+3", 3, 3000),
        ("+30000", "30k", 30000, 30_000_000),
        ("1.500", "1.500", 2, 1500),
        ("1.50", "1500m", 2, 1500),
        ("0.500", "500m", 1, 500),
        ("2.000", "2", 2, 2000),
        ("1.234567", "1.234567", 2, 1235),
        ("0500Mi", "0500Mi", 500 * 2**20, 500 * 2**20 * 1000),
        ("0512Mi", "512Mi", 512 * 2**20, 512 * 2**20 * 1000),
        ("1000e3", "1e6", 10**6, 10**9),
        (".5", "500m", 1, 500),
        ("5.", "5.", 5, 5000),
        ("Gi", "0", 0, 0),
        ("1Ki", "1Ki", 1024, 1_024_000),
        ("1024Mi", "1Gi", 2**30, 2**30 * 1000),
        ("1.5Gi", "1536Mi", 1536 * 2**20, 1536 * 2**20 * 1000),
        ("100Mi", "100Mi", 100 * 2**20, 100 * 2**20 * 1000),
        ("0.5Ki", "512", 512, 512_000),
        ("1.1Ki", "1126400m", 1127, 1_126_400),
        ("1e3", "1e3", 1000, 10**6),
        ("12E6", "12E6", 12 * 10**6, 12 * 10**9),
        ("1500e-3", "1500e-3", 2, 1500),
        ("3E", "3E", 3 * 10**18, 3 * 10**21),
        ("1000E", "1e21", 10**21, 10**24),
        ("1n", "1n", 1, 1),
        ("0.1n", "1n", 1, 1),
        ("-1.1m", "-1100u", -1, -2),
    ],
)
def test_parse(given_as: str | float, canonical: str, value: int, milli: int) -> None:
    parsed = Quantity.parse(given_as)
    assert (str(parsed), parsed.value, parsed.milli) == (canonical, value, milli)


def test_binary_amounts_end_at_the_largest_int64() -> None:
    assert Quantity.parse("10000Ei").value == 2**63 - 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", FORMAT_WRONG),
        ("abc", FORMAT_WRONG),
        ("1..2", FORMAT_WRONG),
        ("1 Gi", FORMAT_WRONG),
        ("1\n", FORMAT_WRONG),
        ("Ei", NUMBER_WRONG),
        ("-Pi", NUMBER_WRONG),
        (".e-10", NUMBER_WRONG),
        ("1GiB", FORMAT_WRONG),
        ("1e", SUFFIX_WRONG),
        ("1ki", SUFFIX_WRONG),
        ("1K", SUFFIX_WRONG),
        ("1e999999999", SUFFIX_WRONG),
        pytest.param("1e" + "9" * 5000, SUFFIX_WRONG, id="an endless exponent"),
        pytest.param("9" * 5000, NUMBER_WRONG, id="endless digits"),
        (True, FORMAT_WRONG),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        Quantity.parse(text)
    assert str(caught.value) == message


def test_arithmetic_keeps_the_form_of_what_is_there_already() -> None:
    assert str(Quantity.parse("1Gi") + Quantity.parse("1024Mi")) == "2Gi"
    assert str(Quantity() + Quantity.parse("1Gi")) == "1Gi"
    assert str(Quantity.parse("1") - Quantity.parse("100m")) == "900m"
    assert str(Quantity.parse("100m") * 3) == "300m"
    assert str(-Quantity.parse("1Ki")) == "-1Ki"
    assert Quantity.parse("1000m") == Quantity.parse("1")
    assert hash(Quantity.parse("1000m")) == hash(Quantity.parse("1"))
    assert Quantity.parse("999m") < Quantity.parse("1") <= Quantity.parse("1") < Quantity.parse("1Ki")
    assert not Quantity.parse("0")
    assert float(Quantity.parse("1500m")) == 1.5
    assert str(Quantity.parse("1.0001").rounded_up(-3)) == "1001m"
    assert (str(Quantity.of(1024, Format.BINARY_SI)), str(Quantity.of_milli(1500))) == ("1Ki", "1500m")


@given(st.integers(-(10**15), 10**15), st.sampled_from(["n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "e3", "e-3"]))
def test_the_canonical_form_says_the_same(number: int, suffix: str) -> None:
    parsed = Quantity.parse(f"{number}{suffix}")
    assert Quantity.parse(str(parsed)) == parsed
    assert str(Quantity.parse(str(parsed))) == str(parsed)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_adding_and_taking_away_is_nothing(left: int, right: int) -> None:
    one, other = Quantity.parse(f"{left}m"), Quantity.parse(f"{right}Ki")
    assert one + other - other == one
