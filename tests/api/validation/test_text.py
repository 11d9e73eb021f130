"""The rules for names and addresses, in apimachinery's words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.api.validation import text
from engine.api.validation.declared_formats import long_name, short_name
from engine.api.validation.problems import Problems

LONG = "a" * 254


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (text.dns_label, "must be no more than 63 characters"),
        (text.dns_1035_label, "must be no more than 63 characters"),
        (text.dns_subdomain, "must be no more than 253 characters"),
        (text.dns_subdomain_with_underscore, "must be no more than 253 characters"),
        (text.wildcard_subdomain, "must be no more than 253 characters"),
        (text.config_key, "must be no more than 253 characters"),
        (text.port_name, "must be no more than 15 characters"),
        (text.label_value, "must be no more than 63 bytes"),
        (text.qualified_name, "name part must be no more than 63 bytes"),
        (text.dns_subdomain_caseless, "must be no more than 253 bytes"),
    ],
)
def test_what_is_too_long_is_told_in_characters_but_for_labels(
    rule: Callable[[str], tuple[str, ...]], told: str
) -> None:
    assert rule(LONG)[0] == told


def test_what_tags_name_is_told_in_bytes() -> None:
    problems = Problems()
    short_name(LONG, "a", problems)
    long_name(LONG, "b", problems)
    assert [str(each).rpartition(": ")[2] for each in problems] == [
        "must be no more than 63 bytes",
        "must be no more than 253 bytes",
    ]


@pytest.mark.parametrize("network", ["::0/0", "0::/0", "2001:db8::/64", "::0fff:0:0/96"])
def test_zeros_before_the_groups_of_a_network_are_let_be(network: str) -> None:
    assert text.cidr(network) == ()


def test_zeros_before_its_numbers_are_not() -> None:
    assert text.cidr("010.0.0.0/8") == text.cidr("10.0.0.0/08") == ("must not have leading 0s in IP or prefix length",)
