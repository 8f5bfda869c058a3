//! R3: faults, their classes, and failing calls.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use omen_gate::{Fault, FaultClass, MAX_TEXT, Ran, bounded, guarded};
use serde_json::json;

use crate::support::secs;

/// One fault of each class.
pub(crate) fn one_of_each() -> Vec<Fault> {
    vec![
        Fault::Timeout { after: secs(30) },
        Fault::Cancelled,
        Fault::unreachable("no such file"),
        Fault::died("exit status 1"),
        Fault::Panicked,
        Fault::Oversized { limit: 100 },
        Fault::malformed("no content"),
        Fault::refused(-32602, "unknown tool"),
        Fault::tool("no such order"),
    ]
}

#[test]
fn each_fault_has_a_class_of_its_own_with_a_stable_text() {
    let classes: Vec<_> = one_of_each().iter().map(Fault::class).collect();
    assert_eq!(classes, FaultClass::ALL);
    let texts: Vec<_> = classes.iter().map(|class| class.as_str()).collect();
    // Logs contain these: a change breaks their readers.
    let expect =
        ["timeout", "cancelled", "unreachable", "died", "panicked", "oversized", "malformed", "refused", "tool"];
    assert_eq!(texts, expect);
    assert_eq!(BTreeSet::from_iter(texts).len(), FaultClass::ALL.len());
    assert_eq!(serde_json::to_value(classes).unwrap(), json!(expect));
}

#[test]
fn the_class_depends_on_the_kind_only() {
    assert_eq!(Fault::died("x").class(), Fault::died("y").class());
    assert_eq!(Fault::refused(1, "").class(), Fault::refused(-2, "timeout").class());
}

#[test]
fn what_follows_from_a_class() {
    let of =
        |test: fn(FaultClass) -> bool| FaultClass::ALL.iter().copied().filter(|class| test(*class)).collect::<Vec<_>>();
    use FaultClass::{Died, Oversized, Timeout, Tool, Unreachable};
    assert_eq!(of(FaultClass::is_transient), [Timeout, Unreachable, Died]);
    // A retry is safe only where the tool certainly did not run.
    assert_eq!(of(FaultClass::is_retryable), [Unreachable]);
    assert_eq!(of(|class| class.ran() == Ran::No), [Unreachable]);
    assert_eq!(of(|class| class.ran() == Ran::Yes), [Oversized, Tool]);
    assert_eq!(of(|class| !class.trips_breaker()), [Tool]);
}

#[test]
fn foreign_text_is_cut_and_made_harmless() {
    assert_eq!(bounded("as it is: é, 日本"), "as it is: é, 日本");
    assert_eq!(bounded("a\nb\r\tc\u{1b}[31m\u{0}\u{202e}d\u{2028}"), "a b  c [31m  d ");
    assert_eq!(bounded("a\u{2066}b\u{200b}c\u{e0041}d"), "a b c d");
    assert_eq!(bounded(&"x".repeat(MAX_TEXT)), "x".repeat(MAX_TEXT));
    for (text, c) in [("x", 'x'), ("é", 'é'), ("日", '日'), ("😀", '😀')] {
        // Shifted by a byte, so that characters straddle the limit.
        for shift in 0..4 {
            let long = format!("{}{}", "a".repeat(shift), text.repeat(MAX_TEXT + 1));
            let cut = bounded(&long);
            assert!(cut.len() <= MAX_TEXT && cut.len() > MAX_TEXT - 8, "{}", cut.len());
            assert!(cut.ends_with('…') && cut.chars().rev().nth(1) == Some(c));
        }
    }
    // 100 MB are cut to half a kilobyte.
    let huge = "\n".repeat(100_000_000);
    for fault in [Fault::died(&huge), Fault::malformed(&huge), Fault::refused(1, &huge), Fault::tool(&huge)] {
        assert!(fault.to_string().len() < MAX_TEXT + 100 && !fault.to_string().contains('\n'));
    }
}

/// Flag that is set when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn hangs(dropped: Arc<AtomicBool>) -> Result<(), Fault> {
    let _flag = Flag(dropped);
    pending().await
}

async fn until(flag: &AtomicBool) {
    // Aborting takes the runtime a few turns.
    while !flag.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_and_a_fault_pass() {
    assert_eq!(guarded(secs(1), async { Ok(7) }).await, Ok(7));
    assert_eq!(guarded(secs(1), async { Err::<(), _>(Fault::died("x")) }).await, Err(Fault::died("x")));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_ended_at_the_limit() {
    let dropped = Arc::new(AtomicBool::new(false));
    let begin = tokio::time::Instant::now();
    let outcome = guarded(secs(30), hangs(dropped.clone())).await;
    assert_eq!(outcome, Err(Fault::Timeout { after: secs(30) }));
    assert_eq!(begin.elapsed(), secs(30));
    until(&dropped).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_just_in_time_is_in_time() {
    let slow = |seconds| async move {
        tokio::time::sleep(secs(seconds)).await;
        Ok(())
    };
    assert_eq!(guarded(secs(30), slow(29)).await, Ok(()));
    assert_eq!(guarded(secs(30), slow(31)).await, Err(Fault::Timeout { after: secs(30) }));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_fault() {
    let panics = async { panic!("a call panics; a test wants it") };
    assert_eq!(guarded::<(), _>(secs(1), panics).await, Err(Fault::Panicked));
}

#[tokio::test(start_paused = true)]
async fn giving_up_ends_the_call() {
    let dropped = Arc::new(AtomicBool::new(false));
    let call = tokio::spawn(guarded(secs(3600), hangs(dropped.clone())));
    tokio::task::yield_now().await;
    assert!(!dropped.load(Ordering::SeqCst));
    call.abort();
    until(&dropped).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_blocks_its_thread_is_given_up_in_time() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let blocks = async move {
        let _ = wait.recv();
        Ok(())
    };
    let limit = std::time::Duration::from_millis(1);
    assert_eq!(guarded(limit, blocks).await, Err(Fault::Timeout { after: limit }));
    drop(release);
}

#[test]
fn without_a_runtime_nothing_runs() {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut call = Box::pin(guarded(secs(1), async { Ok(()) }));
    match call.as_mut().poll(&mut context) {
        std::task::Poll::Ready(Err(fault)) => assert_eq!(fault.class(), FaultClass::Unreachable),
        other => panic!("{other:?}"),
    }
}
