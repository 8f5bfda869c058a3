"""Sources of a check, and the end of its iterator."""

from __future__ import annotations

import asyncio
import gc
import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import omen


def messages(findings: omen.Findings) -> list[str]:
    return [finding.message for finding in findings]


def test_all_sources_give_the_same(faulty: Path, tmp_path: Path) -> None:
    content = faulty.read_bytes()
    expected = messages(omen.check(faulty))
    assert expected
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(content))
    lines = content.decode().splitlines()
    with faulty.open("rb") as file, faulty.open() as text:
        sources: list[Any] = [
            str(faulty),
            packed,
            content,
            bytearray(content),
            memoryview(content),
            io.BytesIO(content),
            file,
            text.read().encode(),
            lines,
            iter(lines),
            (line.encode() for line in lines),
        ]
        for source in sources:
            assert messages(omen.check(source)) == expected, type(source)
    assert messages(omen.check_text(content.decode())) == expected


def test_name(faulty: Path) -> None:
    assert {finding.file for finding in omen.check(faulty)} == {str(faulty)}
    assert {finding.file for finding in omen.check(faulty.read_bytes())} == {"-"}
    assert {finding.file for finding in omen.check(faulty, name="agent")} == {"agent"}


def test_a_finding_has_all_members_as_attributes(faulty: Path) -> None:
    for finding in omen.check(faulty):
        for name, value in finding.to_dict().items():
            attribute = getattr(finding, name)
            if name == "follows_from" and attribute is not None:
                attribute = {"line": attribute.line, "packet_id": attribute.packet_id}
            assert attribute == value, name
        assert "omen.Finding" in repr(finding)


def refused(call: Any) -> omen.OmenError:
    with pytest.raises(omen.OmenError) as caught:
        call()
    return caught.value


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    missing = refused(lambda: omen.check("missing.jsonl"))
    assert isinstance(missing, omen.InputError) and missing.place == "missing.jsonl"
    assert missing.help is not None and "check_text" in missing.help
    assert "directory" in str(refused(lambda: omen.check(tmp_path)))
    assert "`int`" in str(refused(lambda: omen.check(7)))  # type: ignore[arg-type]
    assert "text mode" in str(refused(lambda: list(omen.check(io.StringIO("x")))))
    assert "E1" in str(refused(lambda: omen.check(b"", levels={"E1": "allow"})))
    assert "did you mean" in str(refused(lambda: omen.check(b"", levels={"INV-01": "allow"})))
    assert "`deny`" in str(refused(lambda: omen.check(b"", levels={"INV-011": "off"})))  # type: ignore[dict-item]
    assert "at least 1" in str(refused(lambda: omen.check(b"", jobs=0)))
    copied = pickle.loads(pickle.dumps(missing))
    assert (type(copied), copied.place, str(copied)) == (type(missing), missing.place, str(missing))


def test_an_input_that_breaks_off_is_reported_up_to_there(faulty: Path, tmp_path: Path) -> None:
    packed = gzip.compress(faulty.read_bytes() * 50)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(packed[:-100])
    findings = omen.check(path)
    seen = [next(findings)]
    error = refused(lambda: seen.extend(findings))
    assert "truncated" in str(error) and seen
    assert list(findings) == []


def test_an_exception_of_the_source_is_passed_on(faulty: Path) -> None:
    def broken() -> Iterator[str]:
        yield faulty.read_text()
        raise KeyError("source")

    with pytest.raises(KeyError, match="source"):
        list(omen.check(broken()))
    findings: list[omen.Findings] = []

    def reentrant() -> Iterator[str]:
        next(findings[0])
        yield ""

    findings.append(omen.check(reentrant()))
    assert "another thread" in str(refused(lambda: next(findings[0])))


def test_closed(faulty: Path) -> None:
    findings = omen.check(faulty)
    findings.close()
    assert "closed" in str(refused(lambda: next(findings)))
    assert findings.__class__ is omen.Findings


