//! After the log has failed, every step fails until the episode is resumed from the log.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::acting;

tool!(Get = "config.get", Read);

/// A file whose fourth write fails: either half of it is written, or all of it and not flushed.
#[derive(Clone)]
struct Failing {
    file: Arc<Mutex<Vec<u8>>>,
    writes: u32,
    half: bool,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        let fails = self.writes == 4 && self.half;
        let written = if fails { &bytes[..bytes.len() / 2] } else { bytes };
        self.file.lock().unwrap().extend_from_slice(written);
        if fails { Err(io::Error::other("disk full")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.writes == 4 && !self.half { Err(io::Error::other("disk full")) } else { Ok(()) }
    }
}

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

type Failed = Refused<Decide<Act>, [Order<ReadOnly>; 1]>;

/// Returns the refusal of a directive after the log has failed, and the content of the file.
fn failed(half: bool) -> (Failed, Arc<Mutex<Vec<u8>>>) {
    let file = Arc::default();
    let log = JsonLines(Failing { file: Arc::clone(&file), writes: 0, half });
    let refused =
        acting(setup("corr_a", Hands::new()).log(log), &envelope()).execute([read()]).expect_err("the disk is full");
    assert!(matches!(*refused.why, Refusal::Log(_)));
    (refused, file)
}

#[test]
fn a_step_is_not_tried_again_on_a_log_that_has_failed() {
    for half in [false, true] {
        let (refused, file) = failed(half);
        let held = file.lock().unwrap().len();
        assert!(refused.episode.trouble().is_some(), "the episode stands still");
        let again = refused.episode.execute(refused.given).expect_err("the log holds who knows what");
        assert!(matches!(*again.why, Refusal::Log(_)));
        assert_eq!(file.lock().unwrap().len(), held, "nothing was written behind it");
    }
}

#[test]
fn no_way_leads_on_from_a_log_that_has_failed() {
    let (refused, file) = failed(true);
    let held = file.lock().unwrap().len();
    let any = Halt::from(refused).episode;
    // Proposals fail,
    let proposal = r#"{"packet_type": "TaskDirectivePacket", "payload": {"task_id": "task_1",
        "task_type": "tool_read", "tool_safety_class": "READ",
        "execution_method": {"method": "tool", "tool_id": "config.get"}}}"#;
    let refused = any.propose(proposal).expect_err("the log has failed");
    assert!(matches!(*refused.why, Refusal::Log(_)));
    // and so do alerts and the emergency halt, which are legal everywhere,
    let order = Layer1::assume().order(text!("go on"));
    let alerted = refused.episode.alert(Alert::info(AlertType::Drift, text!("hello")));
    let episode = alerted.halt(text!("stop")).into_any().halt(text!("stop")).clear(order);
    // and the close.
    assert!(episode.close().is_err());
    assert_eq!(file.lock().unwrap().len(), held);
}

#[test]
fn the_log_leads_on_with_what_it_holds() {
    let (refused, file) = failed(false);
    drop(refused);
    let text = String::from_utf8(file.lock().unwrap().clone()).unwrap();
    let resumed = AnyEpisode::resume(setup("corr_a", Hands::new()), text.lines()).unwrap();
    // The directive was written after all, so its result is due.
    let AnyEpisode::ExecuteOpen(episode) = resumed else { panic!("{resumed:?}") };
    let results = episode.tasks().into_iter().map(|task| task.success(1));
    let episode = episode.settle(results).unwrap().all_settled().unwrap();
    let closed = episode.review(Belief::new("a", "b", 1)).close().unwrap();
    let log = format!("{text}{}\n", closed.lines().join("\n"));
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(log.as_bytes(), &mut findings);
    let Ok(_) = validator.finish(&mut findings);
    let errors = findings.iter().filter(|finding| finding.diagnostic.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{findings:?}");
}
