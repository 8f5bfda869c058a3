//! `omen hook doctor`: checks whether an installed hook would decide if the agent called it.

mod installations;
mod process;

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use omen::render::human::clean;
use omen_gate::Config;
use omen_gate::config::KeySource;
use omen_hook::{AgentReaction, Dialect, EventRole, Hook, HookEnd};
use serde::Serialize;
use serde_json::Map;

use self::installations::{HookProcess, Installation};
use super::install::SettingsFormat;
use super::rehearsal;
use crate::args::{Format, HookDoctorArgs};
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn doctor(args: &HookDoctorArgs, out: &mut Output) -> Result<Exit, Failure> {
    let project = std::path::absolute(args.root.as_deref().unwrap_or(Path::new(".")))
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut reports = Vec::new();
    for agent in Dialect::agents().filter(|agent| args.agent.as_deref().is_none_or(|wanted| wanted == *agent)) {
        let dialect = Dialect::from_agent(agent).map_err(|error| Failure::Internal(error.to_string()))?;
        let installations = installations::installations(&dialect, &project).map_err(Failure::Usage)?;
        if !installations.is_empty() || args.agent.is_some() {
            reports.push(report(&dialect, installations, &project).map_err(Failure::Usage)?);
        }
    }
    let problems =
        reports.iter().flat_map(|report| &report.checks).filter(|check| check.status == CheckStatus::Problem).count();
    match args.format {
        Format::Json => {
            let all = serde_json::json!({ "agents": reports, "problems": problems });
            writeln!(out, "{all}")?;
        }
        Format::Human => {
            for report in &reports {
                report.human(out)?;
            }
            if reports.is_empty() {
                writeln!(out, "no hook is installed for any agent")?;
            }
        }
    }
    out.flush()?;
    Ok(if problems > 0 || reports.is_empty() { Exit::ErrorsFound } else { Exit::Clean })
}

/// What was found about the hook of one agent.
#[derive(Serialize)]
struct DoctorReport {
    agent: String,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    status: CheckStatus,
    check: &'static str,
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    Ok,
    /// The hook may work, but nothing has confirmed that.
    Unknown,
    Problem,
}

impl DoctorReport {
    fn add(&mut self, status: CheckStatus, check: &'static str, message: impl Into<String>) {
        self.checks.push(Check { status, check, message: message.into() });
    }

    fn human(&self, out: &mut Output) -> io::Result<()> {
        writeln!(out, "{}:", self.agent)?;
        for Check { status, check, message } in &self.checks {
            let status = match status {
                CheckStatus::Ok => "ok",
                CheckStatus::Unknown => "unknown",
                CheckStatus::Problem => "problem",
            };
            writeln!(out, "  {status:8} {check}: {}", clean(message))?;
        }
        Ok(())
    }
}

fn report(dialect: &Dialect, installations: Vec<Installation>, project: &Path) -> Result<DoctorReport, String> {
    let mut report = DoctorReport { agent: dialect.agent.to_string(), checks: Vec::new() };
    if installations.is_empty() {
        report.add(
            CheckStatus::Problem,
            "installed",
            format!("no hook is installed; run `omen hook install {}`", dialect.agent),
        );
    }
    let is_managed = installations.iter().any(|installation| installation.scope == "managed");
    for switch in installations::switches(dialect, project, is_managed)? {
        report.add(CheckStatus::Problem, "switches", switch);
    }
    let mut known = Vec::new();
    for installation in installations {
        let place = format!("{} ({})", installation.path.display(), installation.scope);
        if installation.flaws.is_empty() {
            report.add(CheckStatus::Ok, "installed", place.clone());
        }
        for flaw in installation.flaws {
            report.add(CheckStatus::Problem, "installed", format!("{flaw}: {place}"));
        }
        match (installation.unconfirmed.as_deref(), &dialect.install.trust) {
            (Some([]), _) => report.add(CheckStatus::Ok, "trust", format!("{} runs the hook", dialect.title)),
            (Some(events), Some(trust)) => {
                let (title, events) = (&dialect.title, events.join(", "));
                let message =
                    format!("{title} does not run the hook for {events} because it is not confirmed; {}", trust.how);
                report.add(CheckStatus::Problem, "trust", message);
            }
            _ => {}
        }
        for process in installation.commands {
            if !known.contains(&process.words) {
                examine(dialect, &process, project, &mut report);
                if report
                    .checks
                    .last()
                    .is_some_and(|check| check.check == CALLED && check.status == CheckStatus::Unknown)
                {
                    let place = dialect.install.places.get(&installation.scope);
                    let tells = place.into_iter().flat_map(|place| &place.tell);
                    tells.for_each(|tell| report.add(CheckStatus::Unknown, CALLED, tell.as_str()));
                }
                known.push(process.words);
            }
        }
    }
    Ok(report)
}

