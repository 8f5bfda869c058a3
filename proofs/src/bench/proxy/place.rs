//! A server, the measured call, and the configurations of the gates in front of the server.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use omen_gate::catalog::pin;
use omen_gate::tool::Tool;
use serde_json::{Value, json};

use super::session::Session;
use crate::Failure;

/// Programs to start.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The `omen` command, which includes `gate proxy`.
    pub omen: PathBuf,
    /// A stand-in server that answers at once.
    pub server: Vec<OsString>,
    /// The folder of the official servers, if they are also measured.
    pub official: Option<PathBuf>,
}

/// Environment in which sessions are started.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    omen: PathBuf,
    command: Vec<OsString>,
    tool: &'static str,
    args: Value,
    pin: String,
    sessions: AtomicU32,
}

impl Place {
    /// Returns the place of the stand-in server.
    pub(super) fn stand_in(folder: &Path, programs: &Programs) -> Result<Self, Failure> {
        Self::new(folder, programs, programs.server.clone(), "get_7", json!({ "key": "pool" }))
    }

    /// Returns the place of the official file server, which reads a small file.
    pub(super) fn filesystem(folder: &Path, official: &Path, programs: &Programs) -> Result<Self, Failure> {
        let script = official.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
        let data = folder.canonicalize()?.join("data");
        fs::create_dir_all(&data)?;
        let file = data.join("note.txt");
        fs::write(&file, "the pool is 50")?;
        let command = vec!["node".into(), script.into(), data.into()];
        Self::new(folder, programs, command, "read_text_file", json!({ "path": file }))
    }

    fn new(
        folder: &Path,
        programs: &Programs,
        command: Vec<OsString>,
        tool: &'static str,
        args: Value,
    ) -> Result<Self, Failure> {
        let folder = tempfile::tempdir_in(folder)?.keep();
        let mut place = Self {
            folder,
            omen: programs.omen.clone(),
            command,
            tool,
            args,
            pin: String::new(),
            sessions: AtomicU32::new(0),
        };
        let mut session = place.bare()?;
        let tools: Vec<Tool> = serde_json::from_value(session.tools()?)?;
        session.close()?;
        let found = tools.iter().find(|found| found.name.as_str() == tool);
        place.pin = pin(found.ok_or("the server does not list the tool")?)?.to_string();
        Ok(place)
    }

    /// Returns the parameters of a call.
    pub(super) fn call(&self) -> Value {
        json!({ "name": self.tool, "arguments": self.args })
    }

    /// Starts a session with the server itself.
    pub(super) fn bare(&self) -> Result<Session, Failure> {
        let (program, args) = self.command.split_first().ok_or("there is no command")?;
        Session::start(Command::new(program).args(args))
    }

    /// Starts a session with a proxy in front of the server, which has its own log.
    pub(super) fn proxied(&self, sync: bool) -> Result<Session, Failure> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("gate_{number}"));
        fs::create_dir(&folder)?;
        let Self { tool, pin, .. } = self;
        let config = format!(
            "[servers.s]\n[[allow]]\nserver = 's'\ntool = '{tool}'\npermissions = ['READ']\npin = '{pin}'\n\
             [[grants]]\nserver = 's'\ntool = '{tool}'\npermissions = ['READ']\n\
             [audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = {sync}\n"
        );
        let file = folder.join("gate.toml");
        fs::write(&file, config)?;
        let made = Command::new(&self.omen).args(["audit", "new-key"]).arg(folder.join("audit.key")).output()?;
        if !made.status.success() {
            return Err(format!("no key was made: {}", String::from_utf8_lossy(&made.stderr)).into());
        }
        let mut command = Command::new(&self.omen);
        command.args(["gate", "proxy", "--no-socket", "--config"]).arg(&file).arg("--").args(&self.command);
        Session::start(&mut command)
    }
}
