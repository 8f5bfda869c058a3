"""States of an episode as classes. Each has exactly the moves that are legal in it; the type of any other move is the text of its error."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from typing_extensions import Self

from ._rules import *
from ._stakes import _Made
from ._values import *

P = TypeVar("P", covariant=True)
Q = TypeVar("Q", covariant=True)
R = TypeVar("R")
V = TypeVar("V")
To = TypeVar("To", covariant=True)

class Unplanned:
    """Loop without a plan."""
class Unseen:
    """Loop without an observation of status OBSERVED."""
class Seen:
    """Loop with an observation of status OBSERVED."""

class Episode(_Made):
    """Episode in some state. Each move leads to a new value; the old one cannot be used again."""
    def alert(self, payload: Payload | None = None, /, **members: Json) -> Self: ...
    def halt(self, reason: str) -> SafeMode: ...
    def under(self, envelope: AnyEnvelope) -> Self: ...
    def into_any(self) -> AnyEpisode: ...
    def tasks(self) -> list[Task]: ...
    def live_tokens(self) -> list[LiveToken]: ...
    {claims}
    def moves(self) -> list[str]: ...
    def propose(self, proposal: str, *, allow: Sequence[str] = ...) -> AnyEpisode: ...
    def end(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    @property
    def correlation_id(self) -> str: ...
    @property
    def lines(self) -> list[str]: ...

{states}

@final
class Closed(_Made):
    """Episode that has closed."""
    @property
    def correlation_id(self) -> str: ...
    @property
    def lines(self) -> list[str]: ...

class _Closes(Protocol):
    def __call__(self, payload: Payload | None = None, /, **members: Json) -> tuple[Model, Proof]: ...

class _Believe:
    @overload
    def __get__(self, episode: Verify[Proven, Seen], owner: Any = None) -> _Closes: ...
    @overload
    def __get__(self, episode: Verify[Proven, Unseen], owner: Any = None) -> {Evidenced}: ...
    @overload
    def __get__(self, episode: Verify[Any, Any], owner: Any = None) -> {Succeeded}: ...

class _Checks(Protocol[Q]):
    # Not overloaded: with a lambda, three of four checkers would infer `Any`.
    def __call__(self, order: Order[Literal["READ"]], tool: Callable[[Task], Settled[R]]) -> Verify[R, Q]: ...

class _Check:
    @overload
    def __get__(self, episode: Verify[Unplanned, Q], owner: Any = None) -> {HasPlan}: ...
    @overload
    def __get__(self, episode: Verify[Any, Q], owner: Any = None) -> _Checks[Q]: ...

class _ChecksWith(Protocol[Q]):
    def __call__(self, order: Order[Literal["READ"]], tool: Callable[[Task], V]) -> tuple[Verify[Proven, Q], V]: ...

class _CheckWith:
    @overload
    def __get__(self, episode: Verify[Unplanned, Q], owner: Any = None) -> {HasPlan}: ...
    @overload
    def __get__(self, episode: Verify[Any, Q], owner: Any = None) -> _ChecksWith[Q]: ...

class _ChecksWithAsync(Protocol[Q]):
    async def __call__(self, order: Order[Literal["READ"]], tool: Callable[[Task], Awaitable[V]]) -> tuple[Verify[Proven, Q], V]: ...

class _CheckWithAsync:
    @overload
    def __get__(self, episode: Verify[Unplanned, Q], owner: Any = None) -> {HasPlan}: ...
    @overload
    def __get__(self, episode: Verify[Any, Q], owner: Any = None) -> _ChecksWithAsync[Q]: ...

AnyEpisode: TypeAlias = {any}

class ToolFailed(OmenError):
    """Tool that raised an exception. Its FAILURE is in the log."""
    @property
    def episode(self) -> AnyEpisode: ...

class CanObserve(Protocol[To]):
    """States that take an observation."""
    def observe(self, status: SureStatus, payload: Payload | None = None, /, **members: Json) -> To: ...

class CanBelieve(Protocol[To]):
    """States that take a belief update."""
    def believe(self, payload: Payload | None = None, /, **members: Json) -> To: ...
