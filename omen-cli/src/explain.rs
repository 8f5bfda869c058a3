//! `omen explain`: the full text of a code, and for a code of packets a rejected and a fixed example.

use std::convert::Infallible;
use std::io::Write as _;

use omen::finding::Finding;
use omen::render::human::Human;
use omen::validator::{Sink, Validator, ValidatorOptions};
use omen_fsm::{Event, Node, REFUSALS, RefusalInfo, SENDERS, SenderInfo};
use omen_types::{Code, Severity, parse};

use crate::args::AnyCode;
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(code: AnyCode, out: &mut Output) -> Result<Exit, Failure> {
    match code {
        AnyCode::Packet(code) => packet(code, out)?,
        AnyCode::Gate(code) => gate(code, out)?,
    }
    out.flush()?;
    Ok(Exit::Clean)
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
    let mut known = vec![("stage", info.stage.to_string()), ("severity", info.severity.to_owned())];
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
    let mut refusals = REFUSALS.iter().filter(|refusal| refusal.code == code).peekable();
    if refusals.peek().is_some() {
        writeln!(out, "\nRefuses")?;
    }
    for refusal in refusals {
        writeln!(out, "{}", wrap(&refused(refusal), "  - ", "    "))?;
    }
    if code == Code::Layer {
        writeln!(out, "\nSenders")?;
        for sender in SENDERS {
            writeln!(out, "{}", wrap(&sends(sender), "  - ", "    "))?;
        }
    }
    if let Some(example) = EXAMPLES.iter().find(|example| example.code == code.as_str()) {
        example.print(code, out)?;
    }
    Ok(())
}

/// Describes a refusal of the state machine: in which states, which packets, and why.
fn refused(refusal: &RefusalInfo) -> String {
    let states = match Node::ALL.iter().all(|node| refusal.within.contains(*node)) {
        true => "every state".to_owned(),
        false => refusal.within.to_string(),
    };
    let every = Event::ALL.iter().all(|event| event.packet_type().is_none() || refusal.events.contains(event));
    let events = match every {
        true => "every packet".to_owned(),
        false => refusal.events.iter().map(|event| event.description()).collect::<Vec<_>>().join(", "),
    };
    let row = if refusal.without_row { " without a row in the table" } else { "" };
    let scope = if refusal.typed { " (typed API only)" } else { "" };
    format!("in {states}, {events}{row}{scope}: {}", refusal.description)
}

/// Describes a layer and the packets that it sends.
fn sends(sender: &SenderInfo) -> String {
    let packets: Vec<_> = sender.sends.iter().map(|packet| packet.as_str()).collect();
    format!("{}: {}. {}", sender.name(), packets.join(", "), sender.description)
}

fn facts(out: &mut Output, known: impl IntoIterator<Item = (&'static str, String)>) -> Result<(), Failure> {
    for (name, value) in known {
        writeln!(out, "{}", wrap(&value, &format!("  {name:<12} "), &" ".repeat(15)))?;
    }
    Ok(())
}

fn section(out: &mut Output, heading: &str, text: &str) -> Result<(), Failure> {
    writeln!(out, "\n{heading}\n{}", wrap(text, "  ", "  "))?;
    Ok(())
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// A log that breaks a rule. The build script chooses one for each code.
struct Example {
    code: &'static str,
    /// Below `schema/examples/`.
    path: &'static str,
    about: &'static str,
    log: &'static str,
    /// The path and text of a log without the error.
    fixed: Option<(&'static str, &'static str)>,
}

impl Example {
    fn print(&self, code: Code, out: &mut Output) -> Result<(), Failure> {
        let mut found = Found { code, best: None };
        let mut validator = Validator::new(ValidatorOptions::default());
        let Ok(()) = validator.feed(self.log.as_bytes(), &mut found);
        let Ok(_) = validator.finish(&mut found);
        let Some((finding, line)) = found.best else {
            return Err(broken(self.path, format_args!("it has no finding with the code {code}")));
        };
        let heading = match finding.diagnostic.severity {
            Severity::Error => "Rejected",
            Severity::Warning => "Accepted with a warning",
        };
        section(out, heading, self.about)?;
        let file = format!("{FOLDER}{}", self.path);
        let text = out.human().finding(&file, &finding, line.as_deref());
        write!(out, "\n{text}")?;

        let Some((fixed, log)) = self.fixed else { return Ok(()) };
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

/// The place of a finding in the fixed log: in the packet with the same id, or with the id that a rejected attempt (`…_try`)
/// got next.
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
    /// The first error, or else the first warning: an overrun is a warning before it is an error.
    best: Option<(Finding, Option<String>)>,
}

impl Sink for Found {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Infallible> {
        let diagnostic = &finding.diagnostic;
        let is_better = match &self.best {
            None => true,
            Some((best, _)) => best.diagnostic.severity == Severity::Warning && diagnostic.severity == Severity::Error,
        };
        if is_better && (diagnostic.code == self.code || diagnostic.also.contains(&self.code)) {
            self.best = Some((finding, line.map(str::to_owned)));
        }
        Ok(())
    }
}

/// Wraps a text at spaces only, so that codes stay whole, behind `first` in its first line and `rest` in the others.
fn wrap(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(first)
        .subsequent_indent(rest);
    textwrap::fill(text, options)
}

/// Columns of the texts.
const WIDTH: usize = 98;

/// The folder of the examples in the repository.
const FOLDER: &str = "schema/examples/";
