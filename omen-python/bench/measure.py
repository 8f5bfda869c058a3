"""Speed of the package and of alternatives: ``python bench/measure.py COMMAND``, with the command from the same build profile.

Measurements that are compared alternate round by round, so that other load affects both. ``jsonschema-rs`` and ``pydantic`` are
measured if they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import omen
from omen import packets

ROUNDS = 5
EXAMPLES = Path(__file__).parents[2] / "schema/examples/valid"
IMPORTS = ("json", "omen", "omen.episode", "omen.packets", "omen.gate")
STEPS = 2_000

Measure = Callable[[], object]


def rounds(measures: dict[str, Measure]) -> dict[str, list[float]]:
    """Returns the seconds of each measurement, round by round."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(ROUNDS):
        for name, run in measures.items():
            begun = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - begun)
    return taken


def ratio(taken: dict[str, list[float]], one: str, other: str) -> float:
    """Returns the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(taken[one], taken[other], strict=True))


def examples() -> list[str]:
    """Returns the packets of the legal logs in the examples."""
    return [line for log in sorted(EXAMPLES.glob("*.jsonl")) for line in log.read_text().splitlines() if line.strip()]


def write_log(path: Path, megabytes: int) -> None:
    """Writes the legal logs repeatedly, each time as separate episodes."""
    logs = [log.read_text() for log in sorted(EXAMPLES.glob("*.jsonl"))]
    with path.open("w") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            number += 1
            for log in logs:
                file.write(log.replace('"corr_', f'"corr_{number}_'))


def check(command: str, megabytes: int) -> None:
    """Measures a verdict on a log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        write_log(log, megabytes)
        words = [command, "check", "--no-config", "--format", "json", str(log)]

        def in_package() -> None:
            for finding in omen.check(log):
                finding.to_json()

        def in_command() -> None:
            subprocess.run(words, stdout=subprocess.DEVNULL, check=False)

        taken = rounds({"package": in_package, "command": in_command})
        size = log.stat().st_size / 1e6
        package, program = (statistics.median(taken[name]) for name in ("package", "command"))
        print(f"log of {size:.0f} MB: omen.check {package:.2f} s, the command {program:.2f} s, "
              f"ratio {ratio(taken, 'package', 'command'):.2f}")


def pydantic_type(schema: Any, definitions: dict[str, Any], made: dict[str, Any], name: str) -> Any:
    """Returns the pydantic type for a JSON Schema. Supports only what the schemas of the packets use."""
    import pydantic
    from typing import Annotated, Literal, Optional, Union

    def inner(part: Any, name: str) -> Any:
        return pydantic_type(part, definitions, made, name)

    if not isinstance(schema, dict):
        return Any
    if "$ref" in schema:
        target = str(schema["$ref"]).rsplit("/", 1)[-1]
        if target not in made:
            made[target] = inner(definitions[target], target)
        return made[target]
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if values is None and "oneOf" in schema and all("const" in part for part in schema["oneOf"]):
        values = [part["const"] for part in schema["oneOf"]]
    if values is not None:
        return Literal[tuple(values)]
    for key in ("oneOf", "anyOf"):
        if key in schema and "properties" not in schema:
            return Union[tuple(inner(part, f"{name}{number}") for number, part in enumerate(schema[key]))]
    kind = schema.get("type")
    if isinstance(kind, list):
        return Union[tuple(inner({**schema, "type": one}, name) for one in kind)]
    if kind == "object" and "properties" in schema:
        required = schema.get("required", [])
        fields: dict[str, Any] = {}
        for key, part in schema["properties"].items():
            ty = inner(part, f"{name}_{key}")
            fields[key] = (ty, ...) if key in required else (Optional[ty], None)
        # A pattern allows members whose names begin with `_`, which pydantic cannot express.
        is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        extra: Any = "forbid" if is_closed else "allow"
        return pydantic.create_model(name, __config__=pydantic.ConfigDict(extra=extra), **fields)
    if kind == "array":
        return list[inner(schema.get("items"), f"{name}_item")]  # type: ignore[misc]
    limits = {"minLength": "min_length", "maxLength": "max_length", "minimum": "ge", "maximum": "le", "pattern": "pattern"}
    plain: dict[Any, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None, "object": dict}
    bounds = {limits[key]: value for key, value in schema.items() if key in limits}
    ty = plain.get(kind, Any)
    return Annotated[ty, pydantic.Field(**bounds)] if bounds and ty is not Any else ty


