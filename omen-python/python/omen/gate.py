"""Tools behind the gate: every tool call goes through it and is recorded in a tamper-evident log.

It is the gate of `omen gate`: it reads the same configuration, decides with the same code, and writes the same log.
This module only adds functions as tools, and waits for calls.
"""

# The classes of this module use each other's private members.
# pyright: reportPrivateUsage=false
from __future__ import annotations

import json
import os
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, cast

from omen._answers import Answer, Question, Refused, ToolFailed
from omen._core import GateCore, PendingCall
from omen._core import new_key as _new_key
from omen._core import verify_log as _verify_log
from omen._errors import GateError

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

__all__ = [
    "Answer",
    "Caller",
    "Gate",
    "GateError",
    "OpenCall",
    "Question",
    "Refused",
    "Reloaded",
    "Session",
    "Tool",
    "ToolFailed",
    "Turn",
    "new_key",
    "verify_log",
]

P = ParamSpec("P")
R = TypeVar("R")
Run = Callable[[dict[str, Any]], object]
Arguments = Mapping[str, object] | str

_TURNS: ContextVar[frozenset[str]] = ContextVar("omen_turns", default=frozenset())
"""Turns in whose calls the code of this context runs. Another call in one of these turns would wait for itself."""


Confirmer = Callable[[Question], "bool | str | Awaitable[bool | str]"]


class OpenCall:
    """Call that the gate has permitted, for a framework that runs the tool itself and reports the outcome."""

    def __init__(self, task: asyncio.Task[Answer], outcome: asyncio.Future[object], arguments: dict[str, Any]) -> None:
        self._task, self._outcome = task, outcome
        self.arguments = arguments
        """Arguments with which the tool may be called, once."""

    async def succeed(self, value: object) -> Answer:
        """Records what the tool returned, and returns the answer once the gate has checked it."""
        if not self._outcome.done():
            self._outcome.set_result(value)
        return await self._task

    async def fail(self, error: BaseException | str) -> Answer:
        """Records that the tool failed. Raises `ToolFailed`."""
        return await self.succeed(Answer.failed(error if isinstance(error, str) else _shown(error)))

    def done(self) -> bool:
        """Returns whether the call has ended, for example by its timeout."""
        return self._task.done()

    def abandon(self) -> None:
        """Stops waiting for the outcome: the log records that the tool may have run."""
        self._task.cancel()


