//! `omen rules`: lists the codes.

use std::io::Write as _;

use clap::builder::styling::Style;
use omen_types::Code;
use serde::Serialize;

use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(format: Format, out: &mut Output) -> Result<Exit, Failure> {
    match format {
        Format::Human => {
            let bold = if out.is_coloured { Style::new().bold() } else { Style::new() };
            writeln!(out, "{bold}{:<8} {:<10} {:<14} TITLE{bold:#}", "CODE", "STAGE", "SEVERITY")?;
            for info in Code::ALL.iter().map(|code| code.info()) {
                writeln!(
                    out,
                    "{bold}{:<8}{bold:#} {:<10} {:<14} {}",
                    info.code,
                    info.stage.as_str(),
                    info.severity,
                    info.title
                )?;
            }
            for code in omen_gate::GateCode::ALL {
                writeln!(out, "{bold}{:<8}{bold:#} {GATE:<10} {ERROR:<14} {}", code.as_str(), code.title())?;
            }
        }
        Format::Json => {
            let gate = omen_gate::GateCode::ALL.iter().map(|code| RuleText::of_gate(*code));
            let rules: Vec<RuleText> = Code::ALL.iter().map(|code| RuleText::from_code(*code)).chain(gate).collect();
            serde_json::to_writer_pretty(&mut *out, &rules).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Full text of a code.
#[derive(Serialize)]
struct RuleText {
    code: &'static str,
    title: &'static str,
    stage: &'static str,
    severity: &'static str,
    policy: &'static [&'static str],
    /// Condition; `None` for a code of the gate, whose statement includes the condition.
    condition: Option<&'static str>,
    statement: &'static str,
    rationale: &'static str,
    help: &'static str,
    source: &'static str,
    shared_with: Option<&'static str>,
}

impl RuleText {
    fn from_code(code: Code) -> Self {
        let info = code.info();
        Self {
            code: info.code,
            title: info.title,
            stage: info.stage.as_str(),
            severity: info.severity,
            policy: info.policy,
            condition: Some(info.condition),
            statement: info.statement,
            rationale: info.rationale,
            help: info.help,
            source: info.source,
            shared_with: info.shared_with.map(|code| code.as_str()),
        }
    }

    fn of_gate(code: omen_gate::GateCode) -> Self {
        Self {
            code: code.as_str(),
            title: code.title(),
            stage: GATE,
            severity: ERROR,
            policy: &[],
            condition: None,
            statement: code.statement(),
            rationale: code.rationale(),
            help: code.help(),
            source: code.source(),
            shared_with: None,
        }
    }
}

/// Stage of the gate's codes.
const GATE: &str = "gate";
/// Severity of the gate's codes; the gate has no warnings.
const ERROR: &str = "error";
