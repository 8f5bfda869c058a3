"""Moves of an episode: each passes its arguments to the core, which makes the move or refuses it."""

# The classes of episodes use each other's private members.
# pyright: reportPrivateUsage=false
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from omen import _core
from omen._values import Alert, Proof, StateUsed, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence

    from omen._values import ActOrder, OrderUnder, RulingUnder, Scope
    from typing_extensions import Self

    Settles = Callable[[_core.Task], _core.Settled]
    Outcome = tuple[_core.Settled, Exception | None, Any]

V = TypeVar("V")

_classes: dict[str, type[Episode]] = {}

# Larger numbers of open directives are counted at run time.
_COUNTED = 8


def know(*classes: type[Episode]) -> None:
    """Registers the classes of the states, by their names."""
    _classes.update({state.__name__: state for state in classes})


def _counted(permits: list[_core.Permit]) -> Sequence[_core.Permit]:
    return tuple(permits) if len(permits) <= _COUNTED else permits


def _payload(payload: object, members: dict[str, object]) -> object:
    if payload is not None and members:
        raise TypeError("pass a payload or its members, not both")
    return members if payload is None else payload


class Episode:
    """Episode in some state. Each move leads to a new value; the old one cannot be used again."""

    __slots__ = ("__weakref__", "_handle", "correlation_id")
    _state = "Episode"
    _open: int | None = None
    _handle: _core.Handle
    correlation_id: str

    def __init__(self) -> None:
        raise TypeError("an episode begins with `Setup(..).start()`")

    def __class_getitem__(cls, parameters: object) -> type[Self]:
        # Type parameters have no effect at run time.
        return cls

    @classmethod
    def _of(cls, handle: _core.Handle, correlation_id: str) -> Self:
        episode = object.__new__(cls)
        episode._handle, episode.correlation_id = handle, correlation_id
        return episode

    def _to(self, name: str, handle: _core.Handle) -> Episode:
        """Returns the episode in the state `name`, or in this one with the same number of open directives."""
        state = type(self) if name == self._state else _classes[name]
        return state._of(handle, self.correlation_id)

    def _send(self, name: str, to: str, packet_type: str, payload: object, status: str | None = None) -> Episode:
        return self._to(to, self._handle.send(self._state, name, packet_type, payload, status))

    def __getattr__(self, name: str) -> Any:
        # Not an `AttributeError`, or `getattr(episode, "act", None)` would hide it.
        error = _core.illegal_move(self._state, name)
        if error is not None:
            raise error
        raise AttributeError(f"`{type(self).__name__}` has no attribute `{name}`")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.correlation_id}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("an episode has no truth value; compare with `is None`")

    def __copy__(self) -> NoReturn:
        raise TypeError("an episode cannot be copied: each state is used once")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an episode cannot be pickled; resume it from its log")

    def alert(self, payload: object = None, /, **members: object) -> Episode:
        """Sends an alert of severity INFO or WARNING, which changes no state."""
        payload = _payload(payload, members)
        if isinstance(payload, Alert) and payload._order is not None:
            revoked = payload._members.get("revoked_token_ids", [])
            return self._to(self._state, self._handle.budget_override(self._state, payload._order, revoked))
        return self._send("alert", self._state, "IntegrityAlertPacket", payload)

    def halt(self, reason: str) -> Episode:
        """Halts the episode, which is legal in every state."""
        return self._to("SafeMode", self._handle.halt(self._state, reason))

    def under(self, envelope: object) -> Episode:
        """Changes the envelope of future packets. Nothing is sent."""
        return self._to(self._state, self._handle.under(self._state, envelope))

    def into_any(self) -> Episode:
        """Returns the episode in the state that its log has reached."""
        state = self._handle.class_name()
        return self._to(state, self._handle.as_is(self._state, "into_any"))

    def propose(self, proposal: str, *, allow: Sequence[str] = ()) -> Episode:
        """Makes the move that a model proposes as JSON; `allow` lists what it may do beyond the moves of an agent."""
        handle = self._handle.propose(self._state, proposal, list(allow))
        return self._to(handle.class_name(), handle)

    def tasks(self) -> list[_core.Task]:
        """Returns the open tasks, in the order in which they were sent."""
        return self._handle.tasks()

    def live_tokens(self) -> list[_core.LiveToken]:
        """Returns the tokens that a directive can use now, in the order in which they were issued."""
        return self._handle.live_tokens()

    def claim(self, token_id: str, scope: type[Scope[Any, Any]], *, uses: int = 1) -> Sequence[_core.Permit]:
        """Returns permits for remaining uses of a token, for a resumed episode."""
        return _counted(self._handle.claim(self._state, "claim", token_id, (*scope._lists(), uses)))

    def claim_any(self, scope: type[Scope[Any, Any]], *, uses: int = 1) -> Sequence[_core.Permit]:
        """Returns permits for uses of the first live token that covers the scope and has these uses left."""
        return _counted(self._handle.claim(self._state, "claim_any", None, (*scope._lists(), uses)))

    def moves(self) -> list[str]:
        """Returns the events that may follow."""
        return self._handle.events()

    @property
    def lines(self) -> list[str]:
        """Returns the lines written so far, if the log is in memory."""
        return self._handle.lines()

    def end(self) -> None:
        """Ends the episode according to its drop policy."""
        self._handle.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


