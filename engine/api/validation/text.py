"""What is a name, a key, a port, an address: each rule gives the texts of what is wrong with a value, none if nothing.

Source: apimachinery pkg/util/validation. The rules are remembered, since the same few names come again and again.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from engine.api.label_syntax import label_key_errors, label_value_errors

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_UNDERSCORE = rf"{_LABEL_UNDERSCORE}(\.{_LABEL_UNDERSCORE})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_ENV_FILE_KEY = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_ENV_FILE_KEY_TEXT = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit"
)
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_PERCENT = "[0-9]+%"
_HEADER = "[-A-Za-z0-9]+"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"

_ALPHANUMERIC = "and must start and end with an alphanumeric character"
_LABEL_TEXT = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ALPHANUMERIC}"
_SUBDOMAIN_TEXT = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ALPHANUMERIC}"
)
_SUBDOMAIN_CASELESS_TEXT = f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', {_ALPHANUMERIC}"
_SUBDOMAIN_UNDERSCORE_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    f"{_ALPHANUMERIC}"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_CONFIG_KEY_TEXT = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_PERCENT_TEXT = "a valid percent string must be a numeric string followed by an ending '%'"
_HEADER_TEXT = "a valid HTTP header must consist of alphanumeric characters or '-'"
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_C_IDENTIFIER_TEXT = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_'"
)

_IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_PREFIX_LENGTH = re.compile("0{0,99}[0-9]{1,3}")
_CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_INTERFACE_TEXT = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253


BYTES, CHARACTERS = "bytes", "characters"


def too_long_text(limit: int, unit: str = CHARACTERS) -> str:
    """Bytes are counted either way: what tags name tells so (api/validate/content), the older rules do not."""
    return f"must be no more than {limit} {unit}"


def range_text(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def regex_text(message: str, pattern: str, *examples: str) -> str:
    """validation.RegexError."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {shown}regex used for validation is '{pattern}')"


