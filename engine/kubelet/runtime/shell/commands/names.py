"""`nslookup` and `dig`: what the cluster's DNS answers (busybox nslookup.c; bind-tools' dig)."""

from __future__ import annotations

import re
from ipaddress import ip_address

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.http import addresses_of
from engine.kubelet.runtime.shell.process import DnsRecord

SERVER = "10.96.0.10"
_REWRITTEN = 29  # busybox' minor version since which nslookup asks the server itself
_TYPES = ("A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT")
_WORDS = {"CNAME": "canonical name", "PTR": "name", "SRV": "service", "TXT": "text"}


def _nslookup(call: Call) -> int:
    types = [match[1].upper() for word in call.argv[1:] if (match := re.fullmatch(r"-(?:query)?type=(\w+)", word))]
    if not call.operands:
        return call.fail("missing host")
    name = call.operands[0]
    if _is_old(call.machine.image):
        return _nslookup_before_1_29(call, name)
    reverse = _reverse(name)
    wanted = "PTR" if reverse and not types else types[-1] if types else "A"
    port = ":53" if call.machine.busybox else "#53"
    call.io.stdout(f"Server:\t\t{SERVER}\nAddress:\t{SERVER}{port}\n\n")
    rcode, records = _asked(call, reverse or name, wanted)
    text = "".join(map(_told, records))
    unfinished = bool(records) and wanted == "A" and records[-1].type == "CNAME"  # it leads out of the cluster
    if records:
        call.io.stdout(text if unfinished else f"{text}\n")
    if unfinished:
        name, rcode = records[-1].data.rstrip("."), "NXDOMAIN"
    if rcode != "NOERROR":
        call.io.stdout(f"** server can't find {reverse or name}: {rcode}\n\n")
        return 1
    if not records:
        call.io.stdout(f"*** Can't find {name}: No answer\n\n")
    return int(not records)


def _is_old(image: str) -> bool:
    """Whether it is a busybox before 1.29, whose nslookup was another: pages of kubernetes.io name 1.28 for it."""
    match = re.search(r"/busybox:1\.(\d+)(?![\d])", image)
    return match is not None and int(match[1]) < _REWRITTEN


def _nslookup_before_1_29(call: Call, name: str) -> int:
    """It asked the C library, which searches, and told the name of each address beside it."""
    call.io.stdout(f"Server:    {SERVER}\n{_numbered(call, [SERVER])}\n")
    addresses = [name] if _reverse(name) else addresses_of(call.machine, name)
    if not addresses:
        return call.fail(f"can't resolve '{name}'")
    call.io.stdout(f"Name:      {name}\n{_numbered(call, addresses)}")
    return 0


def _numbered(call: Call, addresses: list[str]) -> str:
    lines = []
    for number, address in enumerate(addresses, 1):
        _, records = _asked(call, _reverse(address), "PTR")
        called = f" {records[0].data.rstrip('.')}" if records else ""
        lines.append(f"Address {number}: {address}{called}\n")
    return "".join(lines)


def _asked(call: Call, name: str, type: str) -> tuple[str, list[DnsRecord]]:
    code, records = call.machine.network.query(name, type)
    return code, [DnsRecord(*record) for record in records]


def _told(record: DnsRecord) -> str:
    name, data = record.name.rstrip("."), record.data.rstrip(".")
    if record.type in ("A", "AAAA"):
        return f"Name:\t{name}\nAddress: {data}\n"
    return f"{name}\t{_WORDS.get(record.type, record.type)} = {data}\n"


def _reverse(text: str) -> str:
    try:
        return ip_address(text).reverse_pointer
    except ValueError:
        return ""


def _dig(call: Call) -> int:
    """`dig [+search] [+short] [@SERVER] [-x ADDRESS] NAME [TYPE]`; without +search a name is asked as it stands."""
    name, wanted, flags, words = "", "A", set[str](), list(call.argv[1:])
    while words:
        word = words.pop(0)
        if word.startswith("+"):
            flags.add(word[1:])
        elif word == "-x" and words:
            name, wanted = _reverse(words.pop(0)), "PTR"
        elif word == "-t" and words:
            wanted = words.pop(0).upper()
        elif word.upper() in _TYPES:
            wanted = word.upper()
        elif not word.startswith(("@", "-")):
            name = word
    rcode, records = _asked(call, name if "search" in flags else f"{name.rstrip('.')}.", wanted)
    if "short" in flags:
        call.io.stdout("".join(f"{record.data}\n" for record in records))
        return 0
    answers = "".join(f"{_full(record.name)}\t{record.ttl}\tIN\t{record.type}\t{record.data}\n" for record in records)
    if "noall" in flags:
        call.io.stdout(answers if "answer" in flags else "")
        return 0
    call.io.stdout(
        f"\n; <<>> DiG 9.20.0 <<>> {' '.join(call.argv[1:])}\n;; global options: +cmd\n;; Got answer:\n"
        f";; ->>HEADER<<- opcode: QUERY, status: {rcode}, id: {sum(map(ord, name)) % 65536}\n"
        f";; flags: qr aa rd; QUERY: 1, ANSWER: {len(records)}, AUTHORITY: 0, ADDITIONAL: 0\n\n"
        f";; QUESTION SECTION:\n;{_full(name)}\t\tIN\t{wanted}\n\n"
        + (f";; ANSWER SECTION:\n{answers}\n" if records else "")
        + f";; Query time: 0 msec\n;; SERVER: {SERVER}#53({SERVER}) (UDP)\n"
        f";; WHEN: {call.machine.now():%a %b %d %H:%M:%S} UTC {call.machine.now():%Y}\n\n"
    )
    return 0


def _full(name: str) -> str:
    return f"{name.rstrip('.')}."


COMMANDS: dict[str, Command] = {"nslookup": _nslookup, "dig": _dig}
