"""The screen in a real terminal: what the terminal, the shell and a broken widget do to it, and what is left behind."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from pathlib import Path

from tests.engine_process import Home
from tests.ktui.terminal import CURSOR_IS_BACK, LEFT_THE_SECOND_SCREEN, SCREEN, terminal

AWAY = "cannot be reached"
LANE = "client"  # of Flow: the screen is there, and takes keys
# A table whose every line raises, in a process that is otherwise the real one.
BROKEN = (
    sys.executable,
    "-c",
    "import sys\n"
    "from ktui.widgets.grid import Grid\n"
    "def broken(self, y): raise ZeroDivisionError('of this line')\n"
    "Grid.render_line = broken\n"
    "sys.argv = ['ktui', '--attach', 'https://127.0.0.1:1', '--screen', 'objects']\n"
    "from ktui.cli import main\n"
    "main()",
)


def test_ctrl_z_goes_to_the_shell_and_fg_comes_back(tmp_path: Path) -> None:
    with terminal(tmp_path, ("bash", "--norc", "--noprofile", "-i")) as shown:
        shown.until("$ ")
        shown.press(shlex.join(SCREEN) + "\n")
        shown.until(AWAY, LANE)
        shown.forget()
        shown.press("\x1a")
        shown.until(LEFT_THE_SECOND_SCREEN, "Stopped")
        shown.forget()
        shown.press("echo $((6 * 7))\n")
        shown.until("42")
        shown.press("fg\n")
        shown.until("\x1b[?1049h", AWAY)
        shown.forget()
        shown.press("q")
        shown.until(LEFT_THE_SECOND_SCREEN, "$ ")  # what is typed before the prompt may still go to the screen
        shown.press("exit\n")
        assert shown.ended() == 0


def test_ctrl_z_stops_what_started_ktui_too(tmp_path: Path) -> None:
    with terminal(tmp_path, ("bash", "--norc", "--noprofile", "-i")) as shown:
        shown.until("$ ")
        shown.press(f"sh -c {shlex.quote(shlex.join(SCREEN) + '; exit 3')}\n")  # waits for it, as make does
        shown.until(AWAY, LANE)
        shown.forget()
        shown.press("\x1a")
        shown.until(LEFT_THE_SECOND_SCREEN, "Stopped")
        shown.forget()
        shown.press("fg\n")
        shown.until(AWAY, LANE)


def test_ctrl_z_without_a_shell_says_so(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until(AWAY, LANE)
        shown.press("\x1a")
        shown.until("no shell started ktui")  # the rest may stand in another line


def test_a_terminal_that_goes_takes_the_screen_with_it(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until(AWAY, LANE)
        shown.press(":theme none\r")
        shown.until("there is no theme")
        shown.hang_up()
        assert shown.ended() == -signal.SIGHUP
    assert (tmp_path / ".state" / "history").read_text() == "theme none\n"


def test_a_terminal_that_goes_is_missed_where_only_a_parent_that_waits_is_told(tmp_path: Path) -> None:
    """As `make run` is: it leads the session, and waits for its child."""
    script = f"trap 'told=yes' HUP; {shlex.join(SCREEN)}; echo $? $told > {tmp_path}/ended"
    with terminal(tmp_path, ("bash", "--norc", "-c", script)) as shown:
        shown.until(AWAY, LANE)
        shown.hang_up()
        shown.ended()
    assert (tmp_path / "ended").read_text() == f"{128 + signal.SIGHUP} yes\n"


def test_a_screen_that_is_told_to_end_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until(AWAY, LANE)
        shown.forget()
        os.kill(shown.pid, signal.SIGTERM)
        assert shown.ended() == 0
        assert LEFT_THE_SECOND_SCREEN in shown.seen
        assert CURSOR_IS_BACK in shown.seen


def test_a_widget_that_cannot_be_drawn_says_so_and_the_rest_goes_on(tmp_path: Path) -> None:
    with terminal(tmp_path, BROKEN) as shown:
        shown.until("ktui erred", "ZeroDivisionError: of this line", "this cannot be drawn: ZeroDivisionError", AWAY)
        shown.forget()
        shown.press("1")
        shown.until("asking the engine")
        shown.press("?")
        shown.until("Esc closes")
        shown.press("\x03")
        assert shown.ended() == 0
        assert "Traceback" not in shown.seen
        assert shown.seen.rindex(LEFT_THE_SECOND_SCREEN) > shown.seen.rindex("Esc closes")


def test_a_slow_terminal_is_not_sent_the_past(tmp_path: Path) -> None:
    """A kilobyte a second is taken while forty whole pictures are to be drawn, of some thirty thousand bytes each."""
    with terminal(tmp_path, size=(200, 60)) as shown:
        shown.until(AWAY, LANE)
        for turn in range(40):
            shown.resize(200 - turn % 2, 60)
            shown.press("12"[turn % 2])
            shown.read(50)
            time.sleep(0.05)
        taken = tmp_path / "all-keys-taken.svg"
        shown.press(f":export svg {taken}\r")
        while not taken.exists():
            shown.read(50)
            time.sleep(0.05)
        shown.press("\x03")
        shown.forget()
        assert shown.ended() == 0
        assert len(shown.seen) < 400_000


def test_a_picture_changes_no_colour_of_a_terminal_with_few(tmp_path: Path) -> None:
    """Rich's styles keep the codes by which they were first shown, be it in a picture."""
    with terminal(tmp_path, colours="") as shown:
        shown.until(AWAY, LANE)
        for number, key in enumerate("12345678"):
            picture = tmp_path / f"{number}.svg"
            shown.press(f"{key}:export svg {picture}\r")
            while not picture.exists():
                shown.read(50)
        shown.resize(150, 40)
        shown.press("1234567?")
        shown.until("Esc closes")
        shown.press("\x03")
        assert shown.ended() == 0
        assert "48;5;" in shown.seen
        assert "48;2;" not in shown.seen
        assert "38;2;" not in shown.seen


def test_an_engine_that_was_killed_starts_again_with_its_own_options(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.ktui("up", "--detach", "--port=0", "--nodes=2", check=True)
    try:
        with terminal(tmp_path, (sys.executable, "-m", "ktui")) as shown:
            shown.until("2/2")
            before = home.folder().find_running()
            assert before is not None
            os.kill(before.pid, signal.SIGKILL)
            shown.until("the engine has ended")
            shown.press(":up\r")
            shown.forget()
            shown.until("2/2")
            after = home.folder().find_running()
            assert after is not None
            assert after.pid != before.pid
            assert after.asked == before.asked
            shown.press("\x03")
            assert shown.ended() == 0
            assert "cluster default goes on: ktui shows it again, ktui down ends it" in shown.seen
        with terminal(tmp_path, (sys.executable, "-m", "ktui")) as shown:
            shown.until("2/2")
            shown.press("q")
            shown.until("Keep it running")
            shown.press("s")
            assert shown.ended() == 0
            assert "goes on" not in shown.seen
    finally:
        home.ktui("down")
