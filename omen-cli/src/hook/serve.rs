//! `omen hook serve`: answers the events of `omen hook run` in one process, which keeps the policy in memory.
//!
//! The log is open only while an event is decided, as in a hook without a resident, so both exclude each other in the same way.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use omen::render::human::clean;
use omen_base::Mutex;
use omen_gate::Config;
use omen_hook::{Dialect, Hook, HookAnswer, MAX_EVENT_BYTES, OpenCalls};
use omen_mcp::http::server::Unanswered;
use omen_proxy::confirm::PrivateListener;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::http;
use super::policy::{self, HookScope, PolicyText};
use super::resident::{HELLO, HookRequest, MAX_REQUEST, PolicyKey, framed, length_of};
use crate::args::HookServeArgs;
use crate::exit::{Exit, Failure, complain};
use crate::stop::asked_to_stop;

/// Policy in memory. A changed configuration is loaded with the next event.
#[derive(Debug)]
struct Resident {
    path: PathBuf,
    policy: Mutex<Arc<LoadedPolicy>>,
    /// Whether all calls are recorded as episodes.
    episodes: bool,
    /// Notified when a hook has another version.
    outdated: Notify,
}

/// Content of a configuration, with the hooks of the agents that have asked.
#[derive(Debug)]
struct LoadedPolicy {
    key: PolicyKey,
    policy: PolicyText,
    config: Config,
    hooks: Mutex<BTreeMap<HookScope, Arc<(Dialect, Hook)>>>,
}

