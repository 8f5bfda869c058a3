//! Example logs, split by episode, with the validator's verdict on each line.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use omen::packet::CorrelationId;
use omen::validator::JudgedPacket;
use omen::*;
use serde_json::Value;

/// A line of an episode, and the codes of its errors.
pub(super) struct Judged {
    pub(super) text: String,
    pub(super) errors: Vec<Code>,
}

/// Returns the episodes of an example in which every line names its episode.
pub(super) fn episodes(log: &str) -> Vec<(String, Vec<Judged>)> {
    let mut episodes: Vec<(String, Vec<Judged>)> = Vec::new();
    let verdicts = verdicts(log);
    for (text, errors) in log.lines().filter(|line| !line.trim().is_empty()).zip(verdicts) {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let Some(id) = value["header"]["correlation_id"].as_str() else { return Vec::new() };
        if id.parse::<CorrelationId>().is_err() {
            return Vec::new();
        }
        let line = Judged { text: text.to_owned(), errors };
        match episodes.iter_mut().find(|(known, _)| known == id) {
            Some((_, lines)) => lines.push(line),
            None => episodes.push((id.to_owned(), vec![line])),
        }
    }
    episodes
}

/// Returns the codes of each line's errors.
fn verdicts(log: &str) -> Vec<Vec<Code>> {
    #[derive(Default)]
    struct Lines {
        pending: Vec<Code>,
        all: Vec<Vec<Code>>,
    }
    impl Sink for Lines {
        type Error = Infallible;

        fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
            if finding.packet_index.is_some() && finding.diagnostic.severity == Severity::Error {
                self.pending.push(finding.diagnostic.code);
            }
            Ok(())
        }

        fn packet(&mut self, _: &JudgedPacket<'_>) -> Result<(), Infallible> {
            let errors = std::mem::take(&mut self.pending);
            self.all.push(errors);
            Ok(())
        }
    }
    let mut lines = Lines::default();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(log.as_bytes(), &mut lines);
    let Ok(_) = validator.finish(&mut lines);
    lines.all
}

/// Returns all example logs, by path.
pub(super) fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    omen_schema::EXAMPLES.iter().copied().filter(|(path, _)| path.ends_with(".jsonl"))
}

/// A clock that tests set.
#[derive(Clone)]
pub(super) struct Hands(Arc<Mutex<Instant>>);

impl Hands {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new("2026-03-01T10:00:00Z".parse().unwrap())))
    }

    pub(super) fn set(&self, to: Instant) {
        *self.0.lock().unwrap() = to;
    }

    pub(super) fn pass(&self, seconds: u64) {
        let mut now = self.0.lock().unwrap();
        *now = now.plus_seconds(seconds);
    }
}

impl TimeSource for Hands {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap()
    }
}

/// Returns a simple envelope with low stakes.
pub(super) fn envelope() -> Envelope<LowStakes, Par, ToolsOk> {
    omen::facts::OpenEnvelope {
        intent: Intent::new(text!("look after the pool"), text!("database orders")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the pool is healthy"), ["pool.ok"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 3, seconds: 600, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read from the live configuration")),
        evidence: Evidence::tool_output(text!("config.get#1"), "2026-03-01T09:59:00Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal()
}

pub(super) fn setup(id: &str, clock: Hands) -> Setup {
    // Tests run concurrently, and each has its own log.
    Setup::new(id.parse::<CorrelationId>().unwrap(), &envelope(), clock).claims(&Claims::new())
}