class Closed:
    """Episode that has closed."""

    __slots__ = ("correlation_id", "lines")

    def __init__(self, correlation_id: str, lines: list[str]) -> None:
        self.correlation_id, self.lines = correlation_id, lines


def observe(to: str) -> Callable[..., Episode]:
    def observe(self: Episode, status: str, payload: object = None, /, **members: object) -> Episode:
        """Records an observation; `status` is its epistemic status."""
        return self._send("observe", to, "ObservationPacket", _payload(payload, members), status)

    return observe


def answered(to: str) -> Callable[..., Episode]:
    def answered(self: Episode, payload: object = None, /, **members: object) -> Episode:
        """Records the answer to an escalation, of a human or by an order of layer 1. A decision comes next."""
        payload = _payload(payload, members)
        if isinstance(payload, _core.Layer1Order):
            return self._to(to, self._handle.answered(self._state, payload))
        return self._send("answered", to, "ObservationPacket", payload)

    return answered


def _believes(name: str, to: str) -> Callable[..., Episode | tuple[Episode, Proof]]:
    def believe(self: Episode, payload: object = None, /, **members: object) -> Episode | tuple[Episode, Proof]:
        """Updates the beliefs. In a verification loop, this also closes the loop, and returns its proof."""
        payload = _payload(payload, members)
        if self._state != "Verify":
            return self._send(name, to, "BeliefUpdatePacket", payload)
        handle, proof = self._handle.complete(self._state, name, payload)
        return self._to(to, handle), Proof(proof)

    return believe


def believe(to: str) -> Callable[..., Episode | tuple[Episode, Proof]]:
    return _believes("believe", to)


def complete(to: str) -> Callable[..., Episode | tuple[Episode, Proof]]:
    return _believes("complete", to)


def review(to: str) -> Callable[..., Episode | tuple[Episode, Proof]]:
    return _believes("review", to)


def remodel(to: str) -> Callable[..., Episode | tuple[Episode, Proof]]:
    return _believes("remodel", to)


def _decides(name: str, outcome: str, to: str) -> Callable[..., Episode]:
    def decide(self: Episode, decision: OrderUnder | RulingUnder[Any], /) -> Episode:
        """Makes the decision, in the envelope that was passed to `under`."""
        handle = self._handle.decide(self._state, name, outcome, decision._core, decision._envelope)
        return self._to(to, handle)

    return decide


def act(to: str) -> Callable[..., Episode]:
    return _decides("act", "ACT", to)


def to_escalate(to: str) -> Callable[..., Episode]:
    return _decides("to_escalate", "ESCALATE", to)


def defer(to: str) -> Callable[..., Episode]:
    return _decides("defer", "DEFER", to)


def cancel(to: str) -> Callable[..., Episode]:
    return _decides("cancel", "CANCEL", to)


def verify_first(to: str) -> Callable[..., Episode]:
    return _decides("verify_first", "VERIFY_FIRST", to)


