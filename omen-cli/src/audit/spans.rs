//! `omen audit spans`: converts the calls of a log to spans of OpenTelemetry.

mod otlp;
mod send;
mod span;

use std::io::Write as _;
use std::time::Duration;

use omen_gate::audit::store::log_of;
use omen_gate::audit::{Follow, Logged, read_log};
use serde_json::Value;

use self::send::Collector;
use self::span::Spans;
use crate::args::AuditSpansArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn spans(args: &AuditSpansArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(key) = super::key(&args.key) else { return Ok(Exit::Unreadable) };
    let log = log_of(&args.log);
    let mut export = Export { collector: args.endpoint.as_deref().map(Collector::new), ..Export::default() };
    let found = match read_log(&log, &key, None, &mut |entry| export.entry(entry, out)) {
        Ok(found) => found,
        Err(error) => {
            complain(format_args!("{error}; {}", error.help()));
            return Ok(Exit::Unreadable);
        }
    };
    if !export.flush(out)? {
        return Ok(Exit::Unreadable);
    }
    let Some(mut follow) = args.follow.then(|| Follow::after(&log, &found)).flatten() else {
        return Ok(super::reported(&args.log, &found));
    };
    loop {
        if let Err(error) = follow.more(&key, &mut |entry| export.entry(entry, out)) {
            complain(format_args!("{error}; {}", error.help()));
            return Ok(Exit::ErrorsFound);
        }
        if !export.flush(out)? {
            return Ok(Exit::Unreadable);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Destination of the spans.
#[derive(Default)]
struct Export {
    spans: Spans,
    ready: Vec<Value>,
    collector: Option<Collector>,
    /// Error while the log was read. Nothing is sent after it.
    failed: Option<Failed>,
}

enum Failed {
    Output(Failure),
    Collector(String),
}

impl Export {
    fn entry(&mut self, entry: Logged<'_>, out: &mut Output) {
        self.ready.extend(self.spans.take(entry));
        if self.ready.len() >= BATCH && self.failed.is_none() {
            self.failed = self.write(out).err();
        }
    }

    fn write(&mut self, out: &mut Output) -> Result<(), Failed> {
        let spans = std::mem::take(&mut self.ready);
        if spans.is_empty() {
            return Ok(());
        }
        let request = otlp::request(spans);
        match &self.collector {
            Some(collector) => collector.send(&request).map_err(Failed::Collector),
            None => writeln!(out, "{request}").map_err(|error| Failed::Output(error.into())),
        }
    }

    /// Writes the finished spans. Returns `false` if a collector refuses them, which is reported.
    fn flush(&mut self, out: &mut Output) -> Result<bool, Failure> {
        let written = match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.write(out),
        };
        match written {
            Ok(()) => {
                out.flush()?;
                Ok(true)
            }
            Err(Failed::Output(failure)) => Err(failure),
            Err(Failed::Collector(why)) => {
                complain(format_args!("{why}"));
                Ok(false)
            }
        }
    }
}

/// Maximum number of spans in a request.
const BATCH: usize = 512;

/// Interval between reads of a log that is followed.
const PAUSE: Duration = Duration::from_millis(200);