def type_of(packet: dict[str, Any]) -> str:
    """Returns the type of a packet."""
    return str(packet["header"]["packet_type"])


def schemas() -> dict[str, dict[str, Any]]:
    """Returns the JSON Schema of each packet."""
    types = sorted({type_of(json.loads(line)) for line in examples()})
    return {name: getattr(packets, name).model_json_schema() for name in types}


def pydantic_reader() -> Callable[[str], object]:
    """Returns a reader of packets: a union that is discriminated by the packet type."""
    import pydantic
    from typing import Annotated, Union

    branches = []
    for name, schema in schemas().items():
        model = pydantic_type(schema, schema.get("$defs", {}), {}, name)
        branches.append(Annotated[model, pydantic.Tag(name)])
    union = Annotated[Union[tuple(branches)], pydantic.Discriminator(type_of)]
    return pydantic.TypeAdapter(union).validate_json


def jsonschema_reader() -> Callable[[str], object]:
    """Returns a validator of packets by their schemas."""
    import jsonschema_rs  # type: ignore[import-not-found]

    validators = {name: jsonschema_rs.validator_for(schema) for name, schema in schemas().items()}

    def read(line: str) -> object:
        packet = json.loads(line)
        validators[type_of(packet)].validate(packet)
        return packet

    return read


def packet_classes() -> None:
    """Measures reading packets, with each reader on the same lines."""
    lines = examples()
    while len(lines) < 5_000:
        lines += lines
    readers: dict[str, Callable[[str], object]] = {"json.loads": json.loads, "omen": packets.Packet.parse}
    for name, module, make in (
        ("jsonschema-rs", "jsonschema_rs", jsonschema_reader), ("pydantic", "pydantic", pydantic_reader)
    ):
        try:
            importlib.import_module(module)
        except ImportError:
            print(f"{name} is not installed, so it is not measured")
        else:
            readers[name] = make()

    def reads(read: Callable[[str], object]) -> Measure:
        def run() -> None:
            # The objects are dropped: objects that stay alive would slow down the garbage collector.
            for line in lines:
                read(line)

        return run

    def in_order() -> None:
        validator = omen.Validator()
        validator.feed("".join(f"{line}\n" for line in lines).encode())

    measures = {name: reads(read) for name, read in readers.items()}
    taken = rounds({**measures, "omen.Validator": in_order})
    print(f"{len(lines)} packets of the examples, microseconds per packet, and ratio to `omen.packets.Packet.parse`:")
    for name, seconds in taken.items():
        print(f"  {name:14} {statistics.median(seconds) / len(lines) * 1e6:6.1f}  {ratio(taken, name, 'omen'):5.2f}")


def steps() -> None:
    """Measures a move of the typed episode: a belief update, whose packet is created, judged and written to a log in memory."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests/episode"))
    from episode_world import SEEN, belief, start

    def walk() -> None:
        episode = start().observe("OBSERVED", SEEN).believe(belief())
        for _ in range(STEPS):
            episode = episode.believe(belief())
        episode.end()

    taken = rounds({"step": walk})
    print(f"a move of the typed episode: {statistics.median(taken['step']) / STEPS * 1e6:.0f} microseconds")


def imports(names: Iterable[str]) -> None:
    """Measures imports, each in a separate process."""
    for name in names:
        program = f"import time; begun = time.perf_counter(); import {name}; print(time.perf_counter() - begun)"
        run = [sys.executable, "-c", program]
        taken = [float(subprocess.run(run, capture_output=True, text=True, check=True).stdout) for _ in range(11)]
        print(f"import {name}: {statistics.median(taken) * 1e3:.1f} ms (minimum {min(taken) * 1e3:.1f})")


def main() -> None:
    """Measures everything, and prints a report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", help="path of `omen`, built with the same profile as the package")
    parser.add_argument("--megabytes", type=int, default=200, help="size of the log (200)")
    arguments = parser.parse_args()
    imports(IMPORTS)
    steps()
    packet_classes()
    check(arguments.command, arguments.megabytes)


if __name__ == "__main__":
    main()
