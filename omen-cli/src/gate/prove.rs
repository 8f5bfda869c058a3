//! `omen gate prove`: decides whether a configuration allows calls that another one refuses.

use std::io::{self, Write as _};

use omen::render::human::clean;
use omen_gate::config::PolicyHash;
use omen_gate::prove::{Proof, ProvenDifference, ProvenStep, StepEnd, UndecidedTool, never, prove};
use serde::Serialize;
use serde_json::Value;

use super::config;
use crate::args::{FileFormat, GateProveArgs};
use crate::exit::{Exit, Failure};
use crate::formats::{FileFinding, FindingKind, sarif_document};
use crate::output::Output;

pub(crate) fn run(args: &GateProveArgs, out: &mut Output) -> Result<Exit, Failure> {
    let new = config::load(&args.new);
    let old = match (&args.never, &args.old, &new) {
        (Some(call), _, Ok(new)) => {
            let with = never(new, call, args.unless_after.as_deref());
            Ok(with.map_err(|why| Failure::Usage(format!("--never: {why}")))?)
        }
        (_, Some(old), _) => config::load(old),
        _ => Err(Failure::Unreadable),
    };
    let (old, new) = (old?, new?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let proof = runtime.map_err(Failure::from)?.block_on(prove(&old, &new));
    let report = ProveReport::new(args, (old.hash(), new.hash()), &proof);
    match args.format {
        FileFormat::Human => report.human(out)?,
        FileFormat::Json => out.json(&report)?,
        FileFormat::Sarif => sarif_document(out, &args.new, &KINDS, &report.findings())?,
    }
    out.flush()?;
    Ok(report.exit())
}

/// Result of the comparison, for people and for programs.
#[derive(Serialize)]
struct ProveReport<'p> {
    old: PolicyHash,
    new: PolicyHash,
    /// Calls that the new configuration must never allow; given instead of an old configuration.
    never: Option<&'p str>,
    /// Number of compared tools; the others have equal rules in both configurations.
    compared: usize,
    /// Number of states that the search visited.
    states: usize,
    differences: Vec<DifferenceRow<'p>>,
    outside: Vec<OutsideRow<'p>>,
    notes: &'p [String],
}

#[derive(Serialize)]
struct DifferenceRow<'p> {
    tool: String,
    /// Path of the order rule in the old configuration that refuses the last call; `null` if the cause is another one, such as
    /// the rate or the arguments, which `why` states.
    rule: Option<&'p str>,
    why: &'p str,
    /// Time of the first call (RFC 3339), if the time of day matters; else `null`.
    start: Option<&'p str>,
    steps: Vec<StepRow<'p>>,
    /// Session that ends after the calls, if the only difference is a debt that only the old configuration reports; else `null`.
    ended_session: Option<usize>,
    /// Decision of an actual gate that contradicts the search, which would be a bug; otherwise `null`.
    disagreement: Option<&'p str>,
}

#[derive(Serialize)]
struct StepRow<'p> {
    tool: String,
    session: usize,
    turn: usize,
    /// Time in milliseconds since the previous call.
    pause_ms: u64,
    args: &'p Value,
    /// Whether a human must confirm the call; `false` for a refused call.
    confirmed: bool,
    /// Outcome of the call; `null` for the last one, for which only the verdict matters.
    outcome: Option<&'static str>,
    answer: Option<&'p Value>,
}

#[derive(Serialize)]
struct OutsideRow<'p> {
    tool: String,
    rule: Option<&'p str>,
    why: &'p str,
}

impl<'p> ProveReport<'p> {
    fn new(args: &'p GateProveArgs, (old, new): (PolicyHash, PolicyHash), proof: &'p Proof) -> Self {
        Self {
            old,
            new,
            never: args.never.as_deref(),
            compared: proof.searched,
            states: proof.states,
            differences: proof.differences.iter().map(DifferenceRow::new).collect(),
            outside: proof.outside.iter().map(OutsideRow::new).collect(),
            notes: &proof.notes,
        }
    }

    fn exit(&self) -> Exit {
        let is_wrong = self.differences.iter().any(|difference| difference.disagreement.is_some());
        match (is_wrong, self.differences.is_empty(), self.outside.is_empty()) {
            (true, ..) | (_, true, false) => Exit::Unreadable,
            (_, false, _) => Exit::ErrorsFound,
            _ => Exit::Clean,
        }
    }

    fn human(&self, out: &mut Output) -> io::Result<()> {
        for difference in &self.differences {
            writeln!(out, "{}", clean(&self.headline(difference)))?;
            for line in difference.lines() {
                writeln!(out, "  {}", clean(&line))?;
            }
            if let Some(bug) = difference.bug() {
                writeln!(out, "  = bug: {}", clean(&bug))?;
            }
        }
        for outside in &self.outside {
            writeln!(out, "not decided: {}", clean(&outside.text()))?;
        }
        for note in self.notes {
            writeln!(out, "note: {}", clean(note))?;
        }
        let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        writeln!(
            out,
            "{} compared: {}, {} not decided",
            count(self.compared, "tool"),
            count(self.differences.len(), "difference"),
            self.outside.len()
        )
    }

