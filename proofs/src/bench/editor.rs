//! Time from an edit in an editor to the findings that `omen lsp` publishes for it.
//!
//! This process is the client. It opens a log and types: it inserts a character into a line or deletes it again, and sends the
//! next edit when the findings of the previous one have arrived. Edits alternate between the logs.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::corpus::{Corpus, Form, faults};
use super::proxy::Quantiles;
use crate::Failure;

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct EditorCounts {
    /// Seed of the logs and of the edited positions.
    pub seed: u64,
    /// Number of episodes in the log without faults; about 10 kB each.
    pub episodes: u64,
    /// Number of edits of each log.
    pub edits: u32,
}

/// Upper bound of the 99th percentile of edits in a log of 1 MB, in milliseconds.
pub const BOUND_MS: f64 = 50.0;

impl Default for EditorCounts {
    fn default() -> Self {
        Self { seed: 7, episodes: 92, edits: 10_000 }
    }
}

/// Latencies of edits, by log.
#[derive(Clone, Debug, Serialize)]
pub struct EditorReport {
    /// Each log.
    pub logs: Vec<EditedLog>,
    /// Number of edits of each log.
    pub edits: u32,
    /// [`BOUND_MS`].
    pub bound_ms: f64,
}

/// Latencies of edits in one log.
#[derive(Clone, Debug, Serialize)]
pub struct EditedLog {
    /// Description of the log.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: usize,
    /// Findings that are published when it is opened.
    pub findings: usize,
    /// Time from an edit to its findings.
    pub latency: Quantiles,
}

impl EditedLog {
    /// Returns whether edits stay within the bound.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.latency.p99_us <= BOUND_MS * 1e3
    }
}

/// Measures the `omen` command at this path.
///
/// # Errors
/// If the server cannot be started, ends, or publishes something that does not match an edit.
pub fn run(counts: EditorCounts, omen: &Path) -> Result<EditorReport, Failure> {
    let EditorCounts { seed, episodes, edits } = counts;
    let clean = Corpus::generate(seed, episodes, Form::Compact);
    let faulty = faults::faulty(&clean, seed, faults::TENTH);
    let mut editors = [("legal", clean), ("a tenth of its packets faulty", faulty)]
        .map(|(name, log)| Editor::open(omen, name, &log.bytes))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut rng = Rng::with_seed(seed);
    for _ in 0..edits {
        editors.iter_mut().try_for_each(|editor| editor.edit(&mut rng))?;
    }
    let logs = editors.into_iter().map(Editor::close).collect::<Result<_, _>>()?;
    Ok(EditorReport { logs, edits, bound_ms: BOUND_MS })
}

/// Server with one open log.
struct Editor {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    name: &'static str,
    bytes: usize,
    findings: usize,
    /// Version of the log, which each edit increments.
    version: u32,
    lines: usize,
    /// Line with a typed character that the next edit deletes, if any.
    typed_in: Option<usize>,
    times: Vec<f64>,
}

/// Name of the log. No such file exists.
const URI: &str = "file:///bench/log.jsonl";

/// Characters typed after the opening brace of a packet: the first keeps it valid, the others make it unreadable.
const TYPED: [&str; 3] = [" ", "\"", "x"];

impl Editor {
    fn open(omen: &Path, name: &'static str, log: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(log)?;
        let mut child =
            Command::new(omen).arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no streams".into());
        };
        let (bytes, lines) = (text.len(), text.lines().count());
        let from = BufReader::new(from);
        let (findings, version, typed_in, times) = (0, 1, None, Vec::new());
        let mut editor = Self { child, to, from, name, bytes, findings, version, lines, typed_in, times };
        let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
        editor.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
        while editor.receive()?.get("id").is_none() {}
        editor.notify("initialized", json!({}))?;
        let item = json!({ "uri": URI, "languageId": "omen-log", "version": 1, "text": text });
        editor.notify("textDocument/didOpen", json!({ "textDocument": item }))?;
        editor.findings = editor.published()?;
        Ok(editor)
    }

    /// Types a character or deletes the last one typed, and waits for the findings.
    fn edit(&mut self, rng: &mut Rng) -> Result<(), Failure> {
        self.version += 1;
        let (line, end, text) = match self.typed_in.take() {
            Some(line) => (line, 2, ""),
            None => {
                let line = rng.usize(..self.lines);
                self.typed_in = Some(line);
                (line, 1, *rng.choice(&TYPED).unwrap_or(&" "))
            }
        };
        let range = json!({ "start": { "line": line, "character": 1 }, "end": { "line": line, "character": end } });
        let document = json!({ "uri": URI, "version": self.version });
        let changes = json!([{ "range": range, "text": text }]);
        let begun = Instant::now();
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }))?;
        let findings = self.published()?;
        self.times.push(begun.elapsed().as_secs_f64() * 1e6);
        match self.typed_in.is_some() || findings == self.findings {
            true => Ok(()),
            false => {
                Err(format!("{findings} findings after an edit that was taken back, not {}", self.findings).into())
            }
        }
    }

    fn close(mut self) -> Result<EditedLog, Failure> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }))?;
        self.notify("exit", Value::Null)?;
        drop(self.to);
        let status = self.child.wait()?;
        if !status.success() {
            return Err(format!("the server ends with {status}").into());
        }
        let Self { name, bytes, findings, times, .. } = self;
        Ok(EditedLog { name, bytes, findings, latency: Quantiles::new(times) })
    }

    /// Returns the number of findings for the current version.
    fn published(&mut self) -> Result<usize, Failure> {
        loop {
            let message = self.receive()?;
            let of = |pointer| message.pointer(pointer).unwrap_or(&Value::Null);
            if of("/method") == "textDocument/publishDiagnostics" && *of("/params/version") == self.version {
                return Ok(of("/params/diagnostics").as_array().map_or(0, Vec::len));
            }
        }
    }

    fn notify(&mut self, method: &str, params: Value) -> Result<(), Failure> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let content = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{content}", content.len())?;
        Ok(self.to.flush()?)
    }

    fn receive(&mut self) -> Result<Value, Failure> {
        let mut length = 0;
        loop {
            let mut header = String::new();
            if self.from.read_line(&mut header)? == 0 {
                return Err("the server has ended".into());
            }
            match header.trim_end() {
                "" => break,
                header => length = header.strip_prefix("Content-Length: ").map_or(Ok(length), str::parse)?,
            }
        }
        let mut content = vec![0; length];
        self.from.read_exact(&mut content)?;
        Ok(serde_json::from_slice(&content)?)
    }
}

impl fmt::Display for EditorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { logs, edits, bound_ms } = self;
        writeln!(
            f,
            "{:44}{:>8}{:>10}{:>8}{:>8}{:>8}",
            "from an edit to its findings, ms", "MB", "findings", "p50", "p99", "bound"
        )?;
        logs.iter().try_for_each(|log| {
            let EditedLog { name, bytes, findings, latency: Quantiles { p50_us, p99_us } } = log;
            let above = if log.is_kept() { "" } else { "  above the bound" };
            let megabytes = *bytes as f64 / 1e6;
            let [p50, p99] = [p50_us, p99_us].map(|micros| micros / 1e3);
            writeln!(f, "  {name:42}{megabytes:8.2}{findings:10}{p50:8.1}{p99:8.1}{bound_ms:8.0}{above}")
        })?;
        writeln!(f, "{edits} edits of each log")
    }
}