@lru_cache(maxsize=8192)
def dns_label(value: str, unit: str = CHARACTERS) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > LABEL_LENGTH:
        found.append(too_long_text(LABEL_LENGTH, unit))
    if not re.fullmatch(_LABEL, value):
        if re.fullmatch(_SUBDOMAIN, value):
            found.append("must not contain dots")
        else:
            found.append(regex_text(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return tuple(found)


@lru_cache(maxsize=8192)
def dns_subdomain(value: str, unit: str = CHARACTERS) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        found.append(too_long_text(SUBDOMAIN_LENGTH, unit))
    if not re.fullmatch(_SUBDOMAIN, value):
        found.append(regex_text(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return tuple(found)


def dns_subdomain_caseless(value: str) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        found.append(too_long_text(SUBDOMAIN_LENGTH, BYTES))
    if not re.fullmatch(_SUBDOMAIN, value, re.IGNORECASE | re.ASCII):
        found.append(regex_text(_SUBDOMAIN_CASELESS_TEXT, _SUBDOMAIN, "Example.com"))
    return tuple(found)


def dns_subdomain_with_underscore(value: str) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        found.append(too_long_text(SUBDOMAIN_LENGTH))
    if not re.fullmatch(_SUBDOMAIN_UNDERSCORE, value):
        found.append(regex_text(_SUBDOMAIN_UNDERSCORE_TEXT, _SUBDOMAIN_UNDERSCORE, "example.com"))
    return tuple(found)


@lru_cache(maxsize=8192)
def dns_1035_label(value: str) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > LABEL_LENGTH:
        found.append(too_long_text(LABEL_LENGTH))
    if not re.fullmatch(_LABEL_1035, value):
        found.append(regex_text(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return tuple(found)


def wildcard_subdomain(value: str) -> tuple[str, ...]:
    found = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        found.append(too_long_text(SUBDOMAIN_LENGTH))
    if not re.fullmatch(_WILDCARD, value):
        found.append(regex_text(_WILDCARD_TEXT, _WILDCARD, "*.example.com"))
    return tuple(found)


@lru_cache(maxsize=4096)
def qualified_name(value: str) -> tuple[str, ...]:
    """A label key: an optional DNS prefix, a slash and a name."""
    return tuple(label_key_errors(value))


@lru_cache(maxsize=8192)
def label_value(value: str) -> tuple[str, ...]:
    return tuple(label_value_errors(value))


@lru_cache(maxsize=1024)
def path_segment(value: str) -> tuple[str, ...]:
    """A name that only has to fit into a URL path (apimachinery pkg/api/validation/path)."""
    if value in (".", ".."):
        return (f"may not be '{value}'",)
    return path_segment_prefix(value)


def path_segment_prefix(value: str) -> tuple[str, ...]:
    """What such a name may begin with: something follows, so that two dots are no harm."""
    return tuple(f"may not contain '{character}'" for character in ("/", "%") if character in value)


def domain_prefixed_path(value: str) -> tuple[tuple[str, str], ...]:
    """What is wrong with `acme.io/foo`: the part that is, and why (IsDomainPrefixedPath). An empty one is missing."""
    host, _, path = value.partition("/")
    if not host or not path:
        return ((value, 'must be a domain-prefixed path (such as "acme.io/foo")'),)
    found = [(host, wrong) for wrong in dns_subdomain(host)]
    if not re.fullmatch(_HTTP_PATH, path):
        found.append((path, regex_text("Invalid path", _HTTP_PATH)))
    return tuple(found)


def port_number(value: int) -> tuple[str, ...]:
    return () if 1 <= value <= 65535 else (range_text(1, 65535),)


@lru_cache(maxsize=1024)
def port_name(value: str) -> tuple[str, ...]:
    """An IANA service name: at most 15 of a-z, 0-9 and hyphen, with a letter."""
    found = []
    if len(value) > 15:
        found.append(too_long_text(15))
    if not re.fullmatch("[-a-z0-9]+", value):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        found.append("must contain at least one letter (a-z)")
    if "--" in value:
        found.append("must not contain consecutive hyphens")
    if value[:1] == "-" or value[-1:] == "-":
        found.append("must not begin or end with a hyphen")
    return tuple(found)


@lru_cache(maxsize=1024)
def env_name(value: str) -> tuple[str, ...]:
    """Any printable ASCII but the equals sign (relaxed since 1.32)."""
    if all(" " <= character <= "~" and character != "=" for character in value):
        return ()
    return (_ENV_TEXT,)


@lru_cache(maxsize=1024)
def env_file_key(value: str) -> tuple[str, ...]:
    """The stricter name that kubectl asks of the lines of an environment file (IsEnvVarName)."""
    found = []
    if not re.fullmatch(_ENV_FILE_KEY, value):
        found.append(regex_text(_ENV_FILE_KEY_TEXT, _ENV_FILE_KEY, "my.env-name", "MY_ENV.NAME", "MyEnvName1"))
    if value in (".", ".."):
        found.append(f"must not be '{value}'")
    elif value.startswith(".."):
        found.append("must not start with '..'")
    return tuple(found)


@lru_cache(maxsize=1024)
def config_key(value: str) -> tuple[str, ...]:
    """A key of a ConfigMap or Secret: it becomes a file's name."""
    found = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        found.append(too_long_text(SUBDOMAIN_LENGTH))
    if not re.fullmatch(_CONFIG_KEY, value):
        found.append(regex_text(_CONFIG_KEY_TEXT, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if value in (".", ".."):
        found.append(f"must not be '{value}'")
    elif value.startswith(".."):
        found.append("must not start with '..'")
    return tuple(found)


def http_header(value: str) -> tuple[str, ...]:
    return () if re.fullmatch(_HEADER, value) else (regex_text(_HEADER_TEXT, _HEADER, "X-Header-Name"),)


def percent(value: str) -> tuple[str, ...]:
    return () if re.fullmatch(_PERCENT, value) else (regex_text(_PERCENT_TEXT, _PERCENT, "1%", "93%"),)


def c_identifier(value: str) -> tuple[str, ...]:
    if re.fullmatch(_C_IDENTIFIER, value):
        return ()
    return (regex_text(_C_IDENTIFIER_TEXT, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName"),)


@lru_cache(maxsize=8192)
def ip_address(value: str) -> tuple[str, ...]:
    """As strict as upstream since 1.36: the text is the one that the address has (IsValidIP)."""
    found = _address(value)
    if found is None:
        return ("must not have leading 0s",) if _address(_without_zeros(value)) else (_IP_TEXT,)
    return ("must not be an IPv4-mapped IPv6 address",) if _is_mapped(found) else ()


def is_ip_address(value: str) -> bool:
    """However it is written (ParseIPSloppy)."""
    return _address(_without_zeros(value)) is not None


@lru_cache(maxsize=1024)
def cidr(value: str) -> tuple[str, ...]:
    """Without bits that the prefix leaves out (IsValidCIDR)."""
    address, slash, length = value.partition("/")
    plain = f"{_without_zeros(address)}/{length.lstrip('0') or '0'}" if length.isdecimal() else value
    try:
        interface = ipaddress.ip_interface(plain)
    except ValueError:
        return (_CIDR_TEXT,)
    if not slash or not length.isdecimal() or "%" in value:
        return (_CIDR_TEXT,)
    if plain != value:
        return ("must not have leading 0s in IP or prefix length",)
    if _is_mapped(interface.ip):
        return ("must not have an IPv4-mapped IPv6 address",)
    if interface.ip != interface.network.network_address:
        return ("must not have bits set beyond the prefix length",)
    return ()


def cidr_family(value: str) -> int | None:
    """4 or 6, however the network is written (ParseCIDRSloppy); none if it is no network."""
    if cidr(value) == (_CIDR_TEXT,):
        return None
    return 6 if ":" in value else 4


def interface_address(value: str) -> tuple[str, ...]:
    """An address with the length of its network's prefix, in its only form (IsValidInterfaceAddress)."""
    address, _, length = value.partition("/")
    found = _address(_without_zeros(address))
    if found is None or not _PREFIX_LENGTH.fullmatch(length) or int(length) > found.max_prefixlen:
        return (_INTERFACE_TEXT,)
    canonical = f"{found}/{int(length)}"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        canonical = f"{found.ipv4_mapped}/{int(length) - 96 if int(length) > 32 else int(length)}"
    return () if canonical == value else (f'must be in canonical form ("{canonical}")',)


def sloppy_address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address as Go read it before it minded leading zeros (netutils.ParseIPSloppy); None if it is none."""
    return _address(_without_zeros(value))


def address_family(value: str) -> int | None:
    """4 or 6, however the address is written; none if it is no address. An IPv4-mapped one is the IPv4 one to Go."""
    found = sloppy_address(value)
    return None if found is None else 4 if _is_mapped(found) else found.version


def _address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return None if "%" in value else ipaddress.ip_address(value)
    except ValueError:
        return None


def _is_mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def _without_zeros(value: str) -> str:
    """Of the numbers of an IPv4 address, one at the end of an IPv6 one included."""
    return ".".join(part if ":" in part else part.lstrip("0") or part[:1] for part in value.split("."))


def unmasked(value: str) -> str:
    """A generateName as if its suffix were there: what ends in a dash may (maskTrailingDash)."""
    if len(value) > 1 and value.endswith("-"):
        return f"{value[:-2]}a"
    return value
