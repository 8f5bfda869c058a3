//! The hook's side of the resident that answers for `omen hook run`: it is found, asked, and started for the next events.
//!
//! The two exchange frames, each preceded by its length in four bytes: the hook identifies itself, the resident states whether it
//! answers for this hook; the event and the answer follow. Until the event is sent, the hook can still decide by itself.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omen_gate::Config;
use omen_hook::{Dialect, HookAnswer, MAX_EVENT_BYTES};
use omen_proxy::confirm::connect;
use serde::{Deserialize, Serialize};

use super::policy::{HookScope, PolicyText};

/// Request of a hook, before its event.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookRequest {
    pub(super) policy: PolicyKey,
    pub(super) scope: HookScope,
    /// Value of the variable that the dialect reads.
    pub(super) variable: Option<String>,
    /// Time until the hook denies the call by itself.
    pub(super) millis_left: u64,
}

/// Identity of a policy: another version of this program, or another content of the file, may decide differently.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyKey {
    version: String,
    config: PathBuf,
    hash: String,
}

#[derive(Debug)]
pub(super) enum ResidentReply {
    Answered(HookAnswer),
    /// None answers for this hook, and none has seen the event.
    Absent,
    /// The resident has the event, and may have recorded a decision.
    Failed(String),
}

impl PolicyKey {
    pub(super) fn new(policy: &PolicyText) -> Self {
        Self { version: VERSION.to_owned(), config: policy.path.clone(), hash: policy.hash() }
    }

    pub(super) fn is_of_this_version(&self) -> bool {
        self.version == VERSION
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Asks the resident of a configuration, if there is one.
pub(super) fn ask(
    policy: &PolicyText,
    scope: &HookScope,
    dialect: &Dialect,
    event: &[u8],
    until: Instant,
) -> ResidentReply {
    let Some(socket) = Config::hook_socket_of(&policy.text, &policy.path) else { return ResidentReply::Absent };
    let accepted = || -> io::Result<_> {
        let mut stream = connect(&socket)?;
        stream.set_read_timeout(Some(HELLO))?;
        stream.set_write_timeout(Some(HELLO))?;
        let variable = dialect.version_variable().and_then(|(name, _)| std::env::var(name).ok());
        let left = until.saturating_duration_since(Instant::now());
        let millis_left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let request = HookRequest { policy: PolicyKey::new(policy), scope: scope.clone(), variable, millis_left };
        stream.write_all(&framed(&serde_json::to_vec(&request)?)?)?;
        let is_accepted: bool = serde_json::from_slice(&read_frame(&mut stream, MAX_REQUEST)?)?;
        // From here on, the alarm of this process limits the time.
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(is_accepted.then_some(stream))
    };
    let (Ok(Some(mut stream)), true) = (accepted(), event.len() <= MAX_EVENT_BYTES) else {
        return ResidentReply::Absent;
    };
    let answered = framed(event)
        .and_then(|event| stream.write_all(&event))
        .and_then(|()| read_frame(&mut stream, MAX_ANSWER))
        .and_then(|answer| Ok(serde_json::from_slice(&answer)?));
    match answered {
        Ok(answer) => ResidentReply::Answered(answer),
        Err(error) => {
            let why = "`omen hook serve` has failed, and may have recorded a decision";
            ResidentReply::Failed(format!("{why}: {error}; help: make the call again"))
        }
    }
}

/// Starts a resident for the next events. If it cannot serve, they are decided as this one was.
pub(super) fn start(policy: &PolicyText) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["hook", "serve", "--config"]).arg(&policy.path);
    // It outlives the agent's command, and must keep open nothing that the agent waits for.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    if let Some(folder) = policy.path.parent() {
        command.current_dir(folder);
    }
    let _ = command.spawn();
}

pub(super) fn framed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    Ok([&length.to_be_bytes(), bytes].concat())
}

fn read_frame(stream: &mut impl io::Read, most: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut bytes = vec![0; length_of(length, most)?];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Length that a frame states, if it is not too long.
pub(super) fn length_of(stated: [u8; 4], most: usize) -> io::Result<usize> {
    let length = usize::try_from(u32::from_be_bytes(stated)).ok().filter(|length| *length <= most);
    length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("a frame exceeds {most} bytes")))
}

/// Longest request in bytes.
pub(super) const MAX_REQUEST: usize = 64 << 10;

/// Longest answer in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// Time in which a resident says whether it answers. One that is busy for longer costs more than it saves.
pub(super) const HELLO: Duration = Duration::from_millis(250);