class Reloaded:
    """Outcome of a reload."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.before: str = data["before"]
        """Hash of the previous policy."""
        self.policy: str = data["policy"]
        """Hash of the policy in force now. If it is the same, nothing was changed."""
        self.given: list[int] = data["given"]
        """Ids of the grants that only the new configuration has."""
        self.revoked: list[int] = data["revoked"]
        """Ids of the grants that only the old configuration had."""

    def __repr__(self) -> str:
        return f"Reloaded({self.before!r} -> {self.policy!r}, given={self.given!r}, revoked={self.revoked!r})"


class Tool(Generic[P, R]):
    """Tool of this program. Its calls go through the gate."""

    def __init__(self, gate: Gate, server: str, form: dict[str, Any], pin: str, function: Callable[..., Any]) -> None:
        self._gate, self.function = gate, function
        self.server, self.name, self.pin = server, str(form["name"]), pin
        self.form = form
        """Name, description and schemas, as a server lists them; the pin is their hash."""
        self.__name__, self.__doc__ = self.name, function.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        from inspect import signature

        arguments = signature(self.function).bind(*args, **kwargs).arguments
        if _is_async(self.function):
            return cast(R, self._avalue(arguments))
        return cast(R, self._gate.call(self.name, arguments, server=self.server).value)

    async def _avalue(self, arguments: dict[str, Any]) -> Any:
        return (await self._gate.acall(self.name, arguments, server=self.server)).value

    def config(self, permissions: Sequence[str]) -> str:
        """Returns configuration entries that allow this form of the tool, and grant it the permissions."""
        named = f"server = {json.dumps(self.server)}\ntool = {json.dumps(self.name)}\n"
        named += f"permissions = {json.dumps(list(permissions))}"
        return f'[[allow]]\n{named}\npin = "{self.pin}"\n\n[[grants]]\n{named}\n'


class Caller:
    """Source of calls: a gate, a session, or a turn."""

    _gate: Gate
    _session: str
    _turn: str | None = None
    _query: str | None = None
    _is_over: bool = False

    @property
    def gate(self) -> Gate:
        """Gate that judges the calls."""
        return self._gate

    def call(self, name: str, arguments: Arguments = "{}", *, server: str | None = None) -> Answer:
        """Calls a tool through the gate, and waits for it. Functions run in this thread.

        Arguments may be JSON as written by a model. Raises `Refused` if the gate refuses, and `ToolFailed` if the tool
        fails.
        """
        function = self._gate._function(server, name)
        if function is not None and _is_async(function):
            raise GateError(f"the tool `{name}` is async", help=f"write `await gate.acall({name!r}, …)`")
        return self.perform(name, arguments, _run_of(function), server=server)

    async def acall(self, name: str, arguments: Arguments = "{}", *, server: str | None = None) -> Answer:
        """Calls a tool through the gate. Async functions run in this event loop, others in a thread.

        If the caller is cancelled, the log records that the tool may have run.
        """
        return await self.aperform(name, arguments, _run_of(self._gate._function(server, name)), server=server)

    def perform(self, name: str, arguments: Arguments, run: Run, *, server: str | None = None) -> Answer:
        """Calls a tool as `call` does, with another function in place of the registered one: for adapters."""
        call = self._begin(name, arguments, server, None)
        failure: Exception | None = None
        try:
            while True:
                # Waits are short, since the interpreter handles signals only between them.
                event = call.next(0.1)
                if event is None:
                    continue
                kind, data = event
                if kind == "run":
                    failure = self._answer(call, run, json.loads(data))
                elif kind == "confirm":
                    failure = self._gate._confirm(call, Question(json.loads(data)))
                else:
                    return _ended(kind, data, failure)
        finally:
            call.abandon()

    async def aperform(self, name: str, arguments: Arguments, run: Run, *, server: str | None = None) -> Answer:
        """Calls a tool as `acall` does, with another function in place of the registered one: for adapters."""
        import asyncio

        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        call = self._begin(name, arguments, server, lambda: loop.call_soon_threadsafe(ready.set))
        work: asyncio.Task[Exception | None] | None = None
        try:
            while True:
                ready.clear()
                if work is not None and work.done():
                    # Raises the exception that ended the task without an answer, such as a cancellation.
                    work.result()
                event = call.next(0)
                if event is None:
                    await ready.wait()
                    continue
                kind, data = event
                if kind not in ("run", "confirm"):
                    finished = work is not None and work.done() and not work.cancelled()
                    return _ended(kind, data, work.result() if work is not None and finished else None)
                if kind == "run":
                    work = loop.create_task(self._aanswer(call, run, json.loads(data)))
                else:
                    work = loop.create_task(self._gate._aconfirm(call, Question(json.loads(data))))
                work.add_done_callback(lambda _: ready.set())
        finally:
            call.abandon()
            if work is not None and not work.done():
                work.cancel()
                await asyncio.wait([work])

    async def abegin(self, name: str, arguments: Arguments, *, server: str | None = None) -> OpenCall:
        """Takes a call through the gate without running the tool, for a framework that does so itself.

        The intent is in the log. If no outcome follows within the call timeout of the configuration, the log records
        that the tool may have run. Raises `Refused`.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        begun: asyncio.Future[dict[str, Any]] = loop.create_future()
        outcome: asyncio.Future[object] = loop.create_future()

        async def run(args: dict[str, Any]) -> object:
            begun.set_result(args)
            return await outcome

        task = loop.create_task(self.aperform(name, arguments, run, server=server))
        # Retrieves the exception, so that asyncio does not report it if no caller does: the log has the failure.
        task.add_done_callback(lambda task: None if task.cancelled() else task.exception() and None)
        waiting: list[asyncio.Future[Any]] = [task, begun]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            task.cancel()
            raise
        if not begun.done():
            await task
        return OpenCall(task, outcome, begun.result())

    def _answer(self, call: PendingCall, run: Run, args: dict[str, Any]) -> Exception | None:
        token = _TURNS.set(_TURNS.get() | {self._turn} if self._turn else _TURNS.get())
        try:
            call.answer(_json(Answer.of(run(args))))
        except Exception as error:
            call.answer(_json(Answer.failed(_shown(error))))
            return error
        finally:
            _TURNS.reset(token)
        return None

    async def _aanswer(self, call: PendingCall, run: Run, args: dict[str, Any]) -> Exception | None:
        # Not reset: this runs in a task, which has its own context.
        _TURNS.set(_TURNS.get() | {self._turn} if self._turn else _TURNS.get())
        try:
            call.answer(_json(Answer.of(await _awaited(run, args))))
        except Exception as error:
            call.answer(_json(Answer.failed(_shown(error))))
            return error
        return None

    def _begin(
        self, name: str, arguments: Arguments, server: str | None, wake: Callable[[], object] | None
    ) -> PendingCall:
        if self._is_over:
            raise GateError(f"`{self._turn or self._session}` has ended", help="begin another one")
        if self._turn in _TURNS.get():
            raise GateError(
                "a tool calls the gate in the turn in which it runs", help="make its calls in a separate turn"
            )
        text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
        server = self._gate._server_of(server, name)
        return self._gate._core.begin(server, name, text, self._session, self._turn, self._query, wake)


