//! Tests that everything read is reported before the reader blocks, and that memory is bounded.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::super::schedule::{Schedule, Task, WINDOW};
use super::super::shard::Shard;
use super::*;
use crate::validator::parallel::block::ParsedBlock;

/// Time limit of a test, far longer than any step takes.
const LONG: Duration = Duration::from_secs(60);

/// Reader that returns each piece only after everything before it was reported.
struct Patient {
    pieces: Vec<&'static [u8]>,
    reported: Receiver<()>,
    is_first: bool,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !std::mem::take(&mut self.is_first) {
            self.reported.recv_timeout(LONG).map_err(io::Error::other)?;
        }
        let Some(piece) = self.pieces.pop() else { return Ok(0) };
        buffer[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

/// Sink that reports when it has caught up.
struct Live(Calls, Sender<usize>, Sender<()>);

impl Sink for Live {
    type Error = Full;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Full> {
        self.0.finding(finding, line)
    }

    fn caught_up(&mut self) -> Result<(), Full> {
        let _ = self.1.send(self.0.calls.len());
        let _ = self.2.send(());
        Ok(())
    }
}

#[test]
fn what_was_read_is_reported_before_the_reader_blocks() {
    for jobs in 1..=8 {
        let ((found, counts), (report, reported)) = (channel(), channel());
        let pieces = vec![&b"x\nx"[..], b"x\n\nx\nx", b"x\n"];
        let reader = Patient { pieces, reported, is_first: true };
        let mut sink = Live(Calls::default(), found, report);
        let mut validator = threads(jobs, 512, &ValidatorOptions::default());
        validator.read(reader, &mut sink).expect("the reader waits for nothing else");
        assert_eq!(counts.try_iter().collect::<Vec<_>>(), [1, 3, 4], "{jobs} threads");
    }
}

/// Reader that returns a line and then blocks.
struct Pause(bool, Receiver<()>);

impl Read for Pause {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            let _ = self.1.recv_timeout(LONG);
            return Ok(0);
        }
        buffer[..2].copy_from_slice(b"x\n");
        Ok(2)
    }
}

#[test]
fn a_sink_that_fails_does_not_wait_for_the_reader() {
    let (send, blocked) = channel();
    let mut sink = Calls { room: Some(0), ..Calls::default() };
    let mut validator = threads(2, 512, &ValidatorOptions::default());
    let read = validator.read(Pause(false, blocked), &mut sink);
    assert!(matches!(read, Err(ReadError::Sink(Full))), "{read:?}");
    assert!(send.send(()).is_ok(), "the reader still waits");
}

/// Reader that returns a line and then fails.
struct Fails(bool, fn() -> io::Result<usize>);

impl Read for Fails {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return (self.1)();
        }
        buffer[..2].copy_from_slice(b"x\n");
        Ok(2)
    }
}

#[test]
fn a_reader_that_fails_is_reported_after_what_it_returned() {
    let mut sink = Calls::default();
    let mut validator = threads(2, 512, &ValidatorOptions::default());
    let read = validator.read(Fails(false, || Err(io::ErrorKind::BrokenPipe.into())), &mut sink);
    assert!(matches!(&read, Err(ReadError::Input(error)) if error.kind() == io::ErrorKind::BrokenPipe), "{read:?}");
    assert_eq!(sink.calls.len(), 1);
    assert_eq!((validator.summary().packets, validator.summary().bytes), (1, 2));
}

#[test]
fn a_panic_of_the_reader_is_passed_on() {
    let mut validator = threads(2, 512, &ValidatorOptions::default());
    let reader = Fails(false, || std::panic::panic_any("of the reader"));
    let panic = catch_unwind(AssertUnwindSafe(|| validator.read(reader, &mut Calls::default()))).expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"of the reader"));
}

/// Runs all tasks that do not report, and returns the numbers of parsed blocks and of their errors.
fn without_reports(log: &[u8], block_bytes: usize) -> (usize, usize) {
    let mut blocks = Vec::new();
    Block::cut(0, log, block_bytes, &mut blocks);
    assert!(blocks.len() > 50);
    let shards = vec![Shard::default(), Shard::default(), Shard::default()];
    let (mut schedule, hasher) = (Schedule::new(&blocks, shards, 2, 0), foldhash::fast::RandomState::default());
    let (mut parsed, mut errors) = (0, 0);
    loop {
        match schedule.next(false) {
            Task::Parse { index, block, items } => {
                let block = ParsedBlock::new(block, LINE_LIMIT, items, schedule.lanes(), &hasher);
                (parsed, errors) = (parsed + 1, errors + block.errors);
                schedule.parsed(index, block);
            }
            Task::Judge { lane, mut shard, place, items } => {
                let outcomes = shard.judge(&place, lane, &items, &ValidatorOptions::default(), true);
                schedule.judged(lane, shard, outcomes);
            }
            Task::Wait => return (parsed, errors),
            task => panic!("{task:?}"),
        }
    }
}

#[test]
fn few_blocks_wait_to_be_reported() {
    let example = omen_schema::example("valid/interleaved.jsonl").expect("an example");
    let (parsed, errors) = without_reports(example.repeat(10).as_bytes(), 1000);
    assert_eq!((parsed, errors), (2 * WINDOW, 0));
}

#[test]
fn few_errors_wait_to_be_reported() {
    let (parsed, errors) = without_reports("{}\n".repeat(500_000).as_bytes(), 20_000);
    assert!(parsed > 1 && errors < 12_000, "{parsed} blocks, {errors} errors");
}

#[test]
fn a_line_is_kept_only_up_to_the_limit() {
    let mut validator = threads(3, 512, &ValidatorOptions::default());
    let mut sink = Calls::default();
    for _ in 0..64 {
        validator.feed(&[b'x'; LINE_LIMIT], &mut sink).expect("room");
    }
    assert_eq!(validator.finish(&mut sink).map(|summary| summary.errors), Ok(1));
    assert!(sink.calls[0].contains("exceeds"), "{:?}", sink.calls);
}
