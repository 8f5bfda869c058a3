//! The HTML page: content that needs no script is rendered here, the rest is data for the script.

use std::borrow::Cow;
use std::io;

use askama::Template;
use omen::render::human::clean;
use omen::validator::Summary;
use omen_types::Instant;
use serde::Serialize;

use super::calls::{Calls, LogEntry};
use super::coverage::RuleRow;
use super::gather::{FindingRow, Gather, Log, OmittedCounts, PacketRow};
use super::tables::Tables;
use super::texts::grouped;
use super::{digest, embed, script};

/// Values shown by the template.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page<'g> {
    pub(super) verdict: Verdict,
    version: &'static str,
    stated: CommandFacts<'g>,
    total: Summary,
    logs: &'g [Log],
    left: OmittedCounts,
    rules: Vec<RuleRow>,
    files: Vec<File>,
    policy: String,
    calls: Option<&'g Calls>,
    data: Data<'g>,
    style: String,
    style_source: String,
    script: String,
    script_source: String,
    json: String,
}

/// Facts from the command line that the report repeats.
#[derive(Debug)]
pub(super) struct CommandFacts<'a> {
    pub(super) title: Option<Cow<'a, str>>,
    pub(super) now: Option<Instant>,
    /// Changed severities, as command-line options.
    pub(super) levels: Vec<String>,
}

/// Verdict at the top of the page.
#[derive(Debug)]
pub(super) struct Verdict {
    /// `good`, `warned` or `bad`.
    tone: &'static str,
    word: String,
    detail: String,
}

impl Verdict {
    /// Computes the verdict: the worst state of anything on the page.
    fn new(gather: &Gather, total: &Summary, calls: Option<&Calls>) -> Self {
        let Summary { packets, rejected, episodes, errors, warnings, .. } = *total;
        let unsound =
            calls.filter(|calls| !calls.is_sound()).map(|calls| format!("audit log {}", calls.verdict.verdict));
        let concerns = calls.map(Calls::concerns).unwrap_or_default();
        let (tone, word) = match (errors, gather.is_complete(), &unsound) {
            (1.., _, None) => ("bad", "Errors found".to_owned()),
            (1.., _, Some(unsound)) => ("bad", format!("Errors found, {unsound}")),
            (0, _, Some(unsound)) => ("bad", capitalized(unsound)),
            (0, false, None) => ("bad", "Not read to the end".to_owned()),
            (0, true, None) if warnings > 0 => ("warned", "No errors, with warnings".to_owned()),
            (0, true, None) => match concerns.first() {
                Some(first) => ("warned", format!("No errors, {first}")),
                None => ("good", "No errors".to_owned()),
            },
        };
        let detail = if errors > 0 {
            // Lines that name no episode share a placeholder, which does not count as an episode.
            let is_named = |number: &&usize| gather.episodes.get(**number).is_some_and(|(_, id)| id.is_some());
            let faulty = gather.faulty.iter().filter(is_named).count() as u64;
            let place = if faulty == 0 { String::new() } else { format!(", errors in {}", count(faulty, "episode")) };
            format!("{} of {} rejected{place}", grouped(rejected), count(packets, "packet"))
        } else {
            format!("{} in {}, {}", count(packets, "packet"), count(episodes, "episode"), count(warnings, "warning"))
        };
        let audit = calls.filter(|calls| !calls.is_sound()).map(|calls| format!("audit log {}", calls.verdict.message));
        let detail = [vec![detail], audit.into_iter().collect(), concerns].concat().join("; ");
        Self { tone, word, detail }
    }

    /// Returns the page's icon as a data URL: a mark in the colour of the verdict.
    fn icon(&self) -> String {
        let (colour, mark) = match self.tone {
            "bad" => ("b3261e", "M5 5l6 6M11 5l-6 6"),
            "warned" => ("8a5300", "M8 4v5M8 11v1"),
            _ => ("1c6b3c", "M4 8l3 3 5-6"),
        };
        format!(
            "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
             %3Ccircle cx='8' cy='8' r='8' fill='%23{colour}'/%3E\
             %3Cpath d='{mark}' stroke='%23fff' stroke-width='2' fill='none'/%3E%3C/svg%3E"
        )
    }

