"""Agent that raises a connection pool from 50 to 80, with tools that it can only call through the gate.

    python agent.py DIR

The model is a script: it writes before it has read, then asks for too much, and corrects itself after each refusal. Each
write is confirmed. Afterwards, `DIR` contains the settings, the audit log and its key. This verifies the log:

    omen audit verify --key-file DIR/audit.key DIR/audit.jsonl
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TypedDict

from omen.gate import Caller, Gate, Question, Refused, new_key, verify_log

POOL = "pool.orders.max"
Model = Generator[tuple[str, str], str, str]


class Setting(TypedDict):
    key: str
    value: int


def tools(gate: Gate, settings: Path) -> None:
    """Registers the agent's tools. The agent cannot call their functions directly: it has only the gate."""

    @gate.tool("config.get", permissions=["READ"])
    def get(key: str) -> Setting:
        """Returns a setting."""
        return {"key": key, "value": json.loads(settings.read_text())[key]}

    @gate.tool("config.set", permissions=["WRITE"])
    def set(key: str, value: int) -> Setting:
        """Changes a setting."""
        settings.write_text(json.dumps({**json.loads(settings.read_text()), key: value}))
        return {"key": key, "value": value}


def scripted() -> Model:
    """Model: yields the name and arguments of a call, and receives the text of its answer."""
    answer = yield "config.set", json.dumps({"key": POOL, "value": 80})
    if "O-1" in answer:
        yield "config.get", json.dumps({"key": POOL})
    answer = yield "config.set", json.dumps({"key": POOL, "value": 500})
    if "PG-3" in answer:
        answer = yield "config.set", json.dumps({"key": POOL, "value": 80})
    return f"The pool is {json.loads(answer)['value']}."


def run(caller: Caller, model: Model) -> str:
    """Runs the agent until its final answer. The model receives a refusal like any other answer."""
    name, arguments = next(model)
    while True:
        try:
            answer = caller.call(name, arguments).text
        except Refused as refused:
            answer = refused.for_model()
        print(f"{name} {arguments}\n  {answer}")
        try:
            name, arguments = model.send(answer)
        except StopIteration as end:
            return str(end.value)


def main(folder: Path) -> None:
    """Sets up the folder, runs the agent, and verifies the log."""
    folder.mkdir(parents=True, exist_ok=True)
    settings, key = folder / "settings.json", folder / "audit.key"
    shutil.copy(Path(__file__).parent / "gate.toml", folder / "gate.toml")
    if not key.exists():
        new_key(key)
        settings.write_text(json.dumps({POOL: 50}))
    with Gate.load(folder / "gate.toml") as gate:
        tools(gate, settings)

        @gate.confirmer
        def confirm(question: Question) -> bool:
            print(f"  confirm {question.tool} {question.arguments}? yes")
            return True

        with gate.session() as session, session.turn("raise the pool `orders` to 80") as turn:
            print(run(turn, scripted()))
    print(f"the log is sound: {verify_log(folder / 'audit.jsonl', key)} entries")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pool"))
