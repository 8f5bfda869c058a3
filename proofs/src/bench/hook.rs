//! Time that a coding agent waits for its hook before each tool: with and without a resident, compared with starting a process
//! that does nothing.
//!
//! Each call is allowed, and its outcome is reported, so the logs grow like real ones. The measures alternate call by call.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use omen_gate::catalog::pin;
use omen_gate::tool::Tool;
use serde::Serialize;
use serde_json::{Value, json};

use super::proxy::Quantiles;
use crate::Failure;

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct HookCounts {
    /// Number of calls of each hook.
    pub calls: u32,
}

/// Upper bound of the median event time with a resident, in milliseconds.
pub const BOUND_P50_MS: f64 = 5.0;

/// Upper bound of the 99th percentile of event times with a resident, in milliseconds.
pub const BOUND_P99_MS: f64 = 15.0;

impl Default for HookCounts {
    fn default() -> Self {
        Self { calls: 1000 }
    }
}

/// Time from the start of a hook before a tool to its end.
#[derive(Clone, Debug, Serialize)]
pub struct HookReport {
    /// `omen --version`: the start of a process.
    pub start: Quantiles,
    /// Each hook.
    pub hooks: Vec<MeasuredHook>,
    /// Number of calls of each hook.
    pub calls: u32,
}

/// A hook with its log.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredHook {
    /// Whether a resident answers.
    pub resident: bool,
    /// Whether the log is synced.
    pub synced: bool,
    /// Entries in its log at the end.
    pub entries: usize,
    /// Time before a tool.
    pub latency: Quantiles,
}

impl MeasuredHook {
    /// Returns whether events stay within the bounds, which apply to a resident.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let Quantiles { p50_us, p99_us } = self.latency;
        !self.resident || (p50_us <= BOUND_P50_MS * 1e3 && p99_us <= BOUND_P99_MS * 1e3)
    }
}

/// Measures the `omen` command at this path.
///
/// # Errors
/// If a hook does not allow its call, or the resident cannot be started.
pub fn run(counts: HookCounts, omen: &Path) -> Result<HookReport, Failure> {
    let folder = tempfile::tempdir()?;
    let kinds = [(false, false), (true, false), (false, true), (true, true)];
    let hooks = kinds.map(|(resident, synced)| Hook::prepare(folder.path(), omen, resident, synced));
    let mut hooks = hooks.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut start = Vec::new();
    for number in 0..counts.calls {
        let begun = Instant::now();
        Command::new(omen).arg("--version").stdout(Stdio::null()).status()?;
        start.push(micros(begun));
        hooks.iter_mut().try_for_each(|hook| hook.call(number))?;
    }
    let hooks = hooks.into_iter().map(Hook::measured).collect::<Result<_, _>>()?;
    Ok(HookReport { start: Quantiles::new(start), hooks, calls: counts.calls })
}

/// Hook of Claude Code, with a configuration that allows shell commands.
struct Hook {
    omen: PathBuf,
    folder: PathBuf,
    resident: Option<Child>,
    synced: bool,
    times: Vec<f64>,
}