def decide(_to: str) -> Callable[..., Episode]:
    def decide(self: Episode, outcome: str, order: ActOrder[Any], envelope: object) -> Episode:
        """Makes a decision whose outcome is known only at run time, in any envelope."""
        handle = self._handle.decide(self._state, "decide", outcome, order._core, envelope)
        return self._to(handle.class_name(), handle)

    return decide


def verify(to: str) -> Callable[..., Episode]:
    def verify(self: Episode, plan: object) -> Episode:
        """Sends a plan: the assumptions that the loop must verify."""
        return self._to(to, self._handle.verify(self._state, plan))

    return verify


def authorize(to: str) -> Callable[..., tuple[Episode, Sequence[_core.Permit]]]:
    def authorize(
        self: Episode,
        scope: type[Scope[Any, Any]],
        *,
        ttl_seconds: int,
        rationale: str,
        constraints: object = None,
        uses: int = 1,
    ) -> tuple[Episode, Sequence[_core.Permit]]:
        """Issues a token for a scope, and returns a permit for each of its uses."""
        lists = (*scope._lists(), uses)
        handle, permits = self._handle.authorize(self._state, "authorize", lists, ttl_seconds, rationale, constraints)
        return self._to(to, handle), _counted(permits)

    return authorize


def authorize_named(to: str) -> Callable[..., tuple[Episode, list[_core.Permit]]]:
    def authorize_named(
        self: Episode,
        tools: Iterable[str],
        operations: Iterable[str],
        *,
        uses: int,
        ttl_seconds: int,
        rationale: str,
        constraints: object = None,
    ) -> tuple[Episode, list[_core.Permit]]:
        """Issues a token for tools and operations that are named at run time."""
        lists = (list(tools), list(operations), uses)
        handle, permits = self._handle.authorize(
            self._state, "authorize_named", lists, ttl_seconds, rationale, constraints
        )
        return self._to(to, handle), permits

    return authorize_named


def execute(_to: str) -> Callable[..., tuple[Episode, tuple[_core.Task, ...]]]:
    def execute(self: Episode, *orders: _core.Directive) -> tuple[Episode, tuple[_core.Task, ...]]:
        """Sends directives, all or none, and returns a task for each."""
        handle, tasks = self._handle.execute(self._state, "execute", list(orders))
        within = "Verify" if self._state == "Verify" else "Execute"
        is_counted = len(orders) <= _COUNTED and self._state not in ("OpenExecute", "ManyExecute")
        return self._to(f"Open{within}{len(orders)}" if is_counted else f"Many{within}", handle), tuple(tasks)

    return execute


def settle(to: str) -> Callable[..., Episode]:
    def settle(self: Episode, *results: Any) -> Episode:
        """Records results: of all open directives, or of some if they are counted at run time."""
        if self._open is None:
            (some,) = results
            return self._to(self._state, self._handle.settle(self._state, "settle", list(some), False))
        return self._to(to, self._handle.settle(self._state, "settle", list(results), True))

    return settle


def many(to: str) -> Callable[..., Episode]:
    def many(self: Episode) -> Episode:
        """Counts open directives at run time, so that they can be settled separately."""
        return self._to(to, self._handle.as_is(self._state, "many"))

    return many


def all_settled(to: str) -> Callable[..., Episode]:
    def all_settled(self: Episode) -> Episode:
        """Returns to the state without open directives, after each was settled."""
        return self._to(to, self._handle.all_settled(self._state))

    return all_settled


def escalate(to: str) -> Callable[..., Episode]:
    def escalate(self: Episode, payload: object = None, /, **members: object) -> Episode:
        """Asks a human to choose between options."""
        return self._send("escalate", to, "EscalationPacket", _payload(payload, members))

    return escalate


def clear(to: str) -> Callable[..., Episode]:
    def clear(self: Episode, order: _core.Layer1Order) -> Episode:
        """Ends safe mode by an order of layer 1."""
        return self._to(to, self._handle.clear(self._state, order))

    return clear


def close(_to: str) -> Callable[..., Closed]:
    def close(self: Episode) -> Closed:
        """Closes the episode."""
        return Closed(self.correlation_id, self._handle.close(self._state))

    return close