    fn headline(&self, difference: &DifferenceRow<'_>) -> String {
        let DifferenceRow { tool, why, .. } = difference;
        match self.never {
            _ if difference.ended_session.is_some() => {
                format!("only the old configuration reports a debt of `{tool}` by the end of the session; {why}:")
            }
            Some(call) => format!("`{tool}` can be called despite `--never '{call}'`:"),
            None => format!("only the new configuration allows this call of `{tool}`; in the old one, {why}:"),
        }
    }

    /// Returns the findings about the new configuration.
    fn findings(&self) -> Vec<FileFinding<'_>> {
        let finding = |kind, level, text| FileFinding { kind, level, text, place: None };
        let mut findings = Vec::new();
        for difference in &self.differences {
            let lines = difference.lines().join("\n");
            findings.push(finding(DIFFERENCE.0, "error", format!("{}\n{lines}", self.headline(difference))));
            findings.extend(difference.bug().map(|bug| finding(BUG.0, "error", bug)));
        }
        findings.extend(self.outside.iter().map(|outside| finding(NOT_DECIDED.0, "warning", outside.text())));
        findings.extend(self.notes.iter().map(|note| finding(NOTE.0, "note", note.clone())));
        findings
    }
}

const DIFFERENCE: FindingKind = (
    "prove/difference",
    "The new configuration allows a call that the old one refuses, or does not report a debt that the old one reports.",
);
const BUG: FindingKind = ("prove/bug", "A gate disagrees with the search about a difference, which is a bug.");
const NOTE: FindingKind = ("prove/note", "A setting that affects calls is not part of the comparison.");
const NOT_DECIDED: FindingKind =
    ("prove/not-decided", "The search did not decide whether the new configuration allows more calls of this tool.");
const KINDS: [FindingKind; 4] = [DIFFERENCE, BUG, NOTE, NOT_DECIDED];

impl<'p> DifferenceRow<'p> {
    fn new(difference: &'p ProvenDifference) -> Self {
        let ProvenDifference { tool, start, steps, ended_session, why, path, confirmed, disagreement, .. } = difference;
        // Only the verdict of the last call matters, unless a session ends after it.
        let last = if ended_session.is_some() { steps.len() } else { steps.len().saturating_sub(1) };
        let rows = steps.iter().zip(confirmed).enumerate();
        let rows = rows.map(|(index, (step, confirmed))| StepRow::new(step, *confirmed, index == last));
        Self {
            tool: tool.to_string(),
            rule: Some(path.as_str()).filter(|path| !path.is_empty()),
            why,
            start: start.as_deref(),
            steps: rows.collect(),
            ended_session: *ended_session,
            disagreement: disagreement.as_deref(),
        }
    }

    fn bug(&self) -> Option<String> {
        self.disagreement.map(|why| format!("a gate disagrees with the search: {why}"))
    }

    /// Describes the calls, one line per call.
    fn lines(&self) -> Vec<String> {
        let is_one_session = self.steps.iter().all(|step| step.session == 0);
        let line = |(number, step): (usize, &StepRow<'_>)| {
            let pause = match (step.pause_ms, self.start.filter(|_| number == 1)) {
                (_, Some(start)) => format!("at {start}: "),
                (0, _) => String::new(),
                (ms, _) => format!("after {}: ", omen_gate::prove::shown(ms)),
            };
            let session = if is_one_session { String::new() } else { format!("session {}: ", step.session + 1) };
            let confirmed = if step.confirmed { ", confirmed by a human" } else { "" };
            let outcome = match (step.outcome, step.answer) {
                (None, _) => "allowed".to_owned(),
                (Some(outcome), Some(answer)) => format!("{outcome}, answer {answer}"),
                (Some(outcome), None) => outcome.to_owned(),
            };
            format!("{number}. {session}{pause}{} {}{confirmed}: {outcome}", step.tool, step.args)
        };
        let end = self.ended_session.map(|session| {
            let session = if is_one_session { "the session".to_owned() } else { format!("session {}", session + 1) };
            format!("{}. {session} ends", self.steps.len() + 1)
        });
        (1..).zip(&self.steps).map(line).chain(end).collect()
    }
}

impl<'p> StepRow<'p> {
    fn new(step: &'p ProvenStep, confirmed: bool, is_last: bool) -> Self {
        let (outcome, answer) = match &step.end {
            StepEnd::Ok(answer) => ("ok", Some(answer)),
            StepEnd::Failed => ("failed", None),
            StepEnd::MayHaveRun => ("may have run", None),
            StepEnd::DidNotRun => ("did not run", None),
            StepEnd::Refused => ("refused", None),
        };
        Self {
            tool: step.tool.to_string(),
            session: step.session,
            turn: step.turn,
            pause_ms: step.pause_ms,
            args: &step.args,
            confirmed,
            outcome: (!is_last).then_some(outcome),
            answer: answer.filter(|answer| !is_last && answer.as_object().is_some_and(|members| !members.is_empty())),
        }
    }
}

impl<'p> OutsideRow<'p> {
    fn new(outside: &'p UndecidedTool) -> Self {
        let rule = Some(outside.path.as_str()).filter(|path| !path.is_empty());
        Self { tool: outside.tool.to_string(), rule, why: &outside.why }
    }

    fn text(&self) -> String {
        let rule = self.rule.map(|rule| format!(", `{rule}`")).unwrap_or_default();
        format!("`{}`{rule}: {}", self.tool, self.why)
    }
}
