"""Grants that a program gives and revokes, and reloading the configuration while the gate runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from gate.gate_world import World
from gate.test_gate_calls import echo_tools
from omen.gate import Gate, GateError, Refused, Tool


def refusal(gate: Gate, name: str = "echo") -> str:
    """Returns the rule that refuses a call."""
    with pytest.raises(Refused) as refused:
        gate.call(name, {"value": 1})
    assert refused.value.ran == "no"
    return str(refused.value.code)


def test_a_revoked_permission_is_refused_until_it_is_granted_again(world: World) -> None:
    gate = world.gate(echo_tools)
    revoked = gate.revoke("echo", "READ")
    assert len(revoked) == 1
    assert gate.revoke("echo", "READ") == []
    assert refusal(gate) == "G2"
    given = gate.grant("echo", "READ", uses=1, source="user")
    assert given not in revoked
    assert gate.call("echo", {"value": 1}).value == 1
    assert refusal(gate) == "G2"
    grants = [grant for entry in world.entries("grant") for grant in entry["data"]["grants"]]
    assert grants[-1] == {
        "id": given, "tool": {"server": "app", "tool": "echo"}, "permission": "READ", "source": "user", "uses": 1,
        "pre_granted": False,
    }
    assert [entry["data"]["grants"] for entry in world.entries("revocation")][-2:] == [revoked, []]


def test_a_call_that_runs_is_cancelled_by_a_revocation(world: World) -> None:
    begun = asyncio.Event()

    def define(gate: Gate) -> list[Tool[..., Any]]:
        @gate.tool("hang")
        async def hang() -> None:
            begun.set()
            await asyncio.Event().wait()

        return [hang]

    async def run(gate: Gate) -> Refused:
        call = asyncio.ensure_future(gate.acall("hang"))
        await begun.wait()
        gate.revoke("hang", "READ")
        with pytest.raises(Refused) as refused:
            await call
        return refused.value

    refused = asyncio.run(run(world.gate(define)))
    assert (refused.code, refused.ran) == ("G2", "unknown")
    assert world.outcomes() == ["unknown"]


def test_a_grant_can_expire_and_need_no_confirmation(world: World) -> None:
    gate = world.gate(echo_tools, permissions=["READ", "WRITE"])
    assert refusal(gate) == "G3"
    gate.grant("echo", "WRITE", ttl_seconds=3600, pre_granted=True)
    assert gate.call("echo", {"value": 1}).value == 1
    grant = world.entries("grant")[-1]["data"]["grants"][0]
    assert grant["pre_granted"] is True and "T" in grant["expires"]


@pytest.mark.parametrize("wrong", [("echo", "FLY"), ("", "READ")])
def test_a_grant_that_names_nothing_is_an_error(world: World, wrong: tuple[str, str]) -> None:
    gate = world.gate(echo_tools)
    for change in (gate.grant, gate.revoke):
        with pytest.raises(GateError):
            change(*wrong, server="app")
    with pytest.raises((OverflowError, ValueError)):
        gate.grant("echo", "READ", uses=0)


def test_another_configuration_is_in_force_whole_or_not_at_all(world: World) -> None:
    gate = world.gate(echo_tools)
    before = world.config.read_text()
    assert gate.reload().given == []
    without = before.replace('[[grants]]\nserver = "app"\ntool = "echo"\npermissions = ["READ"]\n', "")
    assert without != before
    world.config.write_text(without)
    changed = gate.reload()
    assert (changed.given, len(changed.revoked)) == ([], 1) and changed.before != changed.policy
    assert refusal(gate) == "G2"
    for wrong, said in (("[servers", "TOML"), (before.replace("[servers.app]", "[servers.other]"), "app")):
        world.config.write_text(wrong)
        with pytest.raises(GateError, match=said):
            gate.reload()
        assert refusal(gate) == "G2"
    other = world.folder / "other.toml"
    other.write_text(before)
    assert gate.reload(other).policy == changed.before
    assert gate.call("echo", {"value": 1}).value == 1


def test_a_configuration_without_a_file_needs_a_path(world: World) -> None:
    gate = world.gate(echo_tools)
    gate.close()
    text = world.config.read_text().replace('"audit.', f'"{world.folder}/audit.')
    with Gate.parse(text) as parsed, pytest.raises(GateError, match="file"):
        parsed.reload()