    /// Returns the verdict in one line.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.word.to_lowercase(), self.detail)
    }
}

/// Data for the script.
#[derive(Debug, Serialize)]
struct Data<'g> {
    tables: Tables,
    logs: Vec<&'g str>,
    episodes: &'g [(usize, Option<String>)],
    packets: &'g [PacketRow],
    findings: &'g [FindingRow],
    pieces: Vec<&'g str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<&'g [LogEntry]>,
}

impl<'g> Page<'g> {
    pub(super) fn new(gather: &'g Gather, calls: Option<&'g Calls>, stated: CommandFacts<'g>) -> Self {
        let total = gather.total();
        let files = schema_files();
        let (script, style) = (script::joined(), script::style());
        Self {
            verdict: Verdict::new(gather, &total, calls),
            version: env!("CARGO_PKG_VERSION"),
            stated,
            total,
            logs: &gather.logs,
            left: gather.left,
            rules: gather.coverage.rows(),
            policy: total_hash(&files),
            files,
            calls,
            data: Data {
                tables: Tables::new(),
                logs: gather.logs.iter().map(|log| log.name.as_str()).collect(),
                episodes: &gather.episodes,
                packets: &gather.packets,
                findings: &gather.findings,
                pieces: gather.texts.pieces.iter().map(|piece| &**piece).collect(),
                calls: calls.map(|calls| calls.entries.as_slice()),
            },
            style_source: digest::source(&style),
            style,
            script_source: digest::source(&script),
            script,
            json: String::new(),
        }
    }

    /// Writes the whole page.
    pub(super) fn write(mut self, out: &mut impl io::Write) -> io::Result<()> {
        self.json = embed::json(&self.data)?;
        self.write_into(out)
    }

    /// Returns the findings shown where scripts do not run, errors first.
    fn first_findings(&self) -> Vec<&FindingRow> {
        let errors = self.data.findings.iter().filter(|finding| finding.is_error());
        let warnings = self.data.findings.iter().filter(|finding| !finding.is_error());
        errors.chain(warnings).take(FIRST).collect()
    }

    fn episode_of(&self, finding: &FindingRow) -> String {
        let id = self.data.episodes.get(finding.episode).and_then(|(_, id)| id.as_deref());
        clean(id.unwrap_or("–")).into_owned()
    }

    /// Returns whether the report shows less than was checked.
    fn leaves_out(&self) -> bool {
        let OmittedCounts { packets, texts, findings } = self.left;
        packets + texts + findings + self.calls.map_or(0, |calls| calls.left) > 0
    }

    fn log_of(&self, finding: &FindingRow) -> String {
        let log = self.data.episodes.get(finding.episode).and_then(|(log, _)| self.data.logs.get(*log));
        clean(log.copied().unwrap_or("–")).into_owned()
    }

    fn idle_rules(&self) -> impl Iterator<Item = &RuleRow> {
        self.rules.iter().filter(|rule| rule.is_idle())
    }
}

/// Capitalizes the first letter of a text.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Maximum number of findings shown where scripts do not run.
const FIRST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let numbers: [(u64, &str); 5] =
            [(0, "0"), (999, "999"), (1000, "1,000"), (12345, "12,345"), (1_000_000, "1,000,000")];
        numbers.into_iter().for_each(|(number, text)| assert_eq!(grouped(number), text));
    }
}

/// A schema file and its hash.
#[derive(Debug)]
struct File {
    path: &'static str,
    sha256: String,
}

/// Returns the schema files with which the logs were checked.
fn schema_files() -> Vec<File> {
    omen_schema::FILES.iter().map(|(path, text)| File { path, sha256: digest::sha256(text.as_bytes()) }).collect()
}

/// Returns a single hash for all files: that of the list that `sha256sum` prints for them.
fn total_hash(files: &[File]) -> String {
    let list: String = files.iter().map(|File { path, sha256 }| format!("{sha256}  {path}\n")).collect();
    digest::sha256(list.as_bytes())
}
