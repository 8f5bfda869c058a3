//! `omen explain`: the long text of a code; for a code of packets, with a refused and a fixed example.

use std::io::Write as _;

use omen::finding::Finding;
use omen::render::human::{Human, wrap};
use omen::validator::{Sink, Validator, ValidatorOptions};
use omen_fsm::{Event, Node, REFUSALS, Refusal, SENDERS, SenderInfo};
use omen_types::{Code, Severity, parse};
use serde::Deserialize;

use super::args::AnyCode;
use super::output::Output;
use super::{Failure, Outcome};

pub(crate) fn run(code: AnyCode, out: &mut Output) -> Result<Outcome, Failure> {
    match code {
        AnyCode::Packet(code) => packet(code, out)?,
        AnyCode::Gate(code) => gate(code, out)?,
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

fn gate(code: omen_gate::GateCode, out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "{code}: {}\n", code.title())?;
    facts(out, [("stage", "gate".to_owned()), ("source", code.source().to_owned())])?;
    [("Rule", code.statement()), ("Why", code.rationale()), ("Help", code.help())]
        .into_iter()
        .try_for_each(|(heading, text)| section(out, heading, text))
}

fn packet(code: Code, out: &mut Output) -> Result<(), Failure> {
    let info = code.info();
    writeln!(out, "{code}: {}\n", info.title)?;
    let mut known = vec![("stage", info.stage.to_owned()), ("severity", info.severity.to_owned())];
    if !info.policy.is_empty() {
        known.push(("policy", info.policy.join(", ")));
    }
    if let Some(shared) = info.shared_with {
        known.push(("shared with", shared.to_string()));
    }
    known.push(("source", info.source.to_owned()));
    facts(out, known)?;
    let texts = [
        ("When", info.condition),
        ("Rule", info.statement),
        ("Why", info.rationale),
        ("If broken", info.failure),
        ("Help", info.help),
    ];
    for (heading, text) in texts {
        section(out, heading, text)?;
    }
    let mut refused = REFUSALS.iter().filter(|refusal| refusal.code == code).peekable();
    if refused.peek().is_some() {
        writeln!(out, "\nRefuses")?;
    }
    for refusal in refused {
        writeln!(out, "  - {}", wrap(&steps(refusal), WIDTH - 4).replace('\n', "\n    "))?;
    }
    if code == Code::Layer {
        writeln!(out, "\nWho sends what")?;
        for sender in SENDERS {
            writeln!(out, "  - {}", wrap(&sends(sender), WIDTH - 4).replace('\n', "\n    "))?;
        }
    }
    if let Some(example) = Example::of(code)? {
        example.print(code, out)?;
    }
    Ok(())
}

/// What an entry of the list refuses that gives each step its code: where, what, and why.
fn steps(refusal: &Refusal) -> String {
    let states = match Node::ALL.iter().all(|node| refusal.within.contains(*node)) {
        true => "every state".to_owned(),
        false => refusal.within.to_string(),
    };
    let every = Event::ALL.iter().all(|event| event.packet_type().is_none() || refusal.events.contains(event));
    let events = match every {
        true => "every packet".to_owned(),
        false => refusal.events.iter().map(|event| event.description()).collect::<Vec<_>>().join(", "),
    };
    let row = if refusal.without_row { " for which the table has no row" } else { "" };
    let who = if refusal.typed { " (typed API only)" } else { "" };
    format!("in {states}, {events}{row}{who}: {}", refusal.description)
}

/// A layer, what it sends, and what it is.
fn sends(sender: &SenderInfo) -> String {
    let packets: Vec<_> = sender.sends.iter().map(|packet| packet.as_str()).collect();
    format!("{}: {}. {}", sender.name(), packets.join(", "), sender.description)
}

fn facts(out: &mut Output, known: impl IntoIterator<Item = (&'static str, String)>) -> Result<(), Failure> {
    for (name, value) in known {
        writeln!(out, "  {name:<12} {}", wrap(&value, WIDTH - 15).replace('\n', "\n               "))?;
    }
    Ok(())
}

fn section(out: &mut Output, heading: &str, text: &str) -> Result<(), Failure> {
    writeln!(out, "\n{heading}\n  {}", wrap(text, WIDTH - 2).replace('\n', "\n  "))?;
    Ok(())
}

/// A log that breaks a rule, and its neighbour that does not.
struct Example {
    path: String,
    log: &'static str,
    expect: Expect,
}

/// What stands beside an example: `<name>.expect.json`.
#[derive(Deserialize)]
struct Expect {
    about: String,
    fixed: Option<String>,
    findings: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    code: String,
    #[serde(default)]
    also: Vec<String>,
}

impl Expect {
    /// How well this example shows a code: 2 if a finding carries it alone or before others, 1 if
    /// among others, 0 if not at all.
    fn shows(&self, code: Code) -> usize {
        let shows = |finding: &Expected| match code.as_str() {
            code if finding.code == code => 2,
            code if finding.also.iter().any(|also| also == code) => 1,
            _ => 0,
        };
        self.findings.iter().map(shows).max().unwrap_or_default()
    }
}

impl Example {
    /// The first of those that show a code best: one that is named after it, if there is one.
    fn of(code: Code) -> Result<Option<Self>, Failure> {
        let named = format!("{}-", code.as_str().to_ascii_lowercase());
        let mut best: Option<((bool, usize), Self)> = None;
        for (path, text) in omen_schema::EXAMPLES {
            let Some(stem) = path.strip_suffix(".expect.json") else { continue };
            let expect: Expect = serde_json::from_str(text).map_err(|error| broken(path, error))?;
            let shows = expect.shows(code);
            let rank = (stem.rsplit('/').next().is_some_and(|name| name.starts_with(&named)), shows);
            if shows > 0 && best.as_ref().is_none_or(|(best, _)| rank > *best) {
                let path = format!("{stem}.jsonl");
                let log = omen_schema::example(&path).ok_or_else(|| broken(&path, "it is missing"))?;
                best = Some((rank, Self { path, log, expect }));
            }
        }
        Ok(best.map(|(_, example)| example))
    }

    fn print(&self, code: Code, out: &mut Output) -> Result<(), Failure> {
        let mut found = Found { code, best: None };
        let mut validator = Validator::new(ValidatorOptions::default());
        validator.feed(self.log.as_bytes(), &mut found);
        validator.finish(&mut found);
        let Some((finding, line)) = found.best else {
            return Err(broken(&self.path, format_args!("it does not give {code}")));
        };
        let heading = match finding.diagnostic.severity {
            Severity::Error => "Refused",
            Severity::Warning => "Warned of",
        };
        section(out, heading, &self.expect.about)?;
        let file = format!("{FOLDER}{}", self.path);
        let text = out.human().finding(&file, &finding, line.as_deref());
        write!(out, "\n{text}")?;

        let Some(fixed) = &self.expect.fixed else { return Ok(()) };
        let log = omen_schema::example(fixed).ok_or_else(|| broken(fixed, "it is missing"))?;
        let file = format!("{FOLDER}{fixed}");
        section(out, "Fixed", &file)?;
        if let Some(text) = same_place(log, &finding, out.human(), &file) {
            write!(out, "\n{text}")?;
        }
        Ok(())
    }
}

fn broken(path: &str, what: impl std::fmt::Display) -> Failure {
    Failure::Internal(format!("example {path}: {what}"))
}

/// How the place of a finding looks in the fixed log: in the packet of the same id, or of the id
/// that a refused attempt (`…_try`) had next.
fn same_place(log: &str, finding: &Finding, human: &Human, file: &str) -> Option<String> {
    let id = finding.packet_id.as_deref()?;
    let id = id.strip_suffix("_try").unwrap_or(id);
    let has_id = |line: &str| {
        let span = parse::locate(line, "/header/packet_id")?;
        Some(line.get(span)?.trim_matches('"') == id)
    };
    let (line, number) = log.lines().zip(1..).find(|(line, _)| has_id(line) == Some(true))?;
    let span = parse::locate(line, finding.diagnostic.pointer.as_deref().unwrap_or("/header/packet_id"))?;
    Some(human.place(&format!("{file}:{number}"), number, line, &span, "accepted here"))
}

/// Keeps the finding that shows a code best.
struct Found {
    code: Code,
    /// The first one that refuses, or else that warns: an overrun is warned of before it is refused.
    best: Option<(Finding, Option<String>)>,
}

impl Sink for Found {
    fn finding(&mut self, finding: Finding, line: Option<&str>) {
        let diagnostic = &finding.diagnostic;
        let is_better = match &self.best {
            None => true,
            Some((best, _)) => best.diagnostic.severity == Severity::Warning && diagnostic.severity == Severity::Error,
        };
        if is_better && (diagnostic.code == self.code || diagnostic.also.contains(&self.code)) {
            self.best = Some((finding, line.map(str::to_owned)));
        }
    }
}

/// Columns of the texts.
const WIDTH: usize = 98;

/// Where the examples stand in the repository.
const FOLDER: &str = "schema/examples/";
