"""Failing functions, cancelled callers, and processes that exit: no call is missing from the log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from gate.gate_world import World
from omen.gate import Gate, GateError, Question, Refused, Tool, ToolFailed


def failing_tools(gate: Gate) -> list[Tool[..., Any]]:
    @gate.tool("divide")
    def divide(by: int) -> float:
        return 1 / by

    @gate.tool("adivide")
    async def adivide(by: int) -> float:
        return 1 / by

    @gate.tool("raw")
    def raw() -> object:
        return object()

    @gate.tool("nan")
    def nan() -> float:
        return float("nan")

    @gate.tool("sleep")
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)

    @gate.tool("block")
    def block(seconds: float) -> None:
        time.sleep(seconds)

    @gate.tool("interrupt")
    def interrupt() -> None:
        raise KeyboardInterrupt

    return [divide, adivide, raw, nan, sleep, block, interrupt]


def test_an_exception_is_a_failure_of_the_tool(world: World) -> None:
    gate = world.gate(failing_tools)
    with pytest.raises(ToolFailed) as failed:
        gate.call("divide", {"by": 0})
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert "ZeroDivisionError: division by zero. The tool ran and failed." in failed.value.for_model()
    for name in ("divide", "adivide"):
        with pytest.raises(ToolFailed) as failed:
            asyncio.run(gate.acall(name, {"by": 0}))
        assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert [entry["data"]["class"] for entry in world.entries("outcome")] == ["tool"] * 3


def test_what_is_not_json_is_a_failure_of_the_tool(world: World) -> None:
    gate = world.gate(failing_tools)
    with pytest.raises(ToolFailed, match="not JSON serializable") as failed:
        gate.call("raw")
    assert failed.value.ran == "yes"
    with pytest.raises(ToolFailed, match="not JSON compliant"):
        gate.call("nan")
    assert world.outcomes() == ["yes", "yes"]


def test_threads_share_a_limit_exactly(world: World) -> None:
    done: list[int] = []

    def define(gate: Gate) -> list[Tool[..., Any]]:
        @gate.tool("count")
        def count(number: int) -> int:
            done.append(number)
            return number

        return [count]

    gate = world.gate(define, rules='max = "40/h"')

    def one(number: int) -> bool:
        try:
            return bool(gate.call("count", {"number": number}).value == number)
        except Refused as refused:
            assert refused.code == "PG-3"
            return False

    with ThreadPoolExecutor(100) as pool:
        results = list(pool.map(one, range(100)))
    assert results.count(True) == len(done) == len(set(done)) == 40
    assert len(world.entries("intent")) == 40


def test_tasks_share_a_limit_exactly(world: World) -> None:
    gate = world.gate(failing_tools, rules='max = "40/h"')

    async def main() -> list[Any]:
        calls = (gate.acall("sleep", {"seconds": 0.01}) for _ in range(100))
        return await asyncio.gather(*calls, return_exceptions=True)

    results = asyncio.run(main())
    assert sum(isinstance(result, Refused) for result in results) == 60
    assert world.outcomes() == ["yes"] * 40


@pytest.mark.parametrize("name", ["sleep", "block"])
def test_a_cancelled_call_may_have_run(world: World, name: str) -> None:
    gate = world.gate(failing_tools)

    async def main() -> None:
        call = asyncio.create_task(gate.acall(name, {"seconds": 0.6}))
        await asyncio.sleep(0.3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    assert world.outcomes() == ["unknown"]


def test_a_call_that_is_cancelled_before_it_is_allowed_does_not_run(world: World) -> None:
    gate = world.gate(failing_tools, ["WRITE"])
    asked = threading.Event()

    @gate.confirmer
    async def confirm(_: Question) -> bool:
        asked.set()
        await asyncio.sleep(60)
        return True

    async def main() -> None:
        call = asyncio.create_task(gate.acall("sleep", {"seconds": 0}))
        while not asked.is_set():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    assert world.entries("intent") == []
    assert [entry["data"]["outcome"] for entry in world.entries("confirmation")] == ["denied"]


@pytest.mark.parametrize("name", ["sleep", "block"])
def test_a_tool_that_hangs_is_given_up(world: World, name: str) -> None:
    gate = world.gate(failing_tools, extra="[limits]\ncall_timeout_seconds = 1\n")
    begun = time.monotonic()
    with pytest.raises(ToolFailed, match="no answer within") as failed:
        asyncio.run(gate.acall(name, {"seconds": 3 if name == "block" else 60}))
    assert failed.value.ran == "unknown"
    assert time.monotonic() - begun < 10
    assert world.outcomes() == ["unknown"]


def test_a_tool_does_not_run_once_its_call_was_given_up(world: World) -> None:
    done: list[str] = []

    def define(gate: Gate) -> None:
        @gate.tool("late")
        async def late() -> None:
            done.append("late")

    gate = world.gate(define, extra="[limits]\ncall_timeout_seconds = 1\n")

    async def main() -> None:
        call = asyncio.create_task(gate.acall("late"))
        await asyncio.sleep(0)
        # The event loop is blocked for longer than the gate waits.
        time.sleep(2.5)
        with pytest.raises(ToolFailed, match="no answer within"):
            await call

    asyncio.run(main())
    assert done == []
    # A thread that asks too late receives only the refusal, not the request to run the tool.
    call = gate._core.begin("app", "late", "{}", "session")  # pyright: ignore[reportPrivateUsage]
    time.sleep(2.5)
    event = call.next(5)
    assert event is not None and event[0] == "refused"
    assert world.outcomes() == ["unknown"] * 2


def test_a_keyboard_interrupt_in_a_tool_is_raised(world: World) -> None:
    gate = world.gate(failing_tools)
    with pytest.raises(KeyboardInterrupt):
        gate.call("interrupt")
    assert world.outcomes() == ["unknown"]


def test_a_keyboard_interrupt_while_the_gate_waits_is_raised(world: World) -> None:
    gate = world.gate(failing_tools)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gate.call("block", {"seconds": 20})
    timer.join()
    assert world.outcomes() == ["unknown"]


def test_a_keyboard_interrupt_in_a_confirmer_is_raised(world: World) -> None:
    gate = world.gate(failing_tools, ["WRITE"])

    @gate.confirmer
    def confirm(_: Question) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gate.call("divide", {"by": 1})
    assert world.entries("intent") == []
    assert [entry["data"]["outcome"] for entry in world.entries("confirmation")] == ["denied"]


def test_other_threads_run_while_the_gate_waits(world: World) -> None:
    gate = world.gate(failing_tools, ["WRITE"], extra="[confirm]\ntimeout_seconds = 1\n")
    counted, stop = [0], threading.Event()

    @gate.confirmer
    async def confirm(_: Question) -> bool:
        await asyncio.sleep(30)
        return True

    def count() -> None:
        while not stop.wait(0.01):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(Refused, match="G3"):
        asyncio.run(gate.acall("divide", {"by": 1}))
    stop.set()
    thread.join()
    assert counted[0] > 20


def test_closing_the_gate_ends_open_calls(world: World) -> None:
    gate = world.gate(failing_tools)

    async def main() -> None:
        call = asyncio.create_task(gate.acall("sleep", {"seconds": 60}))
        await asyncio.sleep(0.3)
        gate.close()
        with pytest.raises(GateError, match="closed during the call"):
            await call

    asyncio.run(main())
    assert world.outcomes() == ["unknown"]


def test_whatever_is_cancelled_no_tool_runs_without_its_intent(world: World) -> None:
    done: list[int] = []

    def define(gate: Gate) -> None:
        @gate.tool("note")
        async def note(number: int) -> int:
            done.append(number)
            await asyncio.sleep(0.002)
            return number

        @gate.tool("blocking")
        def blocking(number: int) -> int:
            done.append(number)
            time.sleep(0.002)
            return number

    gate = world.gate(define)
    moments = random.Random(7)

    async def one(number: int) -> None:
        call = asyncio.create_task(gate.acall(moments.choice(["note", "blocking"]), {"number": number}))
        await asyncio.sleep(moments.random() * 0.05)
        call.cancel()
        await asyncio.wait([call])

    async def main() -> None:
        for start in range(0, 300, 20):
            await asyncio.gather(*(one(number) for number in range(start, start + 20)))

    asyncio.run(main())
    intents = len(world.entries("intent"))
    assert len(set(done)) == len(done) <= intents
    assert 0 < world.outcomes().count("unknown") < 300


def test_whenever_the_gate_is_closed_no_tool_runs_without_its_intent(world: World) -> None:
    done: list[int] = []

    def define(gate: Gate) -> None:
        @gate.tool("note")
        def note(number: int) -> int:
            done.append(number)
            return number

    gates = [world.gate(define), *[None] * 9]
    for number, gate in enumerate(gates):
        gate = gate or world.load(define)

        def calls(gate: Gate = gate, number: int = number) -> None:
            with contextlib.suppress(GateError, Refused):
                for _ in range(1000):
                    gate.call("note", {"number": number})

        threads = [threading.Thread(target=calls) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.02 * number)
        gate.close()
        for thread in threads:
            thread.join()
    assert 0 < len(done) <= len(world.entries("intent"))


def test_a_framework_that_runs_the_tool_itself_reports_the_outcome(world: World) -> None:
    gate = world.gate(failing_tools)

    async def main() -> None:
        call = await gate.abegin("divide", {"by": 2})
        assert call.arguments == {"by": 2}
        assert (await call.succeed(0.5)).value == 0.5
        call = await gate.abegin("divide", {"by": 3})
        with pytest.raises(ToolFailed, match="OSError: disk"):
            await call.fail(OSError("disk"))
        (await gate.abegin("divide", {"by": 4})).abandon()
        with pytest.raises(Refused, match="PG-2"):
            await gate.abegin("divide", {})

    asyncio.run(main())
    assert world.outcomes() == ["yes", "yes", "unknown"]


def test_a_tool_cannot_call_the_gate_in_its_own_turn(world: World) -> None:
    turns: list[Any] = []

    def define(gate: Gate) -> None:
        @gate.tool("inner")
        def inner() -> str:
            return "in"

        @gate.tool("outer")
        def outer(own: bool) -> str:
            return str((turns[0] if own else gate).call("inner").value)

        @gate.tool("aouter")
        async def aouter(own: bool) -> str:
            return str((await (turns[0] if own else gate).acall("inner")).value)

    gate = world.gate(define)
    with gate.turn() as turn:
        turns.append(turn)
        assert (
            turn.call("outer", {"own": False}).value == asyncio.run(turn.acall("aouter", {"own": False})).value == "in"
        )
        with pytest.raises(ToolFailed, match="in the turn in which it runs"):
            turn.call("outer", {"own": True})
        with pytest.raises(ToolFailed, match="in the turn in which it runs"):
            asyncio.run(turn.acall("aouter", {"own": True}))
    with pytest.raises(GateError, match="has ended"):
        turn.call("inner")
    assert world.outcomes() == ["yes"] * 6


SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        open("pid", "w").write(str(os.getpid()))
        result["serverInfo"] = {"name": "files", "version": "1"}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "read", "inputSchema": {"type": "object", "properties": {"path": {}}}}]}
    elif message.get("method") == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(message["params"]["arguments"])}]}
    elif "id" in message:
        result = {}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_server_of_the_configuration_is_started(world: World) -> None:
    (world.folder / "server.py").write_text(SERVER)
    server = f'[servers.files]\ncommand = {json.dumps(sys.executable)}\nargs = ["server.py"]\n'
    gate = world.gate(lambda _: None, extra=server)
    with pytest.raises(Refused, match="PG-3") as refused:
        gate.call("read", {"path": "a"}, server="files")
    gate.close()
    pin = next(word.strip("`.,") for word in (refused.value.reason + refused.value.help).split() if "v1:" in word)
    tool = 'server = "files"\ntool = "read"\npermissions = ["READ"]\n'
    world.config.write_text(world.config.read_text() + f'[[allow]]\n{tool}pin = "{pin}"\n[[grants]]\n{tool}')
    gate = world.load(lambda _: None)
    assert gate.call("read", {"path": "a"}, server="files").value == '{"path": "a"}'
    assert asyncio.run(gate.acall("read", {"path": "b"}, server="files")).value == '{"path": "b"}'
    pid = int((world.folder / "pid").read_text())
    assert world.outcomes() == ["yes", "yes"]
    # Closing the gate has stopped the server.
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def run(world: World, program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the gate of the world, in a separate process."""
    head = "import asyncio, os, sys, threading, time\nfrom omen.gate import *\n"
    head += f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
    head += f"from gate.test_gate_faults import failing_tools\ngate = Gate.load({str(world.config)!r})\n"
    head += "failing_tools(gate)\n"
    # From Python 3.12 on, `os.fork` warns if there are threads.
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", head + program],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_process_that_ends_without_closing_has_written_everything(world: World) -> None:
    world.gate(failing_tools).close()
    ended = run(world, "gate.call('divide', {'by': 1})\ntry: gate.call('interrupt')\nexcept KeyboardInterrupt: pass\n")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert world.outcomes() == ["yes", "unknown"]