/// Examines a command: its program, its configuration, its decisions, and what its log has.
fn examine(dialect: &Dialect, process: &HookProcess, project: &Path, report: &mut DoctorReport) {
    let words = &process.words;
    version(words, report);
    if words.iter().any(|word| word == REHEARSE) {
        report.add(CheckStatus::Problem, "command", format!("`{REHEARSE}` keeps decisions out of the log; remove it"));
    }
    let option = |name: &str| words.iter().skip_while(|word| *word != name).nth(1).map(PathBuf::from);
    let path = option("--config").filter(|path| path.is_absolute());
    let Some(path) = path else {
        return report.add(
            CheckStatus::Problem,
            "configuration",
            "the command has no `--config` with an absolute path; install the hook again",
        );
    };
    let root = option("--root").or_else(|| path.parent().map(Path::to_owned)).unwrap_or_else(|| project.to_owned());
    let config = match Config::load(&path) {
        Ok(config) => config,
        Err(errors) => {
            return report.add(CheckStatus::Problem, "configuration", super::policy::invalid(&path, &errors));
        }
    };
    match Hook::new(dialect.clone(), config.clone()) {
        Ok(_) => report.add(CheckStatus::Ok, "configuration", path.display().to_string()),
        Err(error) => return report.add(CheckStatus::Problem, "configuration", error.to_string()),
    }
    if let Some(KeySource::File(key)) = config.audit.as_ref().map(|audit| &audit.key)
        && key.starts_with(&root)
    {
        let message =
            format!("{} is below {}, where searches and commands read it; move it", key.display(), root.display());
        report.add(CheckStatus::Unknown, "key", message);
    }
    let rehearse = Rehearsal { dialect, process, root: &root };
    rehearse.denied(report);
    let written = fs::read_to_string(&path).ok().and_then(|text| SettingsFormat::Toml.value(&text).ok());
    let allowed = written.and_then(|written| rehearsal::allowed_event(dialect, (&path, &written), &config, &root));
    rehearse.allowed(allowed, report);
    rehearse.settings(report);
    match config.audit.as_ref().map(|audit| was_called(dialect, &audit.log)) {
        Some(true) => report.add(CheckStatus::Ok, CALLED, "the audit log has events of this agent"),
        _ => {
            let what =
                format!("configured, but not seen to be called: the audit log has no event of {}", dialect.title);
            report.add(CheckStatus::Unknown, CALLED, what);
        }
    }
}

fn version(words: &[String], report: &mut DoctorReport) {
    let own = concat!("omen ", env!("CARGO_PKG_VERSION"));
    let program = words.first().cloned().unwrap_or_default();
    let end = process::run(&[program.clone(), "--version".to_owned()], None, Path::new("/"), "", VERSION_LIMIT);
    match end {
        HookEnd::Ended { exit: Some(0), stdout, .. } if stdout.trim() == own => {
            report.add(CheckStatus::Ok, "version", format!("{program} is {own}"));
        }
        HookEnd::Missing => report.add(
            CheckStatus::Problem,
            "version",
            format!("{program} does not exist, or cannot be started; install the hook again"),
        ),
        _ => report.add(CheckStatus::Problem, "version", format!("{program} is not {own}; install the hook again")),
    }
}

/// Events through the installed command, which leave the production log alone.
struct Rehearsal<'r> {
    dialect: &'r Dialect,
    process: &'r HookProcess,
    root: &'r Path,
}

