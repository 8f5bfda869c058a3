//! A client that writes a line and waits for the answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::Failure;

/// A process that speaks the protocol, after the handshake.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
    last: u64,
}

impl Session {
    pub(super) fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the process has no streams".into());
        };
        let mut session = Self { child, to, from: BufReader::new(from), line: String::new(), last: 0 };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        session.ask("initialize", &params)?;
        session.to.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(session)
    }

    /// Sends a request, and reads up to its answer, which is then in `line`.
    fn ask(&mut self, method: &str, params: &Value) -> Result<(), Failure> {
        self.last += 1;
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}\n", self.last);
        self.to.write_all(line.as_bytes())?;
        let id = format!("\"id\":{}", self.last);
        loop {
            self.line.clear();
            if self.from.read_line(&mut self.line)? == 0 {
                return Err(format!("the process has ended over `{method}`").into());
            }
            if self.line.contains(&id) && !self.line.contains("\"method\"") {
                break;
            }
        }
        match self.line.contains("\"error\":{") || self.line.contains("\"isError\":true") {
            true => Err(format!("`{method}` fails: {}", self.line.trim()).into()),
            false => Ok(()),
        }
    }

    /// Calls a tool once, with these parameters.
    pub(super) fn call(&mut self, call: &Value) -> Result<(), Failure> {
        self.ask("tools/call", call)
    }

    /// Requests one list.
    pub(super) fn list(&mut self) -> Result<(), Failure> {
        self.ask("tools/list", &json!({}))
    }

    /// Returns the tools that are listed now.
    pub(super) fn tools(&mut self) -> Result<Value, Failure> {
        self.list()?;
        let answer: Value = serde_json::from_str(&self.line)?;
        Ok(answer.pointer("/result/tools").cloned().unwrap_or_default())
    }

    /// Returns a value, in bytes, from a file in which Linux reports the memory of the process.
    pub(super) fn memory(&self, file: &str, name: &str) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
    }

    /// Closes the client's end, and waits for the process.
    pub(super) fn close(self) -> Result<(), Failure> {
        let Self { mut child, to, .. } = self;
        drop(to);
        child.wait()?;
        Ok(())
    }
}
