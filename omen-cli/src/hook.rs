//! `omen hook`: the gate as a hook of coding agents.
//!
//! An agent runs the call if its hook fails in a form that it does not understand, so every end of this process is an answer.

mod doctor;
mod install;
mod rehearsal;
mod tools;

use std::io::{self, Read as _, Write as _};
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::process::exit;
#[cfg(unix)]
use std::sync::Arc;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::Duration;

#[cfg(unix)]
use async_trait::async_trait;
use omen_gate::Config;
use omen_gate::config::ConfigErrors;
#[cfg(unix)]
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_hook::{Dialect, Hook, HookAnswer, HookVerdict, MAX_EVENT_BYTES, OpenCalls};
#[cfg(unix)]
use omen_proxy::confirm::SocketConfirmer;

pub(crate) use self::doctor::doctor;
pub(crate) use self::install::{install, strict as strict_jsonc};
pub(crate) use self::tools::tools;
use crate::args::HookRunArgs;
use crate::exit::{Exit, Failure};
use crate::gate;
use crate::output::write_answer;

pub(crate) fn run(args: &HookRunArgs) -> Result<Exit, Failure> {
    let dialect = Dialect::of(&args.agent).map_err(|error| Failure::Usage(error.to_string()))?;
    answer_panics(dialect.clone());
    answer_in_time(&dialect, args.timeout);
    let (answer, open) = match decided(args, &dialect) {
        Ok((answer, open)) => (answer, open),
        Err(why) => (dialect.fail(&why), None),
    };
    let is_written = answered(&answer);
    // The agent has been answered: what it was allowed stays open until it reports the outcome.
    open.into_iter().for_each(OpenCalls::leave_open);
    Ok(Exit::Answered(is_written))
}

/// Verdict on the event, or the reason why there is none.
fn decided(args: &HookRunArgs, dialect: &Dialect) -> Result<(HookAnswer, Option<OpenCalls>), String> {
    let mut event = Vec::new();
    let read = io::stdin().lock().take(MAX_EVENT_BYTES as u64 + 1).read_to_end(&mut event);
    read.map_err(|error| format!("cannot read the event: {error}"))?;
    let event = dialect.read(&event, |name| std::env::var(name).ok()).map_err(|error| error.to_string())?;
    let config = Config::load(&args.config).map_err(|errors| invalid(&args.config, &errors))?;
    #[cfg(unix)]
    let socket = config.confirm_socket();
    let config = match &args.rehearse {
        Some(folder) => rehearsal::config(config, folder)?,
        None => config,
    };
    let mut hook = Hook::new(dialect.clone(), config).map_err(|error| error.to_string())?;
    // A rehearsal asks nobody.
    #[cfg(unix)]
    if args.rehearse.is_none() {
        hook = hook.confirmer(Arc::new(LateConfirmer(socket)));
    }
    hook = hook.guard(&args.config);
    if let Some(root) = &args.root {
        hook = hook.within(root);
    }
    if let Some(path) = &args.catalog {
        let catalogue = gate::read_catalog(path).map_err(|_| format!("cannot use the catalogue {}", path.display()))?;
        hook = hook.catalogue(&catalogue).guard(path);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let verdict = runtime.block_on(hook.handle(event)).map_err(|error| error.to_string())?;
    runtime.shutdown_background();
    Ok(match verdict {
        HookVerdict::Allowed(open) => (dialect.allow(), Some(open)),
        HookVerdict::Denied(why) => (dialect.deny(&why), None),
        HookVerdict::Settings(why) | HookVerdict::Bypass(why) => (dialect.object_to(&why), None),
        HookVerdict::Noted => (dialect.note(), None),
        _ => (dialect.fail("the verdict is unknown; help: install one version of all parts of omen"), None),
    })
}

fn invalid(config: &Path, errors: &ConfigErrors) -> String {
    let Some(error) = errors.0.first() else { return "the configuration is invalid".to_owned() };
    let (path, line, column) = (config.display(), error.line, error.column);
    let place = if line == 0 { path.to_string() } else { format!("{path}:{line}:{column}") };
    format!("{place}: {}; help: {}", error.message, error.help)
}

/// Confirmer at the socket of `omen gate confirm`, while the agent waits for its hook. It takes the socket only once a call needs
/// it, since a hook is a process for each event.
#[cfg(unix)]
#[derive(Debug)]
struct LateConfirmer(PathBuf);

#[cfg(unix)]
#[async_trait]
impl Confirmer for LateConfirmer {
    async fn confirm(&self, question: &Question) -> Reply {
        match SocketConfirmer::bind(&self.0) {
            Ok(socket) => socket.confirm(question).await,
            Err(error) => Reply::Denied { why: format!("`omen gate confirm` is unavailable: {error}") },
        }
    }
}

/// Thread that writes the answer: there is only one answer.
static ANSWERING: OnceLock<ThreadId> = OnceLock::new();

/// Claim of a thread to write the answer.
#[derive(Debug, PartialEq, Eq)]
enum AnswerClaim {
    /// The thread writes the answer.
    First,
    /// The thread has failed while it was writing the answer, or after that.
    Again,
    /// Another thread writes the answer.
    Late,
}

impl AnswerClaim {
    fn of_this_thread(answering: &OnceLock<ThreadId>) -> Self {
        let this = thread::current().id();
        match answering.set(this) {
            Ok(()) => Self::First,
            Err(_) if answering.get() == Some(&this) => Self::Again,
            Err(_) => Self::Late,
        }
    }
}

/// Writes the answer, unless another thread does, and returns the exit code. One that cannot be written is a denial.
fn answered(answer: &HookAnswer) -> u8 {
    match AnswerClaim::of_this_thread(&ANSWERING) {
        AnswerClaim::First => {}
        AnswerClaim::Again => {
            // No thread would end this process, and after its timeout the agent would run the call.
            let _ = io::stderr().write_all(b"omen: the hook failed while it was answering; help: please report this\n");
            return DENIED;
        }
        // The other thread ends this process.
        AnswerClaim::Late => loop {
            thread::park();
        },
    }
    let is_written = write_answer(&answer.stdout).is_ok();
    let text = if is_written { answer.stderr.as_str() } else { "omen: the answer cannot be written\n" };
    let _ = io::stderr().write_all(text.as_bytes());
    if is_written { answer.exit } else { DENIED }
}

/// Has a panic answered as a denial.
fn answer_panics(dialect: Dialect) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        exit(answered(&dialect.fail(&format!("the hook failed at {place}; help: please report this"))).into());
    }));
}

/// Denies the call before the agent gives its hook up, and lets the call run.
fn answer_in_time(dialect: &Dialect, timeout: Option<u64>) {
    let seconds = timeout.unwrap_or(dialect.timeout_seconds);
    let dialect = dialect.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(seconds.saturating_mul(800)));
        exit(
            answered(&dialect.fail(&format!("no decision within 80 % of {seconds} s; help: make the call again")))
                .into(),
        );
    });
}

/// Exit code that agents take for a denial.
const DENIED: u8 = 2;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A panic cannot be provoked from outside while the answer is written: every failure of the output is an error value.
    #[test]
    fn a_thread_that_fails_while_it_answers_does_not_wait_for_itself() {
        let answering = OnceLock::new();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let claims = [AnswerClaim::of_this_thread(&answering), AnswerClaim::of_this_thread(&answering)];
                assert_eq!(claims, [AnswerClaim::First, AnswerClaim::Again]);
            });
            other.join().unwrap();
        });
        assert_eq!(AnswerClaim::of_this_thread(&answering), AnswerClaim::Late);
    }
}