impl Rehearsal<'_> {
    /// What the agent does after the answer to an event, and whether the gate has recorded a decision.
    fn reaction(&self, event: &str) -> Result<(AgentReaction, bool), String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot create a folder: {error}"))?;
        let more = [REHEARSE.to_owned(), folder.path().to_string_lossy().into_owned()];
        let words = self.process.started(self.dialect, &more);
        let end = match process::run(&words, self.dialect.version_variable(), self.root, event, self.process.limit) {
            // The shell has not found the program.
            HookEnd::Ended { exit: Some(127), .. } if !self.dialect.install.shell.is_empty() => HookEnd::Missing,
            end => end,
        };
        Ok((self.dialect.reaction(&end), rehearsal::has_decision(folder.path())))
    }

    fn try_event(
        &self,
        role: EventRole,
        tool: &str,
        check: &'static str,
        report: &mut DoctorReport,
        judge: impl Fn(AgentReaction, bool) -> (CheckStatus, String),
    ) {
        if let Some(event) = self.dialect.sample(role, tool, Map::new(), self.root) {
            self.try_text(&event.to_string(), check, report, judge);
        }
    }

    fn try_text(
        &self,
        event: &str,
        check: &'static str,
        report: &mut DoctorReport,
        judge: impl Fn(AgentReaction, bool) -> (CheckStatus, String),
    ) {
        let (status, message) = match self.reaction(event) {
            Ok((AgentReaction::HookFailed { why, runs }, _)) => {
                let then = if runs { "would run the call" } else { "would refuse every call" };
                (CheckStatus::Problem, format!("{why}; {} {then}", self.dialect.title))
            }
            Ok((reaction, is_recorded)) => judge(reaction, is_recorded),
            Err(why) => (CheckStatus::Problem, why),
        };
        report.add(status, check, message);
    }

    fn denied(&self, report: &mut DoctorReport) {
        let title = &self.dialect.title;
        self.try_event(EventRole::Before, rehearsal::PROBE, "denied call", report, |reaction, is_recorded| {
            match reaction {
                AgentReaction::Refuses(why) if is_recorded => {
                    (CheckStatus::Ok, format!("{title} would refuse it: {why}"))
                }
                AgentReaction::Refuses(why) => {
                    (CheckStatus::Problem, format!("the gate has recorded no decision: {why}"))
                }
                _ => (CheckStatus::Problem, format!("{title} would run a call that is not allowed")),
            }
        });
    }

    fn allowed(&self, event: Option<serde_json::Value>, report: &mut DoctorReport) {
        let title = &self.dialect.title;
        let Some(event) = event else {
            let why = "not tried: no call was found that the policy allows without a confirmation";
            return report.add(CheckStatus::Unknown, "allowed call", why);
        };
        self.try_text(&event.to_string(), "allowed call", report, |reaction, is_recorded| match reaction {
            AgentReaction::Refuses(why) => (CheckStatus::Problem, format!("{title} would refuse it: {why}")),
            _ if is_recorded => (CheckStatus::Ok, format!("{title} would proceed with it")),
            _ => (CheckStatus::Problem, "the gate has recorded no decision".to_owned()),
        });
    }

    fn settings(&self, report: &mut DoctorReport) {
        let title = &self.dialect.title;
        self.try_event(EventRole::Settings, "", "change of settings", report, |reaction, _| match reaction {
            AgentReaction::Refuses(_) => (CheckStatus::Ok, format!("{title} would refuse it")),
            _ => (CheckStatus::Problem, format!("{title} would accept a change that disables hooks")),
        });
    }
}

/// Whether a log, or a rotated file of it, has an entry about a call of the agent.
fn was_called(dialect: &Dialect, log: &Path) -> bool {
    let stem = log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mark = format!("\"turn\":\"{}:", dialect.agent);
    let files = fs::read_dir(log.parent().unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let is_of_log = |path: &PathBuf| {
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&stem));
        is_named && path.extension() == log.extension() && path.is_file()
    };
    let files = files.map(|file| file.path()).filter(is_of_log);
    let mut lines = files
        .filter_map(|file| File::open(file).ok())
        .flat_map(|file| BufReader::new(file).lines().map_while(Result::ok));
    lines.any(|line| line.contains(&mark))
}

/// Name of the check whether the agent has called its hook.
const CALLED: &str = "called";

/// Option of `omen hook run` for rehearsals.
const REHEARSE: &str = "--rehearse";

/// How long a program may take to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