pub(crate) fn serve(args: &HookServeArgs) -> Result<Exit, Failure> {
    let episodes = args.episode.map_or(Ok(false), policy::observes).map_err(Failure::Usage)?;
    let policy = match PolicyText::read(&args.config).and_then(LoadedPolicy::new) {
        Ok(policy) => Arc::new(policy),
        Err(why) => return Ok(unusable(&why)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(format!("cannot start: {error}")))?;
    let exit = runtime.block_on(async {
        let socket = policy.config.hook_socket();
        let listener = match PrivateListener::bind(&socket) {
            Ok(listener) => listener,
            Err(error) => return unusable(&format!("{error}; {}", error.help())),
        };
        let endpoint = match args.http {
            true => http::bind(&socket).await.map(Some),
            false => Ok(None),
        };
        let endpoint = match endpoint {
            Ok(endpoint) => endpoint,
            Err(why) => return unusable(&why),
        };
        let (path, policy, outdated) = (policy.policy.path.clone(), Mutex::new(policy), Notify::new());
        let resident = Arc::new(Resident { path, policy, episodes, outdated });
        let posts = endpoint.map(|(listener, posts)| {
            let resident = Arc::clone(&resident);
            tokio::spawn(posts.serve(listener, move |target, event| {
                let resident = Arc::clone(&resident);
                async move { resident.answer_post(&target, &event).await }
            }))
        });
        resident.serve(listener, idle_time(args), asked_to_stop()).await;
        if let Some(posts) = posts {
            posts.abort();
            let _ = posts.await;
        }
        Exit::Clean
    });
    Ok(exit)
}

/// Time without an event after which the process ends. Hooks over HTTP could not start it again.
fn idle_time(args: &HookServeArgs) -> Option<Duration> {
    (!args.http).then(|| Duration::from_secs(args.idle))
}

fn unusable(why: &str) -> Exit {
    complain(clean(why));
    Exit::Unreadable
}

impl Resident {
    /// Answers events until none has come for a time, or something asks to stop.
    async fn serve(self: Arc<Self>, listener: PrivateListener, idle: Option<Duration>, stop: impl Future<Output = ()>) {
        let (mut events, mut stop, mut last) = (JoinSet::new(), pin!(stop), Instant::now());
        loop {
            let is_idle = events.is_empty();
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.outdated.notified() => break,
                Some(_) = events.join_next() => last = Instant::now(),
                accepted = listener.accept(), if events.len() < MAX_EVENTS => match accepted {
                    Ok(stream) => {
                        let resident = Arc::clone(&self);
                        // The hook denies its call if its connection breaks.
                        events.spawn(async move { resident.attend(stream).await });
                    }
                    // Too many open files, for example.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
                () = sleep_until(last + idle.unwrap_or_default()), if is_idle && idle.is_some() => break,
            }
        }
        // Hooks that come now decide by themselves.
        drop(listener);
        let _ = timeout(GRACE, async { while events.join_next().await.is_some() {} }).await;
        // Calls that are dropped before their hook knows that they are allowed get their end in the log.
        events.shutdown().await;
    }

    async fn attend(&self, mut stream: UnixStream) -> io::Result<()> {
        let request = timeout(HELLO, read_frame(&mut stream, MAX_REQUEST)).await??;
        let request: HookRequest = serde_json::from_slice(&request)?;
        let current = Arc::clone(&self.policy.lock());
        let is_same = |policy: &Arc<LoadedPolicy>| policy.key == request.policy;
        let policy = Some(current).filter(is_same).or_else(|| self.current().ok().filter(is_same));
        stream.write_all(&framed(&serde_json::to_vec(&policy.is_some())?)?).await?;
        let Some(policy) = policy else {
            if !request.policy.is_of_this_version() {
                self.outdated.notify_one();
            }
            return Ok(());
        };
        let until = Instant::now() + Duration::from_millis(request.millis_left.min(LONGEST_SECONDS * 1000));
        let event = timeout_at(until, read_frame(&mut stream, MAX_EVENT_BYTES)).await??;
        let hook = policy.hook(&self.recording(&request.scope));
        let (mut read, mut write) = stream.split();
        let decided = tokio::select! {
            biased;
            // The hook sends nothing more: it has gone away, and would not hear that the call is allowed.
            _ = read.read_u8() => return Ok(()),
            decided = timeout_at(until, decided(&hook, &request, &event)) => decided,
        };
        let (answer, open) = match decided? {
            Ok(decided) => decided,
            Err(why) => {
                let dialect = Dialect::from_agent(&request.scope.agent).map_err(io::Error::other)?;
                (dialect.fail(&why), None)
            }
        };
        write.write_all(&framed(&serde_json::to_vec(&answer)?)?).await?;
        open.into_iter().for_each(OpenCalls::leave_open);
        Ok(())
    }

    /// Scope of a hook, with what this process records anyway.
    fn recording(&self, scope: &HookScope) -> HookScope {
        scope.clone().recording(self.episodes)
    }

    /// Policy that the file has now.
    fn current(&self) -> Result<Arc<LoadedPolicy>, String> {
        let text = PolicyText::read(&self.path)?;
        let mut policy = self.policy.lock();
        if policy.key != PolicyKey::new(&text) {
            *policy = Arc::new(LoadedPolicy::new(text)?);
        }
        Ok(Arc::clone(&policy))
    }

    /// Answer to an HTTP hook.
    async fn answer_post(&self, target: &str, event: &[u8]) -> Result<String, Unanswered> {
        let (scope, seconds) = HookScope::of_target(target).map_err(Unanswered)?;
        let hook = self.current().and_then(|policy| policy.hook(&self.recording(&scope))).map_err(Unanswered)?;
        let (dialect, hook) = &*hook;
        let event = dialect.read(event, |_| None).map_err(|error| Unanswered(error.to_string()))?;
        let limit = Duration::from_millis(seconds.unwrap_or(dialect.timeout_seconds).min(LONGEST_SECONDS) * 800);
        let late = |_| Unanswered(format!("no decision within {} s; help: make the call again", limit.as_secs_f32()));
        let decided = timeout(limit, policy::answer(hook, dialect, event)).await.map_err(late)?;
        let (answer, open) = decided.map_err(Unanswered)?;
        if answer.exit != 0 {
            return Err(Unanswered(answer.stderr));
        }
        if !answer.stderr.is_empty() {
            complain(clean(answer.stderr.trim_end()));
        }
        open.into_iter().for_each(OpenCalls::leave_open);
        // An empty answer would allow the call whatever went wrong.
        Ok(if answer.stdout.is_empty() { "{}".to_owned() } else { answer.stdout })
    }
}

impl LoadedPolicy {
    fn new(policy: PolicyText) -> Result<Self, String> {
        Ok(Self { key: PolicyKey::new(&policy), config: policy.config()?, policy, hooks: Mutex::default() })
    }

    /// Hook for a scope, which is kept for its next events.
    fn hook(&self, scope: &HookScope) -> Result<Arc<(Dialect, Hook)>, String> {
        let mut hooks = self.hooks.lock();
        if let Some(hook) = hooks.get(scope) {
            return Ok(Arc::clone(hook));
        }
        let dialect = Dialect::from_agent(&scope.agent).map_err(|error| error.to_string())?;
        let hook = self.policy.hook(&dialect, self.config.clone(), scope, None)?;
        // Catalogues that change would fill the memory.
        if hooks.len() >= MAX_HOOKS {
            hooks.clear();
        }
        let hook = Arc::new((dialect, hook));
        hooks.insert(scope.clone(), Arc::clone(&hook));
        Ok(hook)
    }
}

/// Verdict on an event, or the reason why there is none.
async fn decided(
    hook: &Result<Arc<(Dialect, Hook)>, String>,
    request: &HookRequest,
    event: &[u8],
) -> Result<(HookAnswer, Option<OpenCalls>), String> {
    let (dialect, hook) = hook.as_deref().map_err(Clone::clone)?;
    let event = dialect.read(event, |_| request.variable.clone()).map_err(|error| error.to_string())?;
    policy::answer(hook, dialect, event).await
}

async fn read_frame(stream: &mut (impl AsyncRead + Unpin), most: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    // Memory grows with what arrives, not with what is announced.
    let (length, mut bytes) = (length_of(length, most)?, Vec::new());
    if stream.take(length as u64).read_to_end(&mut bytes).await? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Events that are answered at once. Further hooks wait, or decide by themselves.
const MAX_EVENTS: usize = 64;

/// Hooks that are kept.
const MAX_HOOKS: usize = 64;

/// Time for events that are being decided when the process is to end.
const GRACE: Duration = Duration::from_secs(1);

/// Longest time of an event: that of the longest timeout.
const LONGEST_SECONDS: u64 = 86_400;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Read as _;
    use std::net::Shutdown;

    use super::*;

    fn args(http: bool) -> HookServeArgs {
        HookServeArgs { config: PathBuf::from("gate.toml"), idle: 600, episode: None, http }
    }

    /// Serves for as long as nothing asks to stop, with an event after each of the pauses, and returns the time.
    async fn served_for(pauses: &[u64]) -> Duration {
        let folder = tempfile::tempdir().unwrap();
        let (path, socket) = (folder.path().join("gate.toml"), folder.path().join("gate/hook.sock"));
        let text = "[servers.codex]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n".to_owned();
        let policy = LoadedPolicy::new(PolicyText { path: path.clone(), text }).unwrap();
        let policy = Mutex::new(Arc::new(policy));
        let resident = Resident { path, policy, episodes: false, outdated: Notify::new() };
        let listener = PrivateListener::bind(&socket).unwrap();
        let start = Instant::now();
        let serving = tokio::spawn(Arc::new(resident).serve(listener, idle_time(&args(false)), std::future::pending()));
        for seconds in pauses {
            sleep(Duration::from_secs(*seconds)).await;
            let socket = socket.clone();
            // The clock does not advance while a thread works.
            let event = tokio::task::spawn_blocking(move || {
                let mut hook = std::os::unix::net::UnixStream::connect(socket)?;
                hook.shutdown(Shutdown::Write)?;
                hook.read_to_end(&mut Vec::new())
            });
            event.await.unwrap().unwrap();
        }
        serving.await.unwrap();
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_resident_ends_after_its_time_without_an_event() {
        assert_eq!(served_for(&[]).await.as_secs(), 600);
        assert_eq!(served_for(&[599, 300]).await.as_secs(), 599 + 300 + 600);
    }

    #[test]
    fn a_resident_of_http_hooks_has_no_such_time() {
        assert_eq!((idle_time(&args(false)), idle_time(&args(true))), (Some(Duration::from_secs(600)), None));
    }
}
