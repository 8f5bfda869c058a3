"""Core of the package, written in Rust. The public modules document what they export from it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, final

from typing_extensions import Self, TypeAlias

_Level: TypeAlias = Literal["allow", "warn", "deny"]

class _BinaryFile(Protocol):
    """File that is open for reading in binary mode."""

    def read(self, size: int, /) -> bytes: ...

_Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | _BinaryFile | Iterable[str] | Iterable[bytes]

def version() -> str:
    """Returns the version of the package, which is that of the command."""

def check(
    source: _Source,
    *,
    levels: dict[str, _Level] | None = None,
    jobs: int | None = None,
    name: str | None = None,
) -> Findings:
    """Checks a log, and returns an iterator over its findings.

    ``source`` is a path (``str`` or ``os.PathLike``), the content of a log (``bytes``), a binary file, or an iterable of lines. A
    ``str`` is always a path; for a text, use ``check_text``. Files may be compressed with gzip or zstd, and may contain packets in
    an array.

    ``levels`` changes severities: ``{"INV-011": "allow"}``, with ``warnings`` as the key for all warnings. ``jobs`` is the number
    of threads. ``name`` is the name of the log in findings, in place of its path.
    """

def check_text(
    text: str,
    *,
    levels: dict[str, _Level] | None = None,
    jobs: int | None = None,
    name: str | None = None,
) -> Findings:
    """Checks a text, and returns an iterator over its findings. The other parameters are those of ``check``."""

class Findings(Iterator[Finding], AsyncIterator[Finding]):
    """Iterator over the findings of a log, in their order; ``for`` and ``async for`` both work.

    The log is checked while the findings are read, a bounded number of findings ahead. If the input cannot be read to its end,
    ``InputError`` is raised after the findings up to that point.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> Finding: ...
    def __aiter__(self) -> Self: ...
    async def __anext__(self) -> Finding: ...
    def summary(self) -> Summary:
        """Checks the rest of the log without reporting its findings, and returns the counts of the whole log."""

    def close(self) -> None:
        """Ends the check, so that the log is read no further."""

    def _poll(self) -> Finding | None: ...
    def _wait(self) -> None: ...

class Finding:
    """A problem with a packet, or with the end of an episode. The attributes are the members of ``omen check --format json``."""

    @property
    def file(self) -> str:
        """Log, as given; ``-`` if it has no path."""

    @property
    def line(self) -> int | None:
        """Line in the log, from 1; ``None`` for a finding on the end of an episode."""

    @property
    def column(self) -> int | None:
        """Column in the line, in characters, from 1."""

    @property
    def packet_index(self) -> int | None:
        """Number of the packet among the lines that are not blank, from 0."""

    @property
    def packet_id(self) -> str | None:
        """``header.packet_id``, if it is readable."""

    @property
    def correlation_id(self) -> str | None:
        """``header.correlation_id``, which names the episode, if it is readable."""

    @property
    def packet_type(self) -> str | None:
        """Type of the packet, if it is known."""

    @property
    def state(self) -> list[str] | None:
        """Possible states of the episode before the packet."""

    @property
    def stage(self) -> str:
        """Stage of the check that reports the finding."""

    @property
    def code(self) -> str:
        """Rule that is broken; ``omen explain CODE`` describes it."""

    @property
    def also(self) -> list[str]:
        """Other rules that the same problem breaks."""

    @property
    def severity(self) -> Literal["error", "warning"]:
        """``error``, which rejects the packet, or ``warning``."""

    @property
    def pointer(self) -> str | None:
        """JSON pointer to the problem in the packet."""

    @property
    def message(self) -> str:
        """Description of the problem."""

    @property
    def help(self) -> str | None:
        """Way to fix the problem."""

    @property
    def follows_from(self) -> Cause | None:
        """Rejected packet without which the finding would not exist; ``None`` for a root cause."""

    @property
    def labels(self) -> list[str]:
        """Labels of the place itself."""

    @property
    def notes(self) -> list[str]:
        """Facts from elsewhere in the log."""

    @property
    def directive_line(self) -> int | None:
        """At the end of a log: line of the directive that was left open."""

    def to_json(self) -> str:
        """Returns the line that ``omen check --format json`` prints, without its line end."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the members of ``to_json`` as a dictionary."""

    def render(self, *, width: int | None = None, color: bool = False) -> str:
        """Returns the text that ``omen check`` prints, with an excerpt of the line. ``width`` is that of the terminal in columns."""

class Cause:
    """Cause of a finding: an earlier packet that was rejected."""

    @property
    def line(self) -> int:
        """Line of the packet, from 1."""

    @property
    def packet_id(self) -> str | None:
        """``header.packet_id``, if it is readable."""

