//! How a gate is put together.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::answer::{BadOutput, Outputs};
use crate::base::{Blocked, GateClock, Ratchet, ServerName, SystemClock, ToolId, TurnId};
use crate::call::{Breakers, Health, Rates};
use crate::config::{Config, KeySource, Limits};
use crate::grant::{Confirmations, Confirmer, Grant, Grants, Nobody, Reserved};
use crate::request::audit_queue::{AuditQueue, data};
use crate::request::before::Before;
use crate::request::discoveries::Discoveries;
use crate::request::fixed::Fixed;
use crate::request::gate::{Gate, Parts};
use crate::request::on_disk::OnDisk;
use crate::request::rules::{InForce, Rules};
use crate::request::stamp::stamp;
use crate::request::turn_registry::TurnRegistry;
use crate::server::{Discovery, ToolServer};
use omen_audit::{Anchor, Audit, AuditError, Key, KeyError, Kind, Options, Record};

/// Puts a gate together: the configuration says what is allowed; servers, types of answers and who confirms come from
/// the program.
#[must_use = "a gate begins with `build()`"]
#[derive(Debug)]
pub struct Builder {
    config: Config,
    servers: BTreeMap<ServerName, Arc<dyn ToolServer>>,
    outputs: Outputs,
    confirmer: Arc<dyn Confirmer>,
    clock: Arc<dyn GateClock>,
    audit: Option<Audit>,
    wrong: Option<BuildError>,
}

