//! `[[ignore]]` entries of `omen.toml`: omission of findings, and notes on outdated entries.

use std::borrow::Cow;
use std::path::Path;
use std::time::SystemTime;

use omen::finding::Finding;
use omen_types::Instant;

use crate::config::content::{Config, Ignore};
use crate::input::Wrapping;

/// The `[[ignore]]` entries of a configuration, with their use in this run.
#[derive(Debug)]
pub(super) struct Ignores<'c> {
    all: Vec<Use<'c>>,
    /// Name of the configuration file.
    file: &'c str,
    wrapping: Option<Wrapping>,
}

/// An entry and its use in this run.
#[derive(Debug)]
struct Use<'c> {
    ignore: &'c Ignore,
    has_ended: bool,
    /// Whether a log that the entry covers was read.
    is_tried: bool,
    is_used: bool,
}

impl<'c> Ignores<'c> {
    /// Prepares the entries of a configuration. Expiry dates are compared with `now`, or else with the system clock: unlike a
    /// rule, an entry is meant to change the verdict from some day on.
    pub(super) fn new(config: &'c Config, now: Option<Instant>, wrapping: Option<Wrapping>) -> Self {
        let now = now.unwrap_or_else(|| SystemTime::now().into()).to_string();
        let has_ended =
            |ignore: &Ignore| ignore.until.as_ref().is_some_and(|until| now.get(..until.len()) > Some(until));
        let all = config.ignores.iter().map(|ignore| Use {
            ignore,
            has_ended: has_ended(ignore),
            is_tried: false,
            is_used: false,
        });
        Self { all: all.collect(), file: &config.name, wrapping }
    }

    /// Returns whether all entries have expired, or there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.iter().all(|one| one.has_ended)
    }

    /// Records that a log was read to its end.
    pub(super) fn end(&mut self, path: &Path) {
        for one in &mut self.all {
            one.is_tried |= one.ignore.covers(path);
        }
    }

    /// Processes a finding, and returns whether an entry omits it.
    pub(super) fn has(&mut self, path: &Path, finding: &Finding, line: Option<&str>) -> bool {
        let wrapping = self.wrapping.as_ref();
        let tool = || {
            let line = line?;
            tool_of(&wrapping.and_then(|wrapping| wrapping.unwrap(line)).unwrap_or(Cow::Borrowed(line)))
        };
        let first = self.all.iter_mut().find(|one| !one.has_ended && one.ignore.has(path, finding, tool));
        first.map(|one| one.is_used = true).is_some()
    }

    /// Returns notes on expired entries and, if all checks ran, on entries that match no finding.
    pub(super) fn notes(&self, is_whole: bool) -> impl Iterator<Item = String> {
        self.all.iter().filter_map(move |one| {
            let place = format!("{}:{}:{}", self.file, one.ignore.line, one.ignore.column);
            match (&one.ignore.until, one.has_ended) {
                (Some(until), true) => Some(format!(
                    "note: {place}: this `[[ignore]]` expired on {until} ({}); fix the findings that it covers, or \
                     extend `until`",
                    one.ignore.reason
                )),
                _ if is_whole && one.is_tried && !one.is_used => {
                    Some(format!("note: {place}: this `[[ignore]]` matches no finding; remove it"))
                }
                _ => None,
            }
        })
    }
}

impl Ignore {
    /// Returns whether the entry can match findings of a log.
    fn covers(&self, log: &Path) -> bool {
        self.path.as_ref().is_none_or(|path| path.cover(log))
    }

    fn has(&self, log: &Path, finding: &Finding, tool_of: impl Fn() -> Option<String>) -> bool {
        self.code.is_none_or(|code| code == finding.diagnostic.code)
            && self.episode.as_ref().is_none_or(|episode| Some(episode) == finding.correlation_id.as_ref())
            && self.covers(log)
            && self.tool.as_ref().is_none_or(|tool| tool_of().as_ref() == Some(tool))
    }
}

/// Returns the tool that a directive names.
fn tool_of(packet: &str) -> Option<String> {
    let packet: serde_json::Value = serde_json::from_str(packet).ok()?;
    packet.pointer("/payload/execution_method/tool_id")?.as_str().map(str::to_owned)
}