impl Hook {
    fn prepare(folder: &Path, omen: &Path, is_resident: bool, synced: bool) -> Result<Self, Failure> {
        let folder = tempfile::tempdir_in(folder)?.keep();
        let run = |args: &[&str]| Command::new(omen).args(args).current_dir(&folder).stderr(Stdio::null()).output();
        let tools: Value = serde_json::from_slice(&run(&["hook", "tools", AGENT])?.stdout)?;
        let tools: Vec<Tool> = serde_json::from_value(tools.get(AGENT).cloned().unwrap_or_default())?;
        let bash = tools.iter().find(|tool| tool.name.as_str() == "Bash").ok_or("the agent has no shell")?;
        let which = format!("server = '{AGENT}'\ntool = 'Bash'\npermissions = ['EXECUTE']");
        let rules = r#"{ "/command" = { command = { program = ["git", "ls"] } } }"#;
        let config = format!(
            "[servers.{AGENT}]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = {synced}\n[[allow]]\n{which}\npin = \
             '{}'\nwhere = {rules}\n[[grants]]\n{which}\npre_granted = true\n",
            pin(bash)?
        );
        fs::write(folder.join("gate.toml"), config)?;
        run(&["audit", "new-key", "audit.key"])?;
        let mut hook = Self { omen: omen.to_owned(), folder, resident: None, synced, times: Vec::new() };
        if is_resident {
            let mut command = Command::new(omen);
            command.args(["hook", "serve"]).current_dir(&hook.folder).stderr(Stdio::null());
            hook.resident = Some(command.spawn()?);
            let until = Instant::now() + Duration::from_secs(10);
            while !hook.folder.join(".omen-gate/confirm.hook.sock").exists() {
                if Instant::now() > until {
                    return Err("no resident listens".into());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // The first event takes longer, because the log is new.
        hook.call(u32::MAX)?;
        hook.times.clear();
        Ok(hook)
    }

    /// Submits a call for a decision, and reports its outcome. Only the decision is measured.
    fn call(&mut self, number: u32) -> Result<(), Failure> {
        let event = |name: &str, more: Value| {
            let mut event = json!({
                "session_id": "s", "transcript_path": "/t", "cwd": self.folder, "hook_event_name": name, "permission_mode":
                "default", "tool_name": "Bash", "tool_input": { "command": format!("git show {number}") }, "tool_use_id":
                format!("toolu_{number}"),
            });
            event
                .as_object_mut()
                .into_iter()
                .for_each(|event| event.extend(more.as_object().cloned().unwrap_or_default()));
            event.to_string()
        };
        let begun = Instant::now();
        self.answer(&event("PreToolUse", json!({})))?;
        self.times.push(micros(begun));
        self.answer(&event("PostToolUse", json!({ "tool_response": { "stdout": "" } })))
    }

    fn answer(&self, event: &str) -> Result<(), Failure> {
        let resident = if self.resident.is_some() { "use" } else { "off" };
        let mut command = Command::new(&self.omen);
        command.args(["hook", "run", "--agent", AGENT, "--resident", resident]).current_dir(&self.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().ok_or("the hook has no input")?.write_all(event.as_bytes())?;
        let output = child.wait_with_output()?;
        match output.status.success() && output.stdout.is_empty() {
            true => Ok(()),
            false => Err(format!("the hook does not allow the call: {output:?}").into()),
        }
    }

    fn measured(mut self) -> Result<MeasuredHook, Failure> {
        let entries = fs::read_to_string(self.folder.join("audit.jsonl"))?.lines().count();
        let (resident, synced) = (self.resident.is_some(), self.synced);
        Ok(MeasuredHook { resident, synced, entries, latency: Quantiles::new(std::mem::take(&mut self.times)) })
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(mut resident) = self.resident.take() {
            let _ = resident.kill();
            let _ = resident.wait();
        }
    }
}

fn micros(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6
}

const AGENT: &str = "claude-code";

impl fmt::Display for HookReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = "a hook before a tool, ms";
        writeln!(f, "{title:40}{:>8}{:>8}{:>8}{:>8}{:>10}", "entries", "p50", "p99", "/ start", "bounds")?;
        let Quantiles { p50_us: start, p99_us } = self.start;
        writeln!(f, "  {:46}{:8.1}{:8.1}{:8.1}", "omen --version: the start", start / 1e3, p99_us / 1e3, 1.0)?;
        self.hooks.iter().try_for_each(|hook| {
            let MeasuredHook { resident, synced, entries, latency: Quantiles { p50_us, p99_us } } = hook;
            let who = if *resident { "with a resident" } else { "alone" };
            let name = format!("{who}{}", if *synced { ", synced" } else { "" });
            let bounds = if *resident { format!("{BOUND_P50_MS}, {BOUND_P99_MS}") } else { String::new() };
            let above = if hook.is_kept() { "" } else { "  above a bound" };
            let [p50, p99, ratio] = [p50_us / 1e3, p99_us / 1e3, p50_us / start];
            writeln!(f, "  {name:38}{entries:8}{p50:8.1}{p99:8.1}{ratio:8.1}{bounds:>10}{above}")
        })?;
        writeln!(f, "{} calls of each", self.calls)
    }
}