class Summary:
    """Counts of a log."""

    @property
    def bytes(self) -> int:
        """Bytes that were read."""

    @property
    def packets(self) -> int:
        """Lines that are not blank."""

    @property
    def accepted(self) -> int:
        """Packets without an error."""

    @property
    def rejected(self) -> int:
        """Packets with an error."""

    @property
    def episodes(self) -> int:
        """The number of correlation ids among the packets that match their schema."""

    @property
    def errors(self) -> int:
        """Findings that are errors."""

    @property
    def warnings(self) -> int:
        """Findings that are warnings."""

    @property
    def consequences(self) -> int:
        """Findings that follow from a packet that was rejected earlier."""

    def to_dict(self) -> dict[str, int]:
        """Returns the counts as a dictionary."""

class Validator:
    """Validator of a log that arrives in chunks of any size: one packet on each line, not compressed.

    ``levels`` changes severities as in ``check``; ``name`` is the name of the log in findings.
    """

    def __new__(cls, *, levels: dict[str, _Level] | None = None, name: str = "-") -> Self: ...
    @staticmethod
    def restore(snapshot: bytes, *, levels: dict[str, _Level] | None = None, name: str = "-") -> Validator:
        """Restores a validator from a snapshot, which must have had the same levels."""

    def feed(self, data: bytes) -> list[Finding]:
        """Checks the next bytes of the log, and returns their findings."""

    def end_episode(self, correlation_id: str) -> list[Finding]:
        """Ends an episode before the end of the log, and returns findings about what is still open in it.

        Later packets with the same correlation id begin another episode.
        """

    def finish(self) -> tuple[list[Finding], Summary]:
        """Checks the end of the log, and returns its findings and the counts. The validator cannot be used afterwards."""

    def summary(self) -> Summary:
        """Returns the counts so far."""

    def snapshot(self) -> bytes:
        """Returns the state as bytes, from which ``restore`` continues."""

class Branch:
    """Constructor for one case of a field, such as ``TaskDirectivePayload.read``; its signature is in the stub of the class."""

    def __new__(
        cls,
        name: str,
        subject: str,
        *,
        case: Literal["value", "absent", "empty", "filled"],
        value: str | None,
        doc: str,
        leaves_out: dict[str, str] | None = None,
        excludes: dict[str, dict[str, str]] | None = None,
    ) -> Self: ...

class Object:
    """Object of the protocol: a packet, or a part of one. It is immutable, and matches its schema.

    The members are keyword arguments and read-only attributes. An optional member that is ``None`` is absent,
    unless it may be ``null``.
    """

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """Reads an object from JSON, and checks it. ``Packet.parse`` reads any packet."""

    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self:
        """Creates an object from a dictionary, such as the output of a model, and checks it."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Returns the JSON Schema (2020-12) of the class, for the structured output of a model."""

    def to_json(self) -> str:
        """Returns the object as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the object as a dictionary, with plain values."""

    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...

# The typed episode. Its classes in `omen.episode` hold these; a state is named by its class, and a move by its method.

def start(correlation_id: str, envelope: object, options: object) -> Handle: ...
def resume(correlation_id: str, envelope: object, options: object, lines: list[str] | None) -> Handle: ...
def stakes_level(impact: str, irreversibility: str, uncertainty: str, adversariality: str) -> str: ...
def illegal_move(state: str, name: str) -> Exception | None: ...

@final
class LogFile:
    def __new__(cls, path: str | os.PathLike[str], *, synced: bool = False) -> Self: ...

@final
class Handle:
    def send(self, state: str, name: str, packet_type: str, payload: object, status: str | None = None) -> Handle: ...
    def propose(self, state: str, proposal: str, allow: list[str]) -> Handle: ...
    def under(self, state: str, envelope: object) -> Handle: ...
    def decide(self, state: str, name: str, outcome: str, order: Order, envelope: object) -> Handle: ...
    def verify(self, state: str, plan: object) -> Handle: ...
    def complete(self, state: str, name: str, payload: object) -> tuple[Handle, Proof]: ...
    def authorize(
        self,
        state: str,
        name: str,
        scope: tuple[list[str], list[str], int],
        ttl_seconds: int,
        rationale: str,
        constraints: object,
    ) -> tuple[Handle, list[Permit]]: ...
    def claim(
        self, state: str, name: str, token_id: str | None, scope: tuple[list[str], list[str], int]
    ) -> list[Permit]: ...
    def live_tokens(self) -> list[LiveToken]: ...
    def execute(self, state: str, name: str, orders: list[Directive]) -> tuple[Handle, list[Task]]: ...
    def settle(self, state: str, name: str, results: list[Settled], all: bool) -> Handle: ...
    def as_is(self, state: str, name: str) -> Handle: ...
    def all_settled(self, state: str) -> Handle: ...
    def halt(self, state: str, reason: str) -> Handle: ...
    def clear(self, state: str, order: Layer1Order) -> Handle: ...
    def answered(self, state: str, order: Layer1Order) -> Handle: ...
    def budget_override(self, state: str, order: Layer1Order, revoked: list[str]) -> Handle: ...
    def close(self, state: str) -> list[str]: ...
    def end(self) -> None: ...
    def class_name(self) -> str: ...
    def events(self) -> list[str]: ...
    def tasks(self) -> list[Task]: ...
    def lines(self) -> list[str]: ...

