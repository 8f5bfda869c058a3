//! `omen hook`: the gate as a hook of coding agents.
//!
//! If its hook fails in a way that it does not understand, an agent runs the call. So this process answers however it ends.

mod doctor;
#[cfg(unix)]
mod http;
mod install;
mod policy;
mod rehearsal;
#[cfg(unix)]
mod resident;
#[cfg(unix)]
mod serve;
mod tools;

use std::io::{self, Read as _, Write as _};
use std::process::exit;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use omen_hook::{Dialect, HookAnswer, MAX_EVENT_BYTES, OpenCalls};

pub(crate) use self::doctor::doctor;
pub(crate) use self::install::install;
use self::policy::{HookScope, PolicyText};
#[cfg(unix)]
use self::resident::ResidentReply;
#[cfg(unix)]
pub(crate) use self::serve::serve;
pub(crate) use self::tools::tools;
use crate::args::{HookRunArgs, ResidentUse};
use crate::exit::{Exit, Failure};
use crate::output::write_answer;

#[cfg(not(unix))]
pub(crate) fn serve(_: &crate::args::HookServeArgs) -> Result<Exit, Failure> {
    Err(Failure::Usage("`omen hook serve` needs a Unix socket, which this system does not have".to_owned()))
}

/// Answer to an event, with the calls that the agent may make now, and the policy if a resident may answer the next event.
type HookDecision = (HookAnswer, Option<OpenCalls>, Option<PolicyText>);

pub(crate) fn run(args: &HookRunArgs) -> Result<Exit, Failure> {
    let dialect = Dialect::from_agent(&args.agent).map_err(|error| Failure::Usage(error.to_string()))?;
    args.episode.map_or(Ok(false), policy::observes).map_err(Failure::Usage)?;
    answer_panics(dialect.clone());
    let until = answer_in_time(&dialect, args.timeout);
    let (answer, open, policy) = match decided(args, &dialect, until) {
        Ok(decided) => decided,
        Err(why) => (dialect.fail(&why), None, None),
    };
    let code = answered(&answer);
    // The agent has been answered: what it was allowed stays open until it reports the outcome.
    open.into_iter().for_each(OpenCalls::leave_open);
    #[cfg(unix)]
    policy.iter().for_each(resident::start);
    #[cfg(not(unix))]
    drop(policy);
    Ok(Exit::Answered(code))
}

/// Verdict on the event, or the reason why there is none.
fn decided(args: &HookRunArgs, dialect: &Dialect, until: Instant) -> Result<HookDecision, String> {
    let mut event = Vec::new();
    let read = io::stdin().lock().take(MAX_EVENT_BYTES as u64 + 1).read_to_end(&mut event);
    read.map_err(|error| format!("cannot read the event: {error}"))?;
    let resident = if args.rehearse.is_some() { ResidentUse::Off } else { resident_use(args)? };
    let (policy, scope) = (PolicyText::read(&args.config)?, HookScope::from_args(args)?);
    #[cfg(unix)]
    if resident != ResidentUse::Off {
        match resident::ask(&policy, &scope, dialect, &event, until) {
            ResidentReply::Answered(answer) => return Ok((answer, None, None)),
            ResidentReply::Failed(why) => return Err(why),
            ResidentReply::Absent => {}
        }
    }
    let _ = until;
    let event = dialect.read(&event, |name| std::env::var(name).ok()).map_err(|error| error.to_string())?;
    let hook = policy.hook(dialect, policy.config()?, &scope, args.rehearse.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let (answer, open) = runtime.block_on(policy::answer(&hook, dialect, event))?;
    runtime.shutdown_background();
    Ok((answer, open, (resident == ResidentUse::Start).then_some(policy)))
}

/// Use of a resident: the argument, else the variable.
fn resident_use(args: &HookRunArgs) -> Result<ResidentUse, String> {
    let (None, Some(value)) = (args.resident, std::env::var_os(RESIDENT)) else {
        return Ok(args.resident.unwrap_or(ResidentUse::Start));
    };
    let value = value.to_string_lossy();
    let invalid = |_| format!("invalid value `{value}` of `{RESIDENT}`; help: set it to `start`, `use` or `off`");
    ResidentUse::from_str(&value, false).map_err(invalid)
}

/// Variable with the use of a resident.
const RESIDENT: &str = "OMEN_HOOK_RESIDENT";

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
            let _ = io::stderr().write_all(b"omen: the hook failed while answering; help: please report this\n");
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

/// Denies the call before the agent gives its hook up, and lets the call run. Returns when.
fn answer_in_time(dialect: &Dialect, timeout: Option<u64>) -> Instant {
    let seconds = timeout.unwrap_or(dialect.timeout_seconds);
    let (dialect, time) = (dialect.clone(), Duration::from_millis(seconds.saturating_mul(800)));
    thread::spawn(move || {
        thread::sleep(time);
        let why = format!("no decision within 80 % of {seconds} s; help: make the call again");
        exit(answered(&dialect.fail(&why)).into());
    });
    Instant::now() + time
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
