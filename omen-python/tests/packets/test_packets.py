"""Packets as classes: constructors, branches, round trips, errors."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import omen
from omen import packets
from omen._core import Object


def rebuilt(value: Any) -> Any:
    """Creates a copy of an object from its members."""
    if issubclass(type(value), tuple):
        return [rebuilt(item) for item in value]
    if not isinstance(value, Object):
        return value
    members = value.to_dict()
    return type(value)(**{name: members[name] if name.startswith("_") else rebuilt(getattr(value, name)) for name in members})


def all_packets(examples: list[Path]) -> list[str]:
    lines = [line for path in examples if path.parent.name == "valid" for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) > 500
    return lines


def test_round_trip(examples: list[Path]) -> None:
    for line in all_packets(examples):
        packet = packets.Packet.parse(line)
        assert packet.to_json() == line and packet.to_dict() == json.loads(line)
        assert rebuilt(packet) == packet == packets.Packet.parse(line.encode())
        assert type(packet).from_dict(packet.to_dict()) == packet
        assert type(packet).__name__ == packet.header.packet_type
        loaded = pickle.loads(pickle.dumps(packet))
        assert loaded == packet and hash(loaded) == hash(packet) and copy.deepcopy(packet) is packet
        assert repr(packet.header).startswith("PacketHeader(")


def test_nothing_is_lost_of_numbers_and_texts(examples: list[Path]) -> None:
    packet = packets.Packet.parse(all_packets(examples)[0]).to_dict()
    packet["_note"] = {"digits": 0.1000000000000000055511151231257827, "é\u2028": "😀", "many": 10**18}
    text = json.dumps(packet)
    assert json.loads(packets.Packet.parse(text).to_json()) == packet
    raw = text.replace("0.1", "0.10000000000000000000000000000000001")
    assert packets.Packet.parse(raw).to_json() == raw


def problems(call: Any) -> list[tuple[str | None, str, str | None]]:
    with pytest.raises(omen.PacketError) as caught:
        call()
    error = caught.value
    assert (error.code, error.place, error.help) == (error.problems[0].code, error.problems[0].place, error.problems[0].help)
    return [(problem.place, problem.message, problem.help) for problem in error.problems]


def test_each_error_has_its_place_and_its_help() -> None:
    [(place, message, help)] = problems(lambda: packets.RetryPolicy(max_retires=1))  # type: ignore[call-arg]
    assert (place, help) == ("/max_retires", "did you mean `max_retries`?") and "unknown field" in message
    found = problems(lambda: packets.TaskDirectivePayload(task_id="x", tool_safety_class="REED"))  # type: ignore[call-arg,arg-type]
    assert [place for place, _, _ in found] == ["/task_id", "/tool_safety_class", "", ""]
    assert found[0][2] == 'write `"task_x"`'
    assert "`cost`" not in str(found)
    for wrong in (float("nan"), object(), {1: 2}, b"x"):
        with pytest.raises(omen.ArgumentError) as caught:
            packets.EstimatedCost(tokens=wrong)  # type: ignore[arg-type]
        assert caught.value.place == "/tokens"
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(omen.ArgumentError, match="nested deeper"):
        packets.ObservationPayload(observation_type="tool_output", data=endless)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keyword"):
        packets.EstimatedCost(1)  # type: ignore[call-arg]
    with pytest.raises(omen.UsageError, match="subclasses"):
        packets.Packet()


def test_a_packet_of_another_type_is_refused(examples: list[Path]) -> None:
    packet = next(packet for line in all_packets(examples) if isinstance(packet := packets.Packet.parse(line), packets.ObservationPacket))
    [(place, message, _)] = problems(lambda: packets.DecisionPacket.parse(packet.to_json()))
    assert place == "/header/packet_type" and "ObservationPacket" in message


METHOD = packets.ExecutionMethod.tool(tool_id="config.set", tool_params={"operation": "modify"})


def test_branches() -> None:
    write = packets.TaskDirectivePayload.write(
        task_id="task_1", task_type="tool_write", execution_method=METHOD, authorization_token_id="token_1"
    )
    assert write.tool_safety_class is packets.ToolSafetyClass.WRITE
    assert write.execution_method == METHOD and METHOD.method == "tool"
    assert write.retry_policy is None
    [(place, message, help)] = problems(
        lambda: packets.TaskDirectivePayload.write(task_id="task_1", task_type="tool_write", execution_method=METHOD)  # type: ignore[call-arg]
    )
    assert "authorization_token_id" in message
    [(place, _, help)] = problems(
        lambda: packets.TaskDirectivePayload.read(task_id="task_1", task_type="tool_write", execution_method=METHOD)  # type: ignore[arg-type]
    )
    assert place == "/task_type" and help is not None and "write()" in help
    [(place, _, help)] = problems(
        lambda: packets.TaskDirectivePayload.read(task_id="t", task_type="tool_read", execution_method=METHOD, authorization_token_id="t")  # type: ignore[call-arg]
    )
    assert place == "/authorization_token_id" and help is not None and "needs no token" in help
    [(place, message, _)] = problems(lambda: packets.TaskDirectivePayload.read(tool_safety_class="WRITE"))  # type: ignore[call-arg]
    assert place == "/tool_safety_class" and "sets it" in message


def test_objects_are_immutable() -> None:
    cost = packets.EstimatedCost(tokens=3)
    with pytest.raises(AttributeError):
        cost.tokens = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        cost.other = 4  # type: ignore[attr-defined]
    assert cost == packets.EstimatedCost(tokens=3, tool_calls=None) != packets.EstimatedCost(tokens=4)
    assert cost != object() and len({cost, packets.EstimatedCost(tokens=3)}) == 1


def test_enums_are_their_texts() -> None:
    assert packets.StakesLevel.HIGH == "HIGH" and f"{packets.StakesLevel.HIGH}" == str(packets.StakesLevel.HIGH) == "HIGH"
    assert json.dumps(packets.StakesLevel.HIGH) == '"HIGH"'


def test_schema_for_structured_output(examples: list[Path]) -> None:
    """The schema contains all definitions that it refers to, and no extensions of this project."""
    schema = packets.Packet.model_json_schema()
    text = json.dumps(schema)
    assert "x-omen" not in text and schema["$schema"].endswith("2020-12/schema")
    references = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    assert references == set(schema["$defs"]) and len(references) > 80
    for name, value in vars(packets).items():
        if isinstance(value, type) and issubclass(value, Object) and value is not Object:
            assert value.model_json_schema()["title"] == name


def test_fuzzed_texts_never_abort(examples: list[Path]) -> None:
    """Accepted texts round-trip, and all others raise an error of the package."""
    generator, lines = random.Random(36), all_packets(examples)
    accepted = 0
    for _ in range(3000):
        text = bytearray(generator.choice(lines).encode())
        for _ in range(generator.randint(0, 3)):
            at = generator.randrange(len(text) + 1)
            text[at : at + generator.randint(0, 2)] = bytes([generator.choice(b'{}[]",:0-eE\\\x00\xff ')])
        try:
            packet = packets.Packet.parse(bytes(text))
        except omen.PacketError as error:
            assert error.problems and str(error)
        else:
            accepted += 1
            assert packet.to_json() == text.decode() and repr(packet)
    assert accepted > 300


def test_import_is_light() -> None:
    """The package imports nothing heavy: of the standard library, only what ``enum`` needs."""
    program = "import sys; before = set(sys.modules); import omen.packets; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False)
    if ended.returncode:  # Without `site`, an installed package may not be found.
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"asyncio", "dataclasses", "inspect", "json", "re", "typing", "typing_extensions"}
    assert not heavy & set(ended.stdout.split()), ended.stdout
