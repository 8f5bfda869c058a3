"""The typed episode: a class for each state, so that an illegal move is a type error."""

# The classes of episodes use each other's private members.
# pyright: reportPrivateUsage=false
from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from omen import _core
from omen._core import LogFile as LogFile
from omen._moves import Closed as Closed
from omen._moves import Episode as Episode
from omen._states import *
from omen._states import Idle
from omen._values import *

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


class CanObserve:
    """States that take an observation."""

    def __class_getitem__(cls, parameters: object) -> type[CanObserve]:
        return cls


class CanBelieve(CanObserve):
    """States that take a belief update."""


class Unplanned:
    """Loop without a plan."""


class Unseen:
    """Loop without an observation of status OBSERVED."""


class Seen:
    """Loop with an observation of status OBSERVED."""


class Setup:
    """Setup of an episode: correlation id, envelope, log, ids, clock and drop policy."""

    def __init__(
        self,
        correlation_id: str,
        envelope: object,
        *,
        log: LogFile | None = None,
        ids: object = None,
        clock: Callable[[], object] | None = None,
        campaign_id: str | None = None,
        on_drop: str = "cancel",
        is_copy: bool = False,
    ) -> None:
        self.correlation_id, self.envelope = correlation_id, envelope
        self.log, self.ids, self.clock, self.campaign_id = log, ids, clock, campaign_id
        self.on_drop, self.is_copy = on_drop, is_copy

    def start(self) -> Idle:
        return Idle._of(_core.start(self.correlation_id, self.envelope, self), self.correlation_id)

    def resume(self, lines: Iterable[str] | None = None) -> Episode:
        known = None if lines is None else list(lines)
        handle = _core.resume(self.correlation_id, self.envelope, self, known)
        return Idle._of(handle, self.correlation_id)._to(handle.class_name(), handle)

    def run(self, agent: Callable[[Idle], T]) -> T:
        with self.start() as episode:
            return agent(episode)