class Turn(Caller):
    """Turn of the user: its calls share budgets, and are made one after the other. Ends with its `with` block."""

    def __init__(self, gate: Gate, session: str, query: str | None) -> None:
        self._gate, self._session, self._query = gate, session, query
        self._turn = gate._core.fresh_id("t")
        self.owed: list[str] = []
        """What the turn owed under the order rules when it ended."""

    @property
    def id(self) -> str:
        """Id of the turn in the log."""
        return str(self._turn)

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self.owed = self._gate._core.end(self.id)


class Session(Caller):
    """Session: the order rules consider its calls together. Ends with its `with` block."""

    def __init__(self, gate: Gate, name: str | None, query: str | None) -> None:
        self._gate, self._query = gate, query
        self._session = name or gate._core.fresh_id("s")
        self.owed: list[str] = []
        """What the session owed under the order rules when it ended."""

    @property
    def id(self) -> str:
        """Id of the session in the log."""
        return self._session

    def turn(self, query: str | None = None) -> Turn:
        """Begins a turn. `query` is the user's request, which is matched against the policy's patterns (PG-0)."""
        return Turn(self._gate, self._session, query if query is not None else self._query)

    def owes(self) -> list[str]:
        """Returns what the session currently owes under the order rules."""
        return self._gate._core.owed(self._session)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self.owed = self._gate._core.end(self._session)


