//! `omen rules`: lists the codes.

use std::io::Write as _;

use omen_types::Code;
use serde::Serialize;

use super::args::Format;
use super::output::Output;
use super::{Failure, Outcome};

pub(crate) fn run(format: Format, out: &mut Output) -> Result<Outcome, Failure> {
    match format {
        Format::Human => {
            writeln!(out, "{:<8} {:<10} {:<14} TITLE", "CODE", "STAGE", "SEVERITY")?;
            for info in Code::ALL.iter().map(|code| code.info()) {
                writeln!(out, "{:<8} {:<10} {:<14} {}", info.code, info.stage, info.severity, info.title)?;
            }
        }
        Format::Json => {
            let rules: Vec<Rule> = Code::ALL.iter().map(|code| Rule::of(*code)).collect();
            serde_json::to_writer_pretty(&mut *out, &rules).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

/// All that is known of a code.
#[derive(Serialize)]
struct Rule {
    code: &'static str,
    title: &'static str,
    stage: &'static str,
    severity: &'static str,
    policy: &'static [&'static str],
    condition: &'static str,
    statement: &'static str,
    rationale: &'static str,
    mend: &'static str,
    source: &'static str,
    shared_with: Option<&'static str>,
}

impl Rule {
    fn of(code: Code) -> Self {
        let info = code.info();
        Self {
            code: info.code,
            title: info.title,
            stage: info.stage,
            severity: info.severity,
            policy: info.policy,
            condition: info.condition,
            statement: info.statement,
            rationale: info.rationale,
            mend: info.mend,
            source: info.source,
            shared_with: info.shared_with.map(|code| code.as_str()),
        }
    }
}
