"""The typed episode: a class for each state, so that an illegal move is a type error."""

from collections.abc import Callable, Iterable
from datetime import datetime
from os import PathLike
from typing import Literal, Protocol, TypeAlias, TypeVar, final

from ._states import *
from ._values import *

T = TypeVar("T")
OnDrop: TypeAlias = Literal["cancel", "halt", "escalate", "leave"]

class IdSource(Protocol):
    """Source of ids. An id must not repeat within an episode."""
    def packet_id(self) -> str: ...
    def task_id(self) -> str: ...
    def token_id(self) -> str: ...

@final
class LogFile:
    """Log in a file with one writer: the file is locked while this value exists."""
    def __init__(self, path: str | PathLike[str], *, synced: bool = False) -> None: ...

class Setup:
    """Setup of an episode: correlation id, envelope, log, ids, clock and drop policy."""
    def __init__(
        self, correlation_id: str, envelope: AnyEnvelope, *, log: LogFile | None = None, ids: IdSource | None = None,
        clock: Callable[[], str | datetime] | None = None, campaign_id: str | None = None, on_drop: OnDrop = "cancel", is_copy: bool = False,
    ) -> None: ...
    def start(self) -> Idle: ...
    def resume(self, lines: Iterable[str] | None = None) -> AnyEpisode: ...
    def run(self, agent: Callable[[Idle], T]) -> T: ...
