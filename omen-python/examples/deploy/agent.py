"""LangChain agent that deploys a service, behind the gate.

It cannot deploy before the tests have passed, or to production.

    pip install langchain
    python agent.py DIR

The model is LangChain's fake model with a script, so that nothing leaves the machine.
"""

# LangChain does not annotate all of its types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from omen.adapters.langchain import GateMiddleware
from omen.gate import Gate, Question, new_key, verify_log


@tool
def run_tests(service: str) -> str:
    """Runs the tests of a service."""
    return f"the tests of {service} have passed"


@tool
def deploy(service: str, to: str) -> str:
    """Deploys a service to an environment."""
    return f"{service} is deployed to {to}"


TOOLS = [run_tests, deploy]


class Script(GenericFakeChatModel):
    """Fake model that accepts any tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def model() -> Script:
    """Returns a model that is in a hurry, and learns from refusals."""
    calls = [
        ("deploy", {"service": "orders", "to": "staging"}),
        ("run_tests", {"service": "orders"}),
        ("deploy", {"service": "orders", "to": "staging"}),
        ("deploy", {"service": "orders", "to": "production"}),
    ]
    messages = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}])
        for number, (name, args) in enumerate(calls)
    ]
    return Script(messages=iter([*messages, AIMessage("Staging is up to date. Production is for a human.")]))


def main(folder: Path) -> None:
    """Sets up the folder, runs the agent, and verifies the log."""
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / "audit.key"
    shutil.copy(Path(__file__).parent / "gate.toml", folder / "gate.toml")
    if not key.exists():
        new_key(key)
    with Gate.load(folder / "gate.toml") as gate:

        @gate.confirmer
        def confirm(question: Question) -> bool:
            print(f"confirm {question.tool} {question.arguments}? yes")
            return True

        with gate.session() as session, session.turn("deploy the service `orders`") as turn:
            agent = create_agent(model(), TOOLS, middleware=[GateMiddleware(turn)])
            question: Any = {"messages": [("user", "deploy the service `orders`")]}
            messages = agent.invoke(question)["messages"]
            for message in messages:
                if isinstance(message, ToolMessage):
                    print(f"{message.name}: {message.text}")
            print(messages[-1].text)
    print(f"the log is sound: {verify_log(folder / 'audit.jsonl', key)} entries")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "deploy"))
