"""`certificate approve` and `certificate deny`.

Source of the behaviour: kubectl pkg/cmd/certificates/certificates.go.
"""

from __future__ import annotations

from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.types import Object, copy_object
from engine.kubectl.command import Command, Found, Run, help_text
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

ATTEMPTS = 10
GROUP, KIND = "certificates.k8s.io", "CertificateSigningRequest"
OPPOSITE = {"Approved": "Denied", "Denied": "Approved"}


def _decision(word: str, type_: str) -> Run:
    async def run(session: Session) -> None:
        if not session.arguments and not session.from_files:
            raise CommandError("one or more CSRs must be specified as <name> or -f <filename>")
        selection = replace(Selection.of_flags(session, arguments=[]), default_namespace=False)
        if session.arguments:
            selection.arguments = [
                word if "/" in word else f"certificatesigningrequests/{word}" for word in session.arguments
            ]
        printer = result_printer(session, "approved" if type_ == "Approved" else "denied", typed=True)

        async def decide(info: Info) -> None:
            if (info.resource.gvr.group, info.resource.kind) != (GROUP, KIND):
                raise CommandError(f"can only handle {KIND}.{GROUP} objects, got {info.resource.kind}")
            await _decide(session, info, word=word, type_=type_)
            printer(info.object, info.resource)

        await visit(session, selection, decide)

    return run


async def _decide(session: Session, info: Info, *, word: str, type_: str) -> None:
    for attempt in range(ATTEMPTS):
        changed = _changed(session, info, word=word, type_=type_)
        if changed is None:
            return
        path = session.path_of(info.resource, "", info.name, "approval")
        try:
            info.refresh(await session.request("PUT", path, body=changed))
        except ApiError as error:
            if error.reason != "Conflict" or attempt == ATTEMPTS - 1:
                raise
            info.refresh(await session.get(info.resource, info.name))
        else:
            return


def _changed(session: Session, info: Info, *, word: str, type_: str) -> Object | None:
    """The request with the decision on it; None if it is there already. Raises CommandError."""
    obj = copy_object(info.object)
    conditions = obj.setdefault("status", {}).setdefault("conditions", [])
    types = {condition["type"] for condition in conditions}
    if OPPOSITE[type_] in types:
        raise CommandError(f'certificate signing request "{info.name}" is already {OPPOSITE[type_]}')
    if type_ in types and not session.flags.on("force"):
        return None
    now = session.clock.timestamp()
    if type_ not in types:
        conditions.append(
            {
                "type": type_,
                "status": "True",
                "reason": f"Kubectl{word.capitalize()}",
                "message": f"This CSR was {'approved' if type_ == 'Approved' else 'denied'} by kubectl certificate "
                f"{word}.",
                "lastUpdateTime": now,
            }
        )
    else:
        next(c for c in conditions if c["type"] == type_)["lastUpdateTime"] = now
    return obj


def _command(word: str, type_: str) -> Command:
    return Command(
        name=word,
        short=f"{word.capitalize()} a certificate signing request",
        usage="(-f FILENAME | NAME)",
        run=_decision(word, type_),
        flags=(*filename(), *PRINT, Flag("force", Type.BOOL, help="Decide again on one that is decided.")),
        examples=(f"certificate {word} csr-sqgzp",),
    )


async def show_help(session: Session) -> None:
    """Unlike other groups, this one is content with being shown."""
    session.out(help_text(Found(COMMAND, session.path, []), program=session.program))


COMMAND = Command(
    name="certificate",
    run=show_help,
    connects=False,
    short="Modify certificate resources",
    usage="SUBCOMMAND",
    children=(_command("approve", "Approved"), _command("deny", "Denied")),
)
