//! Policy by which events are judged: a configuration, and additions from the hook's arguments.

use std::path::{self, Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;

#[cfg(unix)]
use async_trait::async_trait;
use omen_gate::Config;
use omen_gate::catalog::Catalog;
use omen_gate::config::ConfigErrors;
#[cfg(unix)]
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::regular_file;
use omen_hook::{Dialect, Event, Hook, HookAnswer, HookVerdict, OpenCalls};
#[cfg(unix)]
use omen_proxy::confirm::SocketConfirmer;
use omen_proxy::episode::Mode;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::rehearsal;
use crate::args::HookRunArgs;
use crate::gate;

/// Text of a configuration, from which policy and hash are taken: the file may change at any time.
#[derive(Debug)]
pub(super) struct PolicyText {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// What a hook's arguments add to the configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookScope {
    pub(super) agent: String,
    root: Option<PathBuf>,
    /// Catalogue, and the hash of its content.
    catalog: Option<(PathBuf, String)>,
    /// Whether each call is recorded as an episode.
    episodes: bool,
}

impl PolicyText {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let unreadable = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let path = path::absolute(path).map_err(|error| unreadable(&error))?;
        let bytes =
            regular_file::read(&path, omen_gate::config::MAX_BYTES as u64).map_err(|error| unreadable(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(&error))?;
        Ok(Self { path, text })
    }

    pub(super) fn hash(&self) -> String {
        hash(self.text.as_bytes())
    }

    pub(super) fn config(&self) -> Result<Config, String> {
        Config::parse_as(&self.text, &self.path).map_err(|errors| invalid(&self.path, &errors))
    }

    /// Hook of an agent with this configuration. A rehearsal records in a folder of its own, and asks nobody.
    pub(super) fn hook(
        &self,
        dialect: &Dialect,
        config: Config,
        scope: &HookScope,
        rehearse: Option<&Path>,
    ) -> Result<Hook, String> {
        #[cfg(unix)]
        let confirmer = rehearse.is_none().then(|| Arc::new(LateConfirmer(config.confirm_socket())));
        let config = match rehearse {
            Some(folder) => rehearsal::config(config, folder)?,
            None => config,
        };
        let mut hook = Hook::new(dialect.clone(), config).map_err(|error| error.to_string())?.guard(&self.path);
        #[cfg(unix)]
        if let Some(confirmer) = confirmer {
            hook = hook.confirmer(confirmer);
        }
        if scope.episodes {
            hook = hook.episodes();
        }
        if let Some(root) = &scope.root {
            hook = hook.within(root);
        }
        if let Some((path, hash)) = &scope.catalog {
            let (text, found) = catalog_text(path)?;
            let unusable = |why: &dyn std::fmt::Display| format!("cannot use the catalogue {}: {why}", path.display());
            if found != *hash {
                return Err(unusable(&"it has changed in the meantime; help: make the call again"));
            }
            hook = hook.catalogue(&Catalog::parse(&text).map_err(|error| unusable(&error))?).guard(path);
        }
        Ok(hook)
    }
}

/// First error of a configuration, with its place.
pub(super) fn invalid(config: &Path, errors: &ConfigErrors) -> String {
    let Some(error) = errors.0.first() else { return "the configuration is invalid".to_owned() };
    let (path, line, column) = (config.display(), error.line, error.column);
    let place = if line == 0 { path.to_string() } else { format!("{path}:{line}:{column}") };
    format!("{place}: {}; help: {}", error.message, error.help)
}

impl HookScope {
    /// Scope of an HTTP hook, and the agent's timeout in seconds: `/claude-code?root=/home/dev/project&timeout=60`.
    #[cfg(unix)]
    pub(super) fn of_target(target: &str) -> Result<(Self, Option<u64>), String> {
        let invalid = |what: &str| format!("invalid target: {what}; help: use `/claude-code?root=FOLDER`");
        let url = url::Url::parse("http://localhost").and_then(|base| base.join(target));
        let url = url.map_err(|error| invalid(&error.to_string()))?;
        // The only agent that denies a call on every failure of an HTTP hook.
        let agent = Some(url.path().trim_start_matches('/')).filter(|agent| *agent == "claude-code");
        let agent = agent.ok_or_else(|| invalid("only `claude-code` has hooks over HTTP"))?.to_owned();
        let (mut scope, mut seconds) = (Self { agent, root: None, catalog: None, episodes: false }, None);
        for (name, value) in url.query_pairs() {
            match &*name {
                "root" if Path::new(&*value).is_absolute() => scope.root = Some(PathBuf::from(&*value)),
                "catalog" => {
                    let path = PathBuf::from(&*value);
                    let hash = catalog_text(&path)?.1;
                    scope.catalog = Some((path, hash));
                }
                "timeout" => {
                    seconds = Some(value.parse().map_err(|_| invalid("`timeout` is not a number of seconds"))?)
                }
                "episode" => scope.episodes = observes(value.parse().map_err(|error| invalid(&format!("{error}")))?)?,
                _ => return Err(invalid(&format!("`{name}={value}`"))),
            }
        }
        Ok((scope, seconds))
    }

    /// The same scope, in which calls may be recorded as episodes in any case.
    #[cfg(unix)]
    pub(super) fn recording(self, anyway: bool) -> Self {
        Self { episodes: self.episodes || anyway, ..self }
    }

    pub(super) fn from_args(args: &HookRunArgs) -> Result<Self, String> {
        let absolute = |path: &PathBuf| path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
        let catalog = args.catalog.as_ref().map(|path| Ok::<_, String>((absolute(path)?, catalog_text(path)?.1)));
        let (root, catalog) = (args.root.as_ref().map(absolute).transpose()?, catalog.transpose()?);
        Ok(Self { agent: args.agent.clone(), root, catalog, episodes: args.episode.is_some() })
    }
}

/// Whether a mode observes.
///
/// # Errors
/// The other mode, which no hook can have.
pub(super) fn observes(mode: Mode) -> Result<bool, String> {
    match mode {
        Mode::Observe => Ok(true),
        _ => Err(
            "`enforce` is not available for hooks: the model states what it observes, believes and decides by means \
             of tools, which a hook cannot offer; help: use `--episode observe`, or give the agent its tools through \
             an MCP server behind `omen gate proxy --episode enforce`"
                .to_owned(),
        ),
    }
}

/// Answer to an event, with the calls that the agent may make now.
pub(super) async fn answer(
    hook: &Hook,
    dialect: &Dialect,
    event: Event,
) -> Result<(HookAnswer, Option<OpenCalls>), String> {
    let report = hook.handle(event).await.map_err(|error| error.to_string())?;
    let (mut answer, open) = match report.verdict {
        HookVerdict::Allowed(open) => (dialect.allow(), Some(open)),
        HookVerdict::Denied(why) => (dialect.deny(&why), None),
        HookVerdict::Settings(why) | HookVerdict::Bypass(why) => (dialect.object_to(&why), None),
        HookVerdict::Noted => (dialect.note(), None),
        _ => (dialect.fail("the verdict is unknown; help: install the same version of all parts of omen"), None),
    };
    // Beside an answer on standard output, agents read nothing here.
    answer.stderr.extend(report.not_recorded.map(|why| format!("omen: {why}\n")));
    Ok((answer, open))
}

/// Text of a catalogue, and its hash.
fn catalog_text(path: &Path) -> Result<(String, String), String> {
    let text = gate::read_catalog_text(path);
    let text = text.map_err(|why| format!("cannot use the catalogue {}: {why}", path.display()))?;
    let hash = hash(text.as_bytes());
    Ok((text, hash))
}

fn hash(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// Confirmer at the socket of `omen gate confirm`, while the agent waits for its hook. It takes the socket only once a call needs
/// it, since each event has a gate of its own.
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