def check(_to: str) -> Callable[..., Episode]:
    def check(self: Episode, order: _core.Directive, tool: Settles) -> Episode:
        """Sends a directive that reads, calls `tool` with its task, and records the result that `tool` returns."""
        episode, (task,) = _execute(self, order)
        try:
            result = tool(task)
        except BaseException as error:
            _give_up(episode, task, error)
        settled: Episode = episode.settle(result)
        return settled

    return check


def check_with(_to: str) -> Callable[..., tuple[Episode, Any]]:
    return execute_with("Verify")


def check_with_async(_to: str) -> Callable[..., Coroutine[Any, Any, tuple[Episode, Any]]]:
    return execute_with_async("Verify")


def execute_with(_to: str) -> Callable[..., tuple[Episode, Any]]:
    def execute_with(self: Episode, order: _core.Directive, tool: Callable[[_core.Task], V]) -> tuple[Episode, V]:
        """Sends a directive, calls `tool` with its task, and records the value that `tool` returns."""
        episode, (task,) = _execute(self, order)
        try:
            value = tool(task)
        except BaseException as error:
            return _give_up(episode, task, error)
        return episode.settle(task.success(value)), value

    return execute_with


def execute_with_async(_to: str) -> Callable[..., Coroutine[Any, Any, tuple[Episode, Any]]]:
    async def execute_with_async(
        self: Episode, order: _core.Directive, tool: Callable[[_core.Task], Awaitable[V]]
    ) -> tuple[Episode, V]:
        """Sends a directive, awaits `tool` with its task, and records the value that `tool` returns."""
        episode, (task,) = _execute(self, order)
        try:
            value = await tool(task)
        except BaseException as error:
            return _give_up(episode, task, error)
        return episode.settle(task.success(value)), value

    return execute_with_async


def execute_each(_to: str) -> Callable[..., tuple[Episode, list[Any]]]:
    def execute_each(
        self: Episode, orders: Iterable[_core.Directive], tool: Callable[[_core.Task], V]
    ) -> tuple[Episode, list[V]]:
        """Sends directives, calls `tool` with each task, and records the values that `tool` returns."""
        episode, tasks = _execute(self, *orders)
        return _settled_each(episode, [_outcome(task, tool) for task in tasks])

    return execute_each


def execute_each_async(_to: str) -> Callable[..., Coroutine[Any, Any, tuple[Episode, list[Any]]]]:
    async def execute_each_async(
        self: Episode, orders: Iterable[_core.Directive], tool: Callable[[_core.Task], Awaitable[V]]
    ) -> tuple[Episode, list[V]]:
        """Sends directives, awaits `tool` with each task in turn, and records the values that `tool` returns."""
        episode, tasks = _execute(self, *orders)
        outcomes: list[Outcome] = []
        for task in tasks:
            try:
                value = await tool(task)
            except Exception as error:
                outcomes.append((task.failure(_message(error)), error, None))
            else:
                outcomes.append((task.success(value), None, value))
        return _settled_each(episode, outcomes)

    return execute_each_async


def _execute(episode: Episode, *orders: _core.Directive) -> tuple[Episode, tuple[_core.Task, ...]]:
    return execute("")(episode, *orders)


def _message(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _outcome(task: _core.Task, tool: Callable[[_core.Task], Any]) -> Outcome:
    try:
        value = tool(task)
    except Exception as error:
        return task.failure(_message(error)), error, None
    return task.success(value), None, value


def _settled_each(episode: Episode, outcomes: list[Outcome]) -> tuple[Episode, list[Any]]:
    handle = episode._handle.settle(episode._state, "settle", [result for result, _, _ in outcomes], True)
    episode = episode._to("Execute", handle)
    for _, error, _ in outcomes:
        if error is not None:
            raise ToolFailed(f"the tool failed: {_message(error)}", episode) from error
    return episode, [value for _, _, value in outcomes]


def _give_up(episode: Episode, task: _core.Task, error: BaseException) -> NoReturn:
    """Records that a tool raised an exception: an interruption cancels its task."""
    try:
        result = task.failure(_message(error)) if isinstance(error, Exception) else task.cancelled()
    except StateUsed:
        raise error from None
    episode = episode.settle(result)
    if isinstance(error, Exception):
        raise ToolFailed(f"the tool failed: {_message(error)}", episode) from error
    raise error
