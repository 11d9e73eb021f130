"""`options` and `completion`: what the command line can do, for people and for shells.

Source of the behaviour: kubectl pkg/cmd/options and pkg/cmd/completion.
"""

from __future__ import annotations

from engine.kubectl.command import Command, flag_help
from engine.kubectl.errors import UsageError
from engine.kubectl.flagsets import GLOBAL
from engine.kubectl.session import Session

BASH = """# completion of {program} for bash
_{program}_words() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{verbs}" -- "$current"))
    elif [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$({program} api-resources --cached -o name 2>/dev/null)" -- "$current"))
    elif [ "$COMP_CWORD" -eq 3 ]; then
        COMPREPLY=($(compgen -W "$({program} get "${{COMP_WORDS[2]}}" -o \\
            jsonpath='{{.items[*].metadata.name}}' 2>/dev/null)" -- "$current"))
    fi
}}
complete -o default -F _{program}_words {program}
"""


async def options(session: Session) -> None:
    shown = [flag_help(flag) for flag in sorted(GLOBAL, key=lambda flag: flag.name) if flag.name != "help"]
    session.out("The following options can be passed to any command:\n\n" + "\n\n".join(shown) + "\n")


async def completion(session: Session) -> None:
    if not session.arguments:
        raise UsageError("Shell not specified.")
    if len(session.arguments) > 1:
        raise UsageError("Too many arguments. Expected only the shell type.")
    if session.arguments[0] not in ("bash", "zsh"):
        raise UsageError(f'Unsupported shell type "{session.arguments[0]}".')
    from engine.kubectl.tree import ROOT

    script = BASH.format(program=session.program, verbs=" ".join(command.name for command in ROOT.children))
    if session.arguments[0] == "zsh":
        script = f"#compdef {session.program}\nautoload -U +X bashcompinit && bashcompinit\n{script}"
    session.stdout.write(script)


async def alpha(session: Session) -> None:
    session.err("No alpha commands are available in this version of kubectl")


ALPHA = Command(name="alpha", short="Commands for features in alpha", run=alpha, connects=False, hidden=True)
OPTIONS = Command(
    name="options", short="Print the list of flags inherited by all commands", run=options, connects=False, hidden=True
)
COMPLETION = Command(
    name="completion",
    short="Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
    usage="SHELL",
    run=completion,
)