def test_validator_in_chunks(faulty: Path) -> None:
    content = faulty.read_bytes()
    expected = [finding.to_json() for finding in omen.check(content)]
    for size in (1, 1000, len(content)):
        validator = omen.Validator()
        found: list[omen.Finding] = []
        for at in range(0, len(content), size):
            found += validator.feed(content[at : at + size])
            if size > 1:
                validator = omen.Validator.restore(validator.snapshot())
        rest, summary = validator.finish()
        assert [finding.to_json() for finding in found + rest] == expected
        assert summary == omen.check(content).summary()
    assert "finished" in str(refused(lambda: validator.feed(b"")))
    assert "snapshot" in str(refused(lambda: omen.Validator.restore(b"omen")))
    snapshot = omen.Validator().snapshot()
    assert "options" in str(refused(lambda: omen.Validator.restore(snapshot, levels={"INV-011": "deny"})))


def test_async(faulty: Path) -> None:
    async def collect() -> list[str]:
        return [finding.message async for finding in omen.check(faulty)]

    assert asyncio.run(collect()) == messages(omen.check(faulty))


def test_a_cancelled_task_loses_no_finding(tmp_path: Path, faulty: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    lines = faulty.read_bytes().splitlines(keepends=True)
    content = b"".join(lines)

    def write(rest: threading.Event) -> None:
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            rest.wait()
            file.write(content.replace(b"corr_", b"corr_b"))

    async def run() -> list[str]:
        rest = threading.Event()
        writer = threading.Thread(target=write, args=(rest,))
        writer.start()
        findings = omen.check(path, jobs=1)
        seen: list[str] = []

        async def read() -> None:
            async for finding in findings:
                seen.append(finding.message)

        task = asyncio.create_task(read())
        while not seen:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        rest.set()
        await read()
        writer.join()
        return seen

    seen = asyncio.run(run())
    assert len(seen) == 2 and seen[0] == seen[1]


def test_threads(examples: list[Path]) -> None:
    """Checks run concurrently, each in its own thread."""
    expected = {path: messages(omen.check(path)) for path in examples[:40]}
    found: dict[Path, list[str]] = {}

    def work(paths: list[Path]) -> None:
        for path in paths:
            found[path] = messages(omen.check(path, jobs=2))

    threads = [threading.Thread(target=work, args=(examples[start:40:4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_interrupted() -> None:
    """Ctrl-C interrupts the wait for a source without data."""
    reader, writer = os.pipe()
    program = "import omen, sys\nprint('begun', flush=True)\nlist(omen.check(open(int(sys.argv[1]), 'rb', buffering=0)))"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(reader)], pass_fds=[reader], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        child.stdout.readline()
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in child.stderr.read()
    os.close(writer)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_after_fork(faulty: Path) -> None:
    """The child cannot continue a check of its parent, but can start its own checks."""
    program = f"""
import os, omen
parent = omen.check({str(faulty)!r})
child = os.fork()
if child == 0:
    try:
        next(parent)
    except omen.UsageError as error:
        os._exit(0 if "process" in str(error) and list(omen.check({str(faulty)!r})) else 1)
    os._exit(2)
assert os.waitpid(child, 0)[1] == 0
assert list(parent)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


def test_shutdown_of_the_interpreter(tmp_path: Path, faulty: Path) -> None:
    """The interpreter exits while checks are running, without waiting for them."""
    path = tmp_path / "large.jsonl"
    path.write_bytes(faulty.read_bytes() * 3000)
    os.mkfifo(tmp_path / "pipe")
    program = f"""
import omen
kept = [omen.check({str(path)!r}), omen.check(open({str(path)!r}, "rb"))]
print([next(findings).code for findings in kept])
"""
    ended = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert "E1" in ended.stdout and not ended.stderr


def test_memory_does_not_grow(faulty: Path) -> None:
    """Memory stays constant over many packets whose findings are dropped: it grows by less than 64 bytes for each."""
    line = b'{"header": {"packet_id": "pkt_1"}}\n'
    program = f"""
import resource, omen
def lines(count):
    for _ in range(count):
        yield {line!r}
def peak(count):
    findings = omen.check(lines(count), jobs=1)
    packets = findings.summary().packets
    assert packets == count, packets
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = peak(20_000)
print(peak(250_000) - first)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=True, timeout=300, capture_output=True, text=True)
    assert int(ended.stdout) < 16 * 1024, ended.stdout
    gc.collect()
