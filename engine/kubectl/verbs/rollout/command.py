"""The `rollout` group and its flags (kubectl pkg/cmd/rollout)."""

from __future__ import annotations

from engine.kubectl.command import Command
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, SELECTOR, field_manager, filename
from engine.kubectl.verbs.rollout import change, history, status, undo

_MANAGER = field_manager("kubectl-rollout")
COMMAND = Command(
    name="rollout",
    short="Manage the rollout of a resource",
    usage="SUBCOMMAND",
    help_on_stdout=True,
    children=(
        Command(
            name="history",
            short="View rollout history",
            usage="(TYPE NAME | TYPE/NAME) [flags]",
            run=history.run,
            flags=(
                *filename(),
                *PRINT,
                *SELECTOR,
                Flag("revision", Type.INT, help="Show this revision's Pod template."),
            ),
        ),
        Command(
            name="pause",
            short="Mark the provided resource as paused",
            usage="RESOURCE",
            run=change.pause,
            flags=(*filename(), *PRINT, *SELECTOR, *_MANAGER),
        ),
        Command(
            name="restart",
            short="Restart a resource",
            usage="RESOURCE",
            run=change.restart,
            flags=(*filename(), *PRINT, *SELECTOR, *_MANAGER),
        ),
        Command(
            name="resume",
            short="Resume a paused resource",
            usage="RESOURCE",
            run=change.resume,
            flags=(*filename(), *PRINT, *SELECTOR, *_MANAGER),
        ),
        Command(
            name="status",
            short="Show the status of the rollout",
            usage="(TYPE NAME | TYPE/NAME) [flags]",
            run=status.run,
            interrupted=1,
            flags=(
                *filename(),
                *SELECTOR,
                Flag("revision", Type.INT, help="Only while this revision rolls out."),
                Flag("timeout", Type.DURATION, help="How long to wait; 0 for ever."),
                Flag("watch", Type.BOOL, default=True, short="w", help="Wait until the rollout is done."),
            ),
        ),
        Command(
            name="undo",
            short="Undo a previous rollout",
            usage="(TYPE NAME | TYPE/NAME) [flags]",
            run=undo.run,
            flags=(
                *filename(),
                *PRINT,
                *SELECTOR,
                *DRY_RUN,
                Flag("to-revision", Type.INT, help="The revision to go back to; 0 is the last one."),
            ),
        ),
    ),
)