@final
class Arbitration:
    def __new__(cls, options: list[str]) -> Self: ...
    def keep(self, name: str, keep: list[str]) -> Arbitration: ...
    def tradeoff(self, policy: str, rationale: str) -> Order: ...

@final
class Order:
    def to_act(self) -> Order: ...
    def relies_on(self, verified: Verified) -> Order: ...
    def assumes(self, assumption: str) -> Order: ...
    def layer1_override(self, order: Layer1Order) -> Order: ...

@final
class Layer1Order:
    def __new__(cls, reason: str) -> Self: ...
    @property
    def reason(self) -> str: ...
    def budget_override(self) -> Layer1Order: ...

@final
class Proof:
    def verifies(self, assumption: str) -> Verified: ...

@final
class Verified: ...

@final
class Permit:
    def __class_getitem__(cls, parameters: object) -> type[Permit]: ...
    @property
    def token_id(self) -> str: ...

@final
class LiveToken:
    @property
    def token_id(self) -> str: ...
    @property
    def tools(self) -> list[str]: ...
    @property
    def operations(self) -> list[str]: ...
    @property
    def uses_left(self) -> int: ...
    @property
    def expiry(self) -> str: ...

@final
class Directive:
    def __new__(cls, tool: str, safety: str, params: object, timeout_seconds: int | None) -> Self: ...
    def __class_getitem__(cls, parameters: object) -> type[Directive]: ...
    def with_permit(self, permit: Permit) -> Directive: ...

@final
class Task:
    @property
    def task_id(self) -> str: ...
    @property
    def directive(self) -> str: ...
    @property
    def tool_id(self) -> str | None: ...
    @property
    def params(self) -> dict[str, Any]: ...
    def success(self, data: object) -> Settled: ...
    def failure(self, message: str) -> Settled: ...
    def cancelled(self) -> Settled: ...

@final
class Settled:
    def __class_getitem__(cls, parameters: object) -> type[Settled]: ...

# The gate, which `omen.gate` describes.

def new_key(path: str | os.PathLike[str]) -> None: ...
def verify_log(log: str | os.PathLike[str], key_file: str | os.PathLike[str]) -> int: ...

@final
class GateCore:
    @staticmethod
    def load(path: str | os.PathLike[str]) -> GateCore: ...
    @staticmethod
    def parse(text: str) -> GateCore: ...
    def servers(self) -> list[str]: ...
    def own_servers(self) -> list[str]: ...
    def put_tool(self, server: str, form: str) -> str: ...
    def check_permissions(self, server: str, tool: str, needed: Sequence[str]) -> None: ...
    def set_confirms(self, confirms: bool) -> None: ...
    def fresh_id(self, kind: str) -> str: ...
    def begin(
        self,
        server: str,
        tool: str,
        args: str,
        session: str,
        user_turn: str | None = None,
        query: str | None = None,
        wake: Callable[[], object] | None = None,
    ) -> PendingCall: ...
    def end(self, id: str) -> list[str]: ...
    def owed(self, session: str) -> list[str]: ...
    def grant(
        self,
        server: str,
        tool: str,
        permission: str,
        is_of_user: bool,
        ttl_seconds: int | None = None,
        uses: int | None = None,
        pre_granted: bool = False,
    ) -> str: ...
    def revoke(self, server: str, tool: str, permission: str) -> str: ...
    def reload(self, path: str | os.PathLike[str]) -> str: ...
    def close(self) -> None: ...

@final
class PendingCall:
    def next(self, seconds: float) -> tuple[Literal["run", "confirm", "answer", "refused", "closed"], str] | None: ...
    def answer(self, answer: str) -> None: ...
    def confirm(self) -> None: ...
    def deny(self, why: str) -> None: ...
    def abandon(self) -> None: ...
