"""Keys that come faster than they are handled: each waits until the one before has done what it does.

Textual hands a key to what has the focus as soon as it is read, and the focus moves only when a key has been handled.
Of `:get pods` typed at once, pasted without brackets, or sent over a slow line, the letters would go to the screen
below the command line, as its keys. Here a marker goes the way of each key behind it; where it arrives, the key has.
What has come meanwhile may turn out to be a pasted text: see `ktui/pasted.py`.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from textual import events
from textual.message import Message
from textual.widgets import Input, TextArea
from textual.worker import WorkerState

from ktui.pace import Paced
from ktui.pasted import burst, is_pasted

LAPS = 2  # a key may set off a message that goes the same way, such as what was typed after `:`
LOOKS = 50  # for a key whose widget has gone with it: not a time, which a busy machine may spend on one key
LOOK_SECONDS = 0.01
PASTE_SECONDS = 0.1  # for the next piece of a long paste


class Handled(Message, bubble=True):
    """Comes behind a key, from widget to widget."""

    def __init__(self, number: int, laps: int) -> None:
        super().__init__()
        self.number = number
        self.laps = laps


def _as_meant(event: events.Key | events.Paste) -> events.Key | events.Paste:
    """A line feed is Enter: a terminal makes one of it until the app has told it to change nothing."""
    if not isinstance(event, events.Key) or event.key != "ctrl+j":
        return event
    enter = events.Key("enter", "\r")
    enter.time = event.time
    return enter


class TypedAhead(Paced):
    """The part of the app that takes keys one by one; a screen that is on its way is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead: deque[events.Key | events.Paste] = deque()
        self._key_number = 0
        self._is_key_out = False
        self._has_arrived = False
        self._looks_left = 0
        self._pasted_at = 0.0  # the time of the last key of a paste that was refused

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        event = _as_meant(event)
        if self._is_key_out:
            self._ahead.append(event)
        else:
            self._ahead.append(event)
            await self._hand_out_next()

    async def _hand_out_next(self) -> None:
        while self._ahead and not self._is_key_out:
            if not self._refuse_paste():
                await self._hand_out(self._ahead.popleft())

    def _refuse_paste(self) -> bool:
        """Drop a text that nothing takes, and say so, once."""
        if isinstance(self.focused, Input | TextArea):
            return False
        keys = list(islice(self._ahead, burst(self._ahead)))
        is_its_rest = bool(keys) and keys[0].time - self._pasted_at < PASTE_SECONDS
        if not is_its_rest and not is_pasted(keys):
            return False
        for key in keys:
            self._ahead.remove(key)
        self._pasted_at = keys[-1].time
        if not is_its_rest:
            self.notify("a pasted text: nothing here takes it · : and e open what does", severity="warning")
        return True

    async def _hand_out(self, event: events.Key | events.Paste) -> None:
        if self._is_letter(event):  # stays where it is, in its order
            await super().on_event(event)
            return
        self._is_key_out, self._has_arrived, self._looks_left = True, False, LOOKS
        self._key_number += 1
        self.haste.come()
        number = self._key_number
        await super().on_event(event)
        self._mark(number, LAPS)
        self._look_again(number)

    def _is_letter(self, event: events.Key | events.Paste) -> bool:
        is_text = isinstance(event, events.Paste) or event.is_printable
        return is_text and isinstance(self.focused, Input | TextArea)

    def _mark(self, number: int, laps: int) -> None:
        if not self.screen_stack:
            return  # the screens are gone, the app is about to be
        (self.focused or self.screen).post_message(Handled(number, laps))

    def on_handled(self, message: Handled) -> None:
        if message.laps > 1:
            self._mark(message.number, message.laps - 1)
        elif message.number == self._key_number:
            self._has_arrived = True
            self.call_later(self._go_on, message.number)

    def _look_again(self, number: int) -> None:
        self.set_timer(LOOK_SECONDS, lambda: self.call_later(self._look, number))

    async def _look(self, number: int) -> None:
        if self._is_out(number):
            self._looks_left -= 1
            await self._go_on(number)
            self._look_again(number)

    def _is_out(self, number: int) -> bool:
        return self._is_key_out and number == self._key_number

    async def _go_on(self, number: int) -> None:
        """The next key, unless one of them has gone on by itself meanwhile."""
        if not self._is_out(number):
            return
        if self._looks_left > 0 and (self._is_on_its_way() or not self._has_arrived):
            return
        self._is_key_out = False
        self.haste.handled()
        self.screen.check_idle()
        await self._hand_out_next()

    def _is_on_its_way(self) -> bool:
        """Whether a screen is about to be shown: the next key is for it."""
        going = (WorkerState.PENDING, WorkerState.RUNNING)
        return any(worker.group == "open" and worker.state in going for worker in self.workers)
