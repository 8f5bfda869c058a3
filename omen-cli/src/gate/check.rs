//! `omen gate check`: checks a configuration by itself.

use std::io::{self, Write as _};
use std::time::SystemTime;

use omen::render::human::clean;
use omen_gate::config::{ConfigError, Inspection, PolicyHash};
use omen_gate::{Config, prove};
use serde::Serialize;

use super::{catalog, config};
use crate::args::{FileFormat, GateCheckArgs};
use crate::exit::{Exit, Failure};
use crate::formats::{FileFinding, FindingKind, sarif_document};
use crate::output::Output;

pub(crate) fn check(args: &GateCheckArgs, out: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.catalog.as_deref().map(catalog::read).transpose()?;
    let found = Config::inspect(&args.config, SystemTime::now(), catalog.as_ref(), prove::vacuous);
    let found = found.map_err(|errors| config::report(&args.config, &errors))?;
    let report = GateCheckReport::new(args.config.display().to_string(), &found);
    match args.format {
        FileFormat::Human => report.human(out)?,
        FileFormat::Json => out.json(&report)?,
        FileFormat::Sarif => sarif_document(out, &args.config, &KINDS, &report.findings())?,
    }
    out.flush()?;
    Ok(if found.errors.is_empty() { Exit::Clean } else { Exit::ErrorsFound })
}

/// Result of the check, for people and for programs.
#[derive(Serialize)]
struct GateCheckReport<'r> {
    file: String,
    /// Identifies the policy in the audit log; `null` if the text is invalid.
    policy: Option<PolicyHash>,
    errors: usize,
    warnings: usize,
    findings: Vec<ConfigErrorRow<'r>>,
}

#[derive(Serialize)]
struct ConfigErrorRow<'r> {
    severity: &'static str,
    /// Line number; like the column, `null` for a finding about the text as a whole.
    line: Option<usize>,
    column: Option<usize>,
    path: &'r str,
    message: &'r str,
    help: &'r str,
}

impl<'r> GateCheckReport<'r> {
    fn new(file: String, found: &'r Inspection) -> Self {
        let rows =
            |severity, errors: &'r [ConfigError]| errors.iter().map(move |error| ConfigErrorRow::new(severity, error));
        Self {
            file,
            policy: found.config.as_ref().map(Config::hash),
            errors: found.errors.len(),
            warnings: found.warnings.len(),
            findings: rows("error", &found.errors).chain(rows("warning", &found.warnings)).collect(),
        }
    }

    fn findings(&self) -> Vec<FileFinding<'_>> {
        let [(error, _), (warning, _)] = KINDS;
        let finding = |row: &ConfigErrorRow<'r>| FileFinding {
            kind: if row.severity == "error" { error } else { warning },
            level: row.severity,
            text: format!("{}\nhelp: {}", row.message, row.help),
            place: row.line.zip(row.column),
        };
        self.findings.iter().map(finding).collect()
    }

    fn human(&self, out: &mut Output) -> io::Result<()> {
        let file = clean(&self.file);
        for row in &self.findings {
            let place = match (row.line, row.column) {
                (Some(line), Some(column)) => format!(":{line}:{column}"),
                _ => String::new(),
            };
            writeln!(out, "{file}{place}: {}: {}", row.severity, clean(row.message))?;
            writeln!(out, "  = help: {}", clean(row.help))?;
        }
        let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        writeln!(out, "{file}: {}, {}", count(self.errors, "error"), count(self.warnings, "warning"))?;
        match self.policy {
            Some(policy) => writeln!(out, "policy {policy}"),
            None => Ok(()),
        }
    }
}

const KINDS: [FindingKind; 2] = [
    ("gate/error", "A gate cannot start with this configuration, or never allows what it describes."),
    ("gate/warning", "A setting prevents tools from running, or has less effect than it appears to have."),
];

impl<'r> ConfigErrorRow<'r> {
    fn new(severity: &'static str, error: &'r ConfigError) -> Self {
        let place = |number: usize| (error.line > 0).then_some(number);
        Self {
            severity,
            line: place(error.line),
            column: place(error.column),
            path: &error.path,
            message: &error.message,
            help: &error.help,
        }
    }
}
