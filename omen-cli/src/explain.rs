//! `omen explain`: prints the full text of a code, with a rejected and a fixed example for codes of packets.

use std::io::Write as _;
use std::str::FromStr;

use omen_fsm::{Event, Node, REFUSALS, RefusalInfo, SENDERS, SenderInfo};
use omen_gate::GateCode;
use omen_types::Code;

use crate::exit::{Exit, Failure};
use crate::output::Output;

mod decision;
mod example;
mod fixed;
mod gate;
mod programs;
mod text;

use decision::Decision;
use text::{facts, section, wrap};

pub(crate) use example::WhichExample;

/// Code of a packet rule or of the gate, or a decision. The name is never ambiguous: the lint of the schema files ensures that.
#[derive(Clone, Debug)]
pub(crate) enum AnyCode {
    Packet(Code),
    Gate(GateCode),
    Decision(Decision),
}

impl FromStr for AnyCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(decision) = Decision::find(text)? {
            return Ok(Self::Decision(decision));
        }
        match (text.parse::<Code>().or_else(|error| short(text).ok_or(error)), text.parse::<GateCode>()) {
            (Ok(code), _) => Ok(Self::Packet(code)),
            (_, Ok(code)) => Ok(Self::Gate(code)),
            // If the text resembles codes of both kinds, packet codes are suggested, since they are longer.
            (Err(unknown), Err(gate)) => match (unknown.near(), gate.near()) {
                (None, Some(near)) => Err(format!("{unknown}; did you mean `{near}`?")),
                _ => Err(unknown.to_string()),
            },
        }
    }
}

/// Parses a code whose number is written without leading zeros, such as `inv-3`.
fn short(text: &str) -> Option<Code> {
    let (family, number) = text.rsplit_once('-')?;
    let number: u32 = number.parse().ok()?;
    let is_meant = |code: &Code| {
        let parts = code.as_str().rsplit_once('-');
        parts.is_some_and(|(name, digits)| name.eq_ignore_ascii_case(family) && digits.parse() == Ok(number))
    };
    Code::ALL.iter().copied().find(is_meant)
}

pub(crate) fn run(code: &AnyCode, example: Option<WhichExample>, out: &mut Output) -> Result<Exit, Failure> {
    match (code, example) {
        (AnyCode::Packet(code), Some(which)) => log(*code, which, out)?,
        (AnyCode::Gate(_) | AnyCode::Decision(_), Some(_)) => {
            return Err(Failure::Usage("only codes of `omen check` have example logs".to_owned()));
        }
        (AnyCode::Packet(code), None) => packet(*code, out)?,
        (AnyCode::Gate(code), None) => gate(*code, out)?,
        (AnyCode::Decision(decision), None) => decided(decision, out)?,
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Prints the programs that break the rule of a code and therefore do not compile.
pub(crate) fn programs(code: &AnyCode, out: &mut Output) -> Result<Exit, Failure> {
    match code {
        AnyCode::Packet(code) => {
            let info = code.info();
            let same = info.shared_with.or(info.reported_as).map(Code::as_str);
            programs::print(code.as_str(), info.title, same, out)?;
        }
        AnyCode::Gate(code) => programs::print(code.as_str(), code.title(), None, out)?,
        AnyCode::Decision(decision) => {
            let text =
                format!("{} is a decision; `--rust` expects the code of a rule, such as E4 or PG-3", decision.code);
            return Err(Failure::Usage(text));
        }
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Prints the rejected or the fixed log of a code's example, for `omen check` or an editor.
fn log(code: Code, which: WhichExample, out: &mut Output) -> Result<(), Failure> {
    let log = example::find(code).and_then(|example| match which {
        WhichExample::Rejected => Some(example.log),
        WhichExample::Fixed => example.fixed,
    });
    match log {
        Some(log) => Ok(out.write_all(log.as_bytes())?),
        None => Err(Failure::Usage(format!("{code} has no such example; omit `--example` to see what it has"))),
    }
}

fn decided(decision: &Decision, out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "{}: {}", decision.code, decision.title)?;
    let mut in_list = false;
    for paragraph in &decision.text {
        let is_item = paragraph.starts_with("- ");
        if !(is_item && in_list) {
            writeln!(out)?;
        }
        in_list = is_item;
        writeln!(out, "{}", wrap(paragraph, "  ", if is_item { "    " } else { "  " }))?;
    }
    Ok(())
}

fn gate(code: GateCode, out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "{code}: {}\n", code.title())?;
    facts(out, [("stage", "gate".to_owned()), ("source", code.source().to_owned())])?;
    [("Rule", code.statement()), ("Why", code.rationale()), ("Help", code.help())]
        .into_iter()
        .try_for_each(|(heading, text)| section(out, heading, text))?;
    let example = gate::example(code)?;
    section(out, "Refused", &example.refused)?;
    section(out, "Fixed", &example.fixed)
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
    if let Some(example) = example::find(code) {
        example.print(code, out)?;
    }
    Ok(())
}

/// Describes when the state machine refuses packets: in which states, which packets, and why.
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

/// Describes a layer and the packets it sends.
fn sends(sender: &SenderInfo) -> String {
    let packets: Vec<_> = sender.sends.iter().map(|packet| packet.as_str()).collect();
    format!("{}: {}. {}", sender.name(), packets.join(", "), sender.description)
}
