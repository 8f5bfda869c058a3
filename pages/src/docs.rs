//! `cargo xtask docs`: writes the generated regions of the pages in `docs/`, from the schema files, the compile-fail cases,
//! the evidence for each code of the gate, and the statements.
//!
//! A region is the text between `<!-- generated: NAME -->` and `<!-- /generated -->`.

mod gate;
mod hooks;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use omen_codegen::model::{Fsm, Model, Rule, Stage, Target};

use crate::evidence::Evidence;
use crate::gallery::Gallery;
use crate::markdown::{code, table};
use crate::statements::Statements;

/// The paths of the pages with generated regions.
#[must_use]
pub fn pages() -> [PathBuf; 5] {
    ["protocol.md", "compile-errors.md", "gate.md", "hooks.md", "statements.md"]
        .map(|page| Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page))
}

/// Returns a page with its regions regenerated.
///
/// # Errors
/// If a region has no end or an unknown name, or if the schema files or the cases have mistakes.
pub fn filled(page: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let model = model()?;
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (name, after) = after.split_once(" -->").ok_or("unclosed mark of a generated region: expected ` -->`")?;
        let (_, after) = after
            .split_once(CLOSE)
            .ok_or_else(|| format!("the region `{name}` has no end: expected `<!-- /generated -->`"))?;
        write!(out, "{before}{OPEN}{name} -->\n{}{CLOSE}", region(&model, name)?)?;
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Regenerates every page and the files of the Python package, and writes the [gallery] to `target/compile-errors.md`.
///
/// # Errors
/// As [`filled`], and if a page cannot be read or written.
pub fn write() -> Result<(), Box<dyn Error + Send + Sync>> {
    crate::python::write()?;
    for path in pages() {
        let page = std::fs::read_to_string(&path)?;
        std::fs::write(path, filled(&page)?)?;
    }
    // In this folder, its links have as many levels as those of the pages.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join("compile-errors.md"), gallery()?)?)
}

/// Returns a page with all compile-fail cases, which is not committed.
///
/// # Errors
/// If the schema files or the cases have mistakes.
pub fn gallery() -> Result<String, Box<dyn Error + Send + Sync>> {
    let model = model()?;
    Ok(Gallery::read(&model)?.page(&model))
}

fn model() -> Result<Model, Box<dyn Error + Send + Sync>> {
    Ok(omen_codegen::model(omen_schema::FILES.iter().copied()).map_err(|error| error.to_string())?)
}

fn region(model: &Model, name: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    Ok(match name {
        "packet-types" => packet_types(model),
        "states" => states(&model.fsm),
        "transitions" => transitions(&model.fsm),
        "cells" => cells(&model.fsm),
        "layers" => layers(&model.fsm),
        "e-rules" => rules(model, |rule| rule.stage == Stage::Fsm && rule.code != "FSM"),
        "invariants" => rules(model, |rule| rule.stage == Stage::Invariant),
        "compile-errors" => Gallery::read(model)?.tables(model, "omen-sdk"),
        "compile-errors-gate" => Gallery::read(model)?.tables(model, "omen-gate"),
        "decisions" => decisions(model)?,
        "gate-way" => gate::way(&model.gate)?,
        "gate-steps" => gate::steps(&model.gate),
        "gate-codes" => gate::codes(&model.gate, &Evidence::read()?)?,
        "hook-guarantees" => hooks::guarantees()?,
        "hook-places" => hooks::places()?,
        "statements" => Statements::read()?.page(&Evidence::read()?),
        other => match other.strip_prefix("compile-error ") {
            Some(case) => Gallery::read(model)?.case(case)?,
            None => return Err(format!("unknown region `{other}`").into()),
        },
    })
}

fn packet_types(model: &Model) -> String {
    let rows = model.packets.iter().filter_map(|name| {
        let def = model.defs.get(name)?;
        Some(vec![code(name), def.description.clone()])
    });
    table(&["Packet", "Purpose"], rows)
}

fn states(fsm: &Fsm) -> String {
    let mut rows = Vec::new();
    for state in &fsm.states {
        rows.push(vec![code(&state.id), state.description.clone()]);
        for sub in &state.substates {
            rows.push(vec![code(&format!("{}/{}", state.id, sub.id)), sub.description.clone()]);
        }
    }
    table(&["State", "Meaning"], rows)
}

fn transitions(fsm: &Fsm) -> String {
    let events = fsm.events.iter().map(|event| {
        let packet = event.packet.as_deref().map_or(String::new(), code);
        vec![code(&event.id), packet, event.description.clone()]
    });
    let rows = fsm.rows.iter().map(|row| {
        let list = |ids: &[String]| ids.iter().map(|id| code(id)).collect::<Vec<_>>().join(", ");
        let to: Vec<_> = row
            .to
            .iter()
            .map(|to| match to {
                Target::Same => "stays".to_owned(),
                Target::State(id) => code(id),
            })
            .collect();
        vec![list(&row.from), list(&row.events), to.join(" and "), row.description.clone(), row.source.clone()]
    });
    format!(
        "{}\n{}",
        table(&["Event", "Packet", "Meaning"], events),
        table(&["From", "Event", "To", "Meaning", "Source"], rows)
    )
}

/// The decisions, each under a heading that the other pages link to.
fn decisions(model: &Model) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut out = String::new();
    for decision in &model.decisions {
        write!(out, "\n### {}\n", decision.code)?;
        let mut in_list = false;
        for paragraph in &decision.text {
            let is_item = paragraph.starts_with("- ");
            if !(is_item && in_list) {
                out.push('\n');
            }
            in_list = is_item;
            writeln!(out, "{}", linked(paragraph))?;
        }
    }
    out.push('\n');
    Ok(out)
}