class Gate(Caller):
    """Gate of a configuration, with the tools of this program."""

    def __init__(self, core: GateCore) -> None:
        self._core = core
        self._gate = self
        self._session = core.fresh_id("s")
        self._tools: dict[tuple[str, str], Tool[..., Any]] = {}
        self._confirmer: Confirmer | None = None
        self._file: str | os.PathLike[str] | None = None
        # Also when the interpreter exits, so that queued log entries are written.
        self._close = weakref.finalize(self, core.close)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Gate:
        """Loads a configuration, opens its log, and starts its servers."""
        gate = cls(GateCore.load(path))
        gate._file = path
        return gate

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Reads a configuration from a text. Its paths are relative to the working directory."""
        return cls(GateCore.parse(text))

    def tool(
        self,
        name: str,
        *,
        permissions: Sequence[str] | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        server: str | None = None,
    ) -> Callable[[Callable[P, R]], Tool[P, R]]:
        """Makes a function a tool of the gate; calls of the result go through the gate.

        The schema of the arguments is derived from the type hints, and the description is the docstring, unless they
        are given. `permissions` states what the function can do: if the configuration allows the tool without one of them,
        this is an error.
        """

        def register(function: Callable[P, R]) -> Tool[P, R]:
            from inspect import getdoc

            from omen._signature import input_schema as schema_of

            schema = input_schema if input_schema is not None else schema_of(function, name)
            form: dict[str, Any] = {"name": name, "inputSchema": dict(schema)}
            if (text := description if description is not None else getdoc(function)) is not None:
                form["description"] = text
            if output_schema is not None:
                form["outputSchema"] = dict(output_schema)
            return self.register(form, function, permissions=permissions, server=server)

        return register

    def register(
        self,
        form: Mapping[str, Any],
        function: Callable[P, R],
        *,
        permissions: Sequence[str] | None = None,
        server: str | None = None,
    ) -> Tool[P, R]:
        """Adds a tool in the form of the Model Context Protocol, or replaces the tool with that name."""
        name, own = str(form["name"]), self._core.own_servers()
        if server is None:
            if len(own) != 1:
                known = ", ".join(f"`{name}`" for name in own) or "none"
                raise GateError(
                    f"`{name}` may belong to several servers", help=f"pass `server=`; servers of this program: {known}"
                )
            server = own[0]
        if permissions is not None:
            self._core.check_permissions(server, name, permissions)
        pin = self._core.put_tool(server, json.dumps(dict(form)))
        tool: Tool[P, R] = Tool(self, server, dict(form), pin, function)
        self._tools[server, name] = tool
        return tool

    def grant(
        self,
        name: str,
        permission: str,
        *,
        server: str | None = None,
        ttl_seconds: int | None = None,
        uses: int | None = None,
        pre_granted: bool = False,
        source: Literal["operator", "user"] = "operator",
    ) -> int:
        """Grants a tool a permission until this gate ends, and returns the id of the grant in the log.

        It ends after `ttl_seconds`, or after `uses` calls. Calls that use it need a confirmation as usual, unless it is
        `pre_granted`. The grant is in the log before it is in force.
        """
        of_user = source == "user"
        given = self._core.grant(self._server_of(server, name), name, permission, of_user, ttl_seconds, uses, pre_granted)
        return int(json.loads(given))

    def revoke(self, name: str, permission: str, *, server: str | None = None) -> list[int]:
        """Revokes all grants of a permission for a tool, including those of the configuration, and returns their ids.

        This takes effect immediately: a call that has not begun is refused, and a running one is cancelled.
        """
        revoked: list[int] = json.loads(self._core.revoke(self._server_of(server, name), name, permission))
        return revoked

    def reload(self, path: str | os.PathLike[str] | None = None) -> Reloaded:
        """Applies the configuration of a file, as a whole or not at all. The default is the file that was loaded.

        Raises `GateError` if the file is invalid, or if a change requires a restart; the old one then stays in force.
        """
        file = path if path is not None else self._file
        if file is None:
            raise GateError("the configuration was not loaded from a file", help="pass the path of a configuration")
        return Reloaded(json.loads(self._core.reload(file)))

    @property
    def tools(self) -> list[Tool[..., Any]]:
        """Registered tools, whether or not the configuration allows them."""
        return list(self._tools.values())

    def confirmer(self, function: Confirmer) -> Confirmer:
        """Sets the function that confirms calls: `True` confirms this call once; `False`, or a reason, denies it.

        An exception is a denial. Without a confirmer, calls that need a confirmation are denied.
        """
        self._confirmer = function
        self._core.set_confirms(True)
        return function

    def session(self, name: str | None = None, *, query: str | None = None) -> Session:
        """Begins a session. A name continues a session of an earlier process, if it has not ended."""
        return Session(self, name, query)

    def turn(self, query: str | None = None) -> Turn:
        """Begins a turn in the gate's own session. `query` is the user's request (PG-0)."""
        return Turn(self, self._session, query)

    def close(self) -> None:
        """Ends all open calls, and closes the log. This also happens when the interpreter exits."""
        self._close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _server_of(self, server: str | None, name: str) -> str:
        """Returns the server of a tool. The gate itself refuses a tool that does not exist."""
        if server is not None:
            return server
        found = [known for known, tool in list(self._tools) if tool == name]
        servers = found or self._core.servers()
        if len(found) > 1 or not servers:
            raise GateError(f"the server of `{name}` is not known", help="pass `server=`")
        return servers[0]

    def _function(self, server: str | None, name: str) -> Callable[..., Any] | None:
        tool = self._tools.get((self._server_of(server, name), name))
        return None if tool is None else tool.function

    def _confirm(self, call: PendingCall, question: Question) -> Exception | None:
        try:
            reply = self._confirmer(question) if self._confirmer is not None else False
            if hasattr(reply, "__await__"):
                getattr(reply, "close", lambda: None)()
                raise GateError("the confirmer is async", help="write `await gate.acall(…)`")
            return _reply(call, reply)
        except Exception as error:
            call.deny(f"the confirmer failed: {_shown(error)}")
            return error

    async def _aconfirm(self, call: PendingCall, question: Question) -> Exception | None:
        try:
            reply = await _awaited(self._confirmer, question) if self._confirmer is not None else False
            return _reply(call, reply)
        except Exception as error:
            call.deny(f"the confirmer failed: {_shown(error)}")
            return error


def new_key(path: str | os.PathLike[str]) -> None:
    """Creates the key of an audit log, in a file that only its owner can read. The file must not exist yet."""
    _new_key(path)


def verify_log(log: str | os.PathLike[str], key_file: str | os.PathLike[str]) -> int:
    """Verifies an audit log as `omen audit verify` does, and returns the number of its entries.

    Raises `GateError` if the log is not sound.
    """
    return _verify_log(log, key_file)


def _run_of(function: Callable[..., Any] | None) -> Run:
    # The gate refuses a tool that is not registered, unless one of its own servers has it.
    if function is None:
        return lambda _: Answer.failed("the tool is not registered")
    if _is_async(function):

        async def run(args: dict[str, Any]) -> object:
            return await function(**args)

        return run
    return lambda args: function(**args)


def _reply(call: PendingCall, reply: object) -> Exception | None:
    if reply is True:
        call.confirm()
    elif reply is False:
        call.deny("the confirmer denied the call")
    elif isinstance(reply, str):
        call.deny(reply)
    else:
        raise GateError(f"the confirmer returned `{type(reply).__name__}`; expected a bool or a reason")
    return None


async def _awaited(function: Callable[[Any], object], argument: object) -> object:
    import asyncio

    result = function(argument) if _is_async(function) else await asyncio.to_thread(function, argument)
    return await cast("Awaitable[object]", result) if isinstance(result, Awaitable) else result


def _ended(kind: str, data: str, failure: Exception | None) -> Answer:
    if kind == "answer":
        return Answer(json.loads(data))
    if kind == "refused":
        refused = json.loads(data)
        raise (ToolFailed if refused["failed"] else Refused)(refused) from failure
    raise GateError("the gate was closed during the call")


def _is_async(function: Callable[..., Any]) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _json(answer: Answer) -> str:
    return json.dumps(answer.data, allow_nan=False)
