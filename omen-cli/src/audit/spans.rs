//! `omen audit spans`: converts the calls of a log to OpenTelemetry spans.

mod otlp;
mod span;

use std::io::Write as _;
use std::time::Duration;

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Follow, Logged, read_log};
use serde_json::Value;

use self::span::Spans;
use crate::args::AuditSpansArgs;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::output::Output;

pub(crate) fn spans(args: &AuditSpansArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = super::key(&args.key)?;
    let log = log_of(&args.log);
    let mut export = Export { collector: args.endpoint.as_deref().map(Collector::new), ..Export::default() };
    let found = read_log(&log, &key, None, &mut |entry| export.entry(entry, out))?;
    export.flush(out)?;
    let Some(mut follow) = args.follow.then(|| Follow::after(&log, &found)).flatten() else {
        return Ok(super::reported(&args.log, &found));
    };
    loop {
        if let Err(error) = follow.more(&key, &mut |entry| export.entry(entry, out)) {
            complain(format_args!("{error}; {}", error.help()));
            return Ok(Exit::ErrorsFound);
        }
        export.flush(out)?;
        std::thread::sleep(PAUSE);
    }
}

/// Destination of the spans.
#[derive(Default)]
struct Export {
    spans: Spans,
    ready: Vec<Value>,
    collector: Option<Collector>,
    /// First error while reading the log; nothing is sent after it.
    failed: Option<Failure>,
}

impl Export {
    fn entry(&mut self, entry: Logged<'_>, out: &mut Output) {
        self.ready.extend(self.spans.take(entry));
        if self.ready.len() >= BATCH && self.failed.is_none() {
            self.failed = self.write(out).err();
        }
    }

    fn write(&mut self, out: &mut Output) -> Result<(), Failure> {
        let spans = std::mem::take(&mut self.ready);
        if spans.is_empty() {
            return Ok(());
        }
        let request = otlp::request(spans);
        match &self.collector {
            Some(collector) => collector.send(&request).map_err(unreadable),
            None => Ok(writeln!(out, "{request}")?),
        }
    }

    /// Writes the finished spans, or returns an earlier error.
    fn flush(&mut self, out: &mut Output) -> Result<(), Failure> {
        match self.failed.take() {
            Some(failed) => return Err(failed),
            None => self.write(out)?,
        }
        Ok(out.flush()?)
    }
}

/// Maximum number of spans in a request.
const BATCH: usize = 512;

/// Interval between reads of a followed log.
const PAUSE: Duration = Duration::from_millis(200);

struct Collector {
    url: String,
    agent: ureq::Agent,
}

impl Collector {
    /// Creates a collector client for an endpoint, to which the path for spans is appended.
    fn new(endpoint: &str) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(LIMIT)).max_redirects(0).build();
        Self { url: format!("{}/v1/traces", endpoint.trim_end_matches('/')), agent: config.into() }
    }

    /// Sends a request. The error includes the remedy.
    fn send(&self, request: &Value) -> Result<(), String> {
        let sent = self.agent.post(&self.url).header("Content-Type", "application/json").send(request.to_string());
        let why = match sent {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => format!("it answers {}", answer.status()),
            Err(error) => error.to_string(),
        };
        Err(format!(
            "the collector at {} does not accept spans: {}; start one that listens for OTLP/HTTP there, and run this \
             command again",
            clean(&self.url),
            clean(&why)
        ))
    }
}

/// Timeout of a request.
const LIMIT: Duration = Duration::from_secs(10);