/// Why there is no gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A server was given that the configuration does not have.
    #[error("C1: the configuration has no server `{0}`")]
    UnknownServer(ServerName),
    /// A server of the configuration was not given, and has no command to start it.
    #[error("C1: the server `{0}` of the configuration is missing: pass it to `Builder::server`, or add its `command`")]
    NoServer(ServerName),
    /// Two servers were given for one name.
    #[error("C1: the server `{0}` was passed twice")]
    ServerTwice(ServerName),
    /// There is nowhere to record what is done, so nothing can be done (D49).
    #[error("A1: there is no audit log: add an `[audit]` table to the configuration, or pass one to `Builder::audit`")]
    NoAudit,
    /// A registered type of answers cannot be used.
    #[error("PG-4: {0}")]
    Output(#[from] BadOutput),
    /// A default grant cannot be given.
    #[error(transparent)]
    Grant(#[from] Blocked),
    /// The audit log cannot be used.
    #[error("A1: {0}")]
    Audit(#[from] AuditError),
    /// The key of the audit log cannot be used.
    #[error("A1: {0}")]
    Key(#[from] KeyError),
}

impl BuildError {
    /// How to fix it; empty if the message says it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Audit(error) => error.help().to_owned(),
            Self::Key(error) => error.help(),
            Self::Grant(blocked) => blocked.help.clone(),
            Self::UnknownServer(_) | Self::NoServer(_) | Self::ServerTwice(_) | Self::NoAudit | Self::Output(_) => {
                String::new()
            }
        }
    }
}

impl Gate {
    /// Begins with a configuration.
    pub fn builder(config: Config) -> Builder {
        Builder {
            config,
            servers: BTreeMap::new(),
            outputs: Outputs::default(),
            confirmer: Arc::new(Nobody),
            clock: Arc::new(SystemClock::default()),
            audit: None,
            wrong: None,
        }
    }

    /// Opens the audit log of a configuration as [`Builder::build`] does, for a program that has to know first whether it
    /// can: pass it to [`Builder::audit`].
    ///
    /// # Errors
    /// If there is none, its key or a required anchor cannot be used, or the log cannot be opened.
    pub fn open_audit(config: &Config, clock: Arc<dyn GateClock>) -> Result<Audit, BuildError> {
        let audit = config.audit.as_ref().ok_or(BuildError::NoAudit)?;
        let key = match &audit.key {
            KeySource::File(path) => Key::from_file(path)?,
            KeySource::Env(variable) => Key::from_env(variable)?,
        };
        let require = match &audit.require_anchor {
            Some(path) => Some(Anchor::from_file(path, &key).map_err(AuditError::from)?),
            None => None,
        };
        let options = Options {
            sync: audit.sync,
            max_entry_bytes: longest_entry(&config.limits),
            rotate_bytes: audit.rotate_bytes,
            rotate_after: audit.rotate_after,
            require,
        };
        Ok(Audit::open(&audit.log, key, clock, options)?)
    }
}

impl Builder {
    /// Gives a server of the configuration. The gate owns it from then on.
    pub fn server(mut self, name: ServerName, server: impl ToolServer) -> Self {
        let is_known = self.config.servers.contains_key(&name);
        let wrong = match self.servers.entry(name.clone()) {
            _ if !is_known => Some(BuildError::UnknownServer(name)),
            Entry::Occupied(_) => Some(BuildError::ServerTwice(name)),
            Entry::Vacant(place) => {
                place.insert(Arc::new(server));
                None
            }
        };
        self.wrong = self.wrong.or(wrong);
        self
    }

    /// Says of which type a tool's answers are (PG-4).
    pub fn output<T: DeserializeOwned + JsonSchema + 'static>(mut self, tool: ToolId) -> Self {
        let wrong = self.outputs.register::<T>(tool).err().map(BuildError::Output);
        self.wrong = self.wrong.or(wrong);
        self
    }

    /// Says who is asked to confirm calls (G3). Without it nobody is, and what needs a confirmation is denied.
    pub fn confirmer(mut self, confirmer: impl Confirmer) -> Self {
        self.confirmer = Arc::new(confirmer);
        self
    }

    /// Gives another clock than the machine's.
    pub fn clock(mut self, clock: Arc<dyn GateClock>) -> Self {
        self.clock = clock;
        self
    }

    /// Gives an audit log that is open already, in place of that of the configuration.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Starts the servers of the configuration that have a `command` and were not given.
    ///
    /// # Errors
    /// R3 if one of them cannot be started.
    #[cfg(feature = "mcp")]
    pub async fn start_servers(mut self) -> Result<Self, Blocked> {
        let missing: Vec<_> =
            self.config.servers.iter().filter(|(name, _)| !self.servers.contains_key(*name)).collect();
        let mut started: Vec<(ServerName, Arc<dyn ToolServer>)> = Vec::new();
        for (name, server) in missing {
            if let Some(command) = &server.command {
                let launch = crate::server::mcp::launch(command, &self.config.limits);
                let server = crate::server::mcp::StdioServer::start(launch).await.map_err(|fault| {
                    let message = format!("the server `{name}` cannot be started: {fault}");
                    Blocked::new(
                        crate::base::GateCode::R3,
                        message,
                        "check that its `command` is right and starts on its own",
                    )
                })?;
                started.push((name.clone(), Arc::new(server)));
            }
        }
        self.servers.extend(started);
        Ok(self)
    }

    /// Opens the audit log, loads the default grants, and returns the gate. The grants are in the log, in entries of the
    /// turn [`START`](crate::START), before they are in force (G4).
    ///
    /// # Errors
    /// If anything is wrong with what was given, a server is missing, or the audit log cannot be opened.
    pub fn build(self) -> Result<Gate, BuildError> {
        let Self { config, servers, outputs, confirmer, clock, audit, wrong } = self;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if let Some(missing) = config.servers.keys().find(|name| !servers.contains_key(*name)) {
            return Err(BuildError::NoServer(missing.clone()));
        }
        let audit = match audit {
            Some(audit) => audit,
            None => Gate::open_audit(&config, Arc::clone(&clock))?,
        };
        // One for all that expires, so that what one of them has seen, all have. The log has the time of day as it is.
        // What has expired before the gate was restarted stays so: the log shows what time it was then.
        let expiry = Ratchet::not_before(Arc::clone(&clock), audit.latest()?);
        let grants = Grants::by(Arc::clone(&expiry));
        load(&config.grants, &grants, &audit)?;
        // What was done before the gate was restarted holds.
        let before = Before::new(audit.clone());
        before.restore_uses(&grants);
        before.keep_revoked(&grants, &TurnId::start())?;
        let breakers = Breakers::new(Arc::clone(&clock), config.breaker);
        let rates = Arc::new(Rates::new(Arc::clone(&clock)));
        before.restore_rates(&rates, clock.as_ref());
        let audit_queue = AuditQueue::new(audit);
        audit_queue.set_stamp(stamp(config.hash(), config.shadow));
        let confirmations = Confirmations::by(confirmer, Arc::clone(&expiry), config.confirm);
        let keeps_shadow = config.keeps_shadow();
        let discovery = Arc::new(Discovery::new(servers, config.limits.clone()));
        Ok(Gate(Arc::new(Parts {
            rules: Arc::new(InForce::new(Rules::of(&config))),
            fixed: Arc::new(Fixed::of(&config)),
            reloading: Arc::default(),
            discoveries: Discoveries::of(&discovery),
            discovery,
            outputs: Arc::new(outputs),
            grants,
            confirmations,
            breakers,
            rates,
            keeps_shadow,
            on_disk: OnDisk::default(),
            recorder: config.audit.map(|audit| audit.recorder).unwrap_or_default(),
            health: Health::new(clock),
            turns: Arc::new(TurnRegistry::after(config.budget, config.calls, before.clone())),
            before,
            audit_queue,
            clock: expiry,
        })))
    }
}

/// Gives the default grants (G1), once they are recorded.
fn load(defaults: &[Grant], grants: &Grants, audit: &Audit) -> Result<(), BuildError> {
    let start = TurnId::start();
    let added = grants.replace(defaults)?;
    for some in added.added().chunks(GRANTS_AN_ENTRY) {
        let given: Vec<_> = some.iter().map(Reserved::given).collect();
        let _ = audit.append(Record::new(Kind::Grant, &start, data(json!({ "grants": given }))))?;
    }
    drop(added.give());
    Ok(())
}

/// How long an entry of the audit log may be, in bytes. Arguments are in it in the spelling of RFC 8785, which writes
/// `1e20` with 21 digits: it is less than six times as long as the plan.
fn longest_entry(limits: &Limits) -> usize {
    Options::default().max_entry_bytes + 6 * limits.plan_bytes as usize
}

/// So that no entry is longer than entries may be, whatever the tools are called.
pub(crate) const GRANTS_AN_ENTRY: usize = 256;