/// A text in which every decision that is named is a link.
fn linked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('D') {
        let (before, from) = rest.split_at(at);
        let digits = from.chars().skip(1).take_while(char::is_ascii_digit).count();
        let (code, after) = from.split_at(1 + digits);
        let is_code = digits > 0 && !before.ends_with(|c: char| c.is_alphanumeric() || "_-`".contains(c));
        out.push_str(before);
        match is_code {
            true => out.push_str(&format!("[{code}](#{})", code.to_lowercase())),
            false => out.push_str(code),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The packets that each layer sends.
fn layers(fsm: &Fsm) -> String {
    let rows = fsm.layers.senders.iter().map(|sender| {
        let sends: Vec<_> = sender.sends.iter().map(|packet| code(packet)).collect();
        vec![sender.layer.clone(), sends.join(", "), sender.description.clone()]
    });
    table(&["Layer", "Sends", "Meaning"], rows)
}

/// The refusals in their order, and the facts that they name.
fn cells(fsm: &Fsm) -> String {
    let list = |ids: &[String]| ids.iter().map(|id| code(id)).collect::<Vec<_>>().join(", ");
    let rows = fsm.cells.refusals.iter().map(|refusal| {
        let mut within = list(&refusal.within);
        if !refusal.except.is_empty() {
            within = format!("{within} except {}", list(&refusal.except));
        }
        let mut when = Vec::new();
        when.extend(refusal.without_row.then(|| "the table has no row".to_owned()));
        let fact = refusal.fact();
        when.extend(fact.map(|(fact, holds)| format!("{} {}", if holds { "if" } else { "unless" }, code(fact))));
        when.extend(refusal.typed.then(|| "typed API only".to_owned()));
        vec![
            refusal.code.clone(),
            within,
            list(&refusal.events),
            when.join(", "),
            refusal.description.clone(),
            refusal.source.clone(),
        ]
    });
    let facts = fsm.cells.facts.iter().map(|fact| vec![code(&fact.id), fact.description.clone()]);
    format!(
        "{}\n{}",
        table(&["Code", "In", "Event", "Applies", "Why", "Source"], rows),
        table(&["Fact", "Meaning"], facts)
    )
}

fn rules(model: &Model, which: impl Fn(&Rule) -> bool) -> String {
    let rows = model.rules.iter().filter(|rule| which(rule)).map(|rule| {
        vec![
            rule.code.clone(),
            rule.title.clone(),
            rule.severity.replace('|', " or "),
            rule.condition.clone(),
            rule.statement.clone(),
            rule.failure.clone(),
            rule.help.clone(),
        ]
    });
    table(&["Code", "Title", "Severity", "Applies to", "Rule", "If broken", "Help"], rows)
}

const OPEN: &str = "<!-- generated: ";
const CLOSE: &str = "<!-- /generated -->";