def test_a_process_that_ends_during_a_call_does_not_hang(world: World) -> None:
    world.gate(failing_tools).close()
    program = "threading.Thread(target=lambda: gate.call('block', {'seconds': 3}), daemon=True).start()\n"
    ended = run(world, program + "time.sleep(0.5)\n")
    assert ended.returncode == 0
    assert world.outcomes() == ["unknown"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_cannot_use_the_gate_of_its_parent(world: World) -> None:
    world.gate(failing_tools).close()
    program = """
child = os.fork()
if child == 0:
    try:
        gate.call("divide", {"by": 1})
    except GateError as error:
        os._exit(7 if "after the fork" in str(error) else 8)
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
if os.fork() == 0:
    sys.exit(0)
os.wait()
print(gate.call("divide", {"by": 1}).value)
"""
    ended = run(world, program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1.0\n", "")


def test_a_call_of_a_killed_process_is_not_lost(world: World) -> None:
    world.gate(failing_tools).close()
    ended = run(
        world,
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), 9)).start()\ngate.call('block', {'seconds': 20})",
    )
    assert ended.returncode == -signal.SIGKILL
    intent = [json.loads(line) for line in world.log.read_text().splitlines()][-1]
    assert intent["kind"] == "intent"
    world.load(failing_tools).close()
    assert world.entries()[-1]["sequence"] > intent["sequence"]
    world.lost = 1
