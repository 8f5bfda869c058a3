//! Gate construction.

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
use crate::grant::{Confirmations, Confirmer, Grant, Grants, Nobody, ReservedGrant};
use crate::request::audit_queue::{AuditQueue, data, stamp};
use crate::request::discoveries::Discoveries;
use crate::request::file_rule_threads::FileRuleThreads;
use crate::request::gate::{Gate, GateParts};
use crate::request::order::{DebtReport, ORDER_KEY, Order, Reporter};
use crate::request::restart_only::RestartOnly;
use crate::request::restart_state::RestartState;
use crate::request::rules::{Rules, RulesInForce};
use crate::request::turn_registry::TurnRegistry;
use crate::server::{Discovery, ToolServer};
use omen_audit::{Anchor, Audit, AuditError, Checkpoint, Key, KeyError, Kind, Options, Record};
use omen_order::SessionsOf;

/// Gate builder. The configuration says what is allowed; servers, output types and the confirmer come from the program.
#[must_use = "a gate begins with `build()`"]
#[derive(Debug)]
pub struct Builder {
    config: Config,
    servers: BTreeMap<ServerName, Arc<dyn ToolServer>>,
    outputs: Outputs,
    confirmer: Arc<dyn Confirmer>,
    clock: Arc<dyn GateClock>,
    audit: Option<Audit>,
    sessions: SessionsOf,
    reporter: Reporter,
    has_turns: bool,
    leaves_calls_open: bool,
    wrong: Option<BuildError>,
}

/// Error building a gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A server was given that is not in the configuration.
    #[error("C1: the configuration has no server `{0}`")]
    UnknownServer(ServerName),
    /// A server in the configuration was not given and has no command that starts it.
    #[error("C1: the server `{0}` of the configuration is missing: pass it to `Builder::server`, or add its `command`")]
    NoServer(ServerName),
    /// Two servers were given with one name.
    #[error("C1: the server `{0}` was passed twice")]
    ServerTwice(ServerName),
    /// No audit log is configured or given; the gate can do nothing without one (D49).
    #[error("A1: there is no audit log: add an `[audit]` table to the configuration, or pass one to `Builder::audit`")]
    NoAudit,
    /// A registered output type cannot be used.
    #[error("PG-4: {0}")]
    Output(#[from] BadOutput),
    /// A default grant is refused.
    #[error(transparent)]
    Grant(#[from] Blocked),
    /// The audit log cannot be used.
    #[error("A1: {0}")]
    Audit(#[from] AuditError),
    /// The key of the audit log cannot be used.
    #[error("A1: {0}")]
    Key(#[from] KeyError),
    /// An audit log entry contains data for the order rules that cannot be read.
    #[error("O-6: invalid member `order` in entry {entry} of the audit log: {source}")]
    Order {
        /// Entry number.
        entry: u64,
        /// Description of the error.
        source: serde_json::Error,
    },
}

impl BuildError {
    /// Returns the help: how to fix the error; empty if the message says it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Audit(error) => error.help().to_owned(),
            Self::Key(error) => error.help(),
            Self::Grant(blocked) => blocked.help.clone(),
            Self::Order { .. } => ORDER_HELP.to_owned(),
            Self::UnknownServer(_) | Self::NoServer(_) | Self::ServerTwice(_) | Self::NoAudit | Self::Output(_) => {
                String::new()
            }
        }
    }
}

impl Gate {
    /// Creates a builder from a configuration.
    pub fn builder(config: Config) -> Builder {
        Builder {
            config,
            servers: BTreeMap::new(),
            outputs: Outputs::default(),
            confirmer: Arc::new(Nobody),
            clock: Arc::new(SystemClock::default()),
            audit: None,
            sessions: SessionsOf::Program,
            reporter: Reporter::default(),
            has_turns: true,
            leaves_calls_open: false,
            wrong: None,
        }
    }

    /// Opens the audit log of a configuration as [`Builder::build`] does, for a program that must know early whether
    /// this works. Pass the log to [`Builder::audit`].
    ///
    /// # Errors
    /// If no log is configured, its key or a required anchor cannot be used, or the log cannot be opened.
    pub fn open_audit(config: &Config, clock: Arc<dyn GateClock>) -> Result<Audit, BuildError> {
        Self::open_audit_after(config, clock, &mut None)
    }

    /// Opens the audit log of a configuration as [`open_audit`](Self::open_audit) does, and sets a checkpoint for the next time,
    /// when only the entries after it are verified.
    ///
    /// # Errors
    /// As for [`open_audit`](Self::open_audit).
    pub fn open_audit_after(
        config: &Config,
        clock: Arc<dyn GateClock>,
        checkpoint: &mut Option<Checkpoint>,
    ) -> Result<Audit, BuildError> {
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
        Ok(Audit::open_after(&audit.log, key, clock, options, checkpoint)?)
    }
}

impl Builder {
    /// Adds a server in the configuration. The gate owns it from then on.
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

    /// Registers the type of a tool's answers (PG-4).
    pub fn output<T: DeserializeOwned + JsonSchema + 'static>(mut self, tool: ToolId) -> Self {
        let wrong = self.outputs.register::<T>(tool).err().map(BuildError::Output);
        self.wrong = self.wrong.or(wrong);
        self
    }

    /// Sets the confirmer of calls (G3). Without a confirmer, calls that need a confirmation are denied.
    pub fn confirmer(mut self, confirmer: impl Confirmer) -> Self {
        self.confirmer = Arc::new(confirmer);
        self
    }

    /// Replaces the machine's clock.
    pub fn clock(mut self, clock: Arc<dyn GateClock>) -> Self {
        self.clock = clock;
        self
    }

    /// Makes the sessions of the order rules end with the gate, as clients' sessions do: sessions that were open when
    /// an earlier gate stopped are ended by this one. By default the sessions are a program's, which outlive the gate
    /// and end after `idle` in `[order]`. `has_turns` says whether a turn may have several calls; if not, a rule with
    /// `per = "turn"` is an error on reload.
    pub fn clients(mut self, has_turns: bool) -> Self {
        (self.sessions, self.has_turns) = (SessionsOf::Clients, has_turns);
        self
    }

    /// Sets a callback for each debt that was not settled in time (O-4).
    pub fn debts(mut self, report: impl Fn(&DebtReport<'_>) + Send + Sync + 'static) -> Self {
        self.reporter = Reporter::new(report);
        self
    }

    /// Uses an open audit log instead of the configured one.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Leaves open an earlier gate's calls whose outcome is not in the log, instead of ending them as calls that may have run:
    /// use it if something that outlives its gates runs the calls and reports the outcomes later. Until then, the order
    /// rules treat them as calls that may have run.
    pub fn leaves_calls_open(mut self) -> Self {
        self.leaves_calls_open = true;
        self
    }

    /// Starts the servers in the configuration that have a `command` and were not given.
    ///
    /// # Errors
    /// R3 if a server cannot be started.
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
                        "check that its `command` is correct and starts on its own",
                    )
                })?;
                started.push((name.clone(), Arc::new(server)));
            }
        }
        self.servers.extend(started);
        Ok(self)
    }

    /// Opens the audit log, loads the default grants, and returns the gate. The grants are logged in the turn
    /// [`START`](crate::START) before they take effect (G4).
    ///
    /// # Errors
    /// If any of the builder's values is invalid, a server is missing, or the audit log cannot be opened.
    pub fn build(self) -> Result<Gate, BuildError> {
        let Self {
            config,
            servers,
            outputs,
            confirmer,
            clock,
            audit,
            sessions,
            reporter,
            has_turns,
            leaves_calls_open,
            wrong,
        } = self;
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
        // One ratchet for everything that expires, so that all agree on the time. The log records the raw time of day.
        // Starting at the log's latest time ensures that what had expired before the restart stays expired.
        let expiry = Ratchet::not_before(Arc::clone(&clock), audit.latest()?);
        let grants = Grants::with_clock(Arc::clone(&expiry));
        load(&config.grants, &grants, &audit)?;
        // State from before the restart stays in force.
        let before = RestartState::new(audit.clone());
        before.restore_uses(&grants);
        before.keep_revoked(&grants, &TurnId::start())?;
        let breakers = Breakers::new(Arc::clone(&clock), config.breaker);
        let rates = Arc::new(Rates::new(Arc::clone(&clock)));
        before.restore_rates(&rates, clock.as_ref());
        let secret = audit.derived(ORDER_KEY);
        let audit_queue = AuditQueue::new(audit);
        audit_queue.set_stamp(stamp(config.hash(), config.shadow));
        let clocks = (clock.as_ref(), Arc::clone(&expiry) as Arc<dyn GateClock>);
        let on_disk = FileRuleThreads::default();
        let queue = (audit_queue.clone(), on_disk.clone());
        let order = Order::restore(&config, before.order(), clocks, &secret, queue, (sessions, reporter))
            .map_err(|(entry, source)| BuildError::Order { entry, source })?;
        if let Some(rules) = order.rules_entry() {
            let entry = data(json!({ "order": rules, "outcome": "order" }));
            let _ = audit_queue.audit().append(Record::new(Kind::Policy, &TurnId::start(), entry))?;
        }
        if !leaves_calls_open {
            order.end_lost_calls();
        }
        order.end_lost();
        let confirmations = Confirmations::with_clock(confirmer, Arc::clone(&expiry), config.confirm);
        let keeps_shadow = config.keeps_shadow();
        let discovery = Arc::new(Discovery::new(servers, config.limits.clone()));
        Ok(Gate(Arc::new(GateParts {
            rules: Arc::new(RulesInForce::new(Rules::from_config(&config))),
            fixed: Arc::new(RestartOnly::new(&config, has_turns)),
            reloading: Arc::default(),
            discoveries: Discoveries::new(&discovery),
            discovery,
            outputs: Arc::new(outputs),
            grants,
            confirmations,
            breakers,
            rates,
            keeps_shadow,
            on_disk,
            recorder: config.audit.map(|audit| audit.recorder).unwrap_or_default(),
            health: Health::new(clock),
            turns: Arc::new(TurnRegistry::after(config.budget, config.calls, before.clone())),
            before,
            audit_queue,
            order,
            clock: expiry,
        })))
    }
}

/// Help for an entry that this version cannot read.
const ORDER_HELP: &str =
    "a newer version may have written it: start the gate with that version, or with a new log in `[audit]`";

/// Loads the default grants after recording them (G1).
fn load(defaults: &[Grant], grants: &Grants, audit: &Audit) -> Result<(), BuildError> {
    let start = TurnId::start();
    let added = grants.replace(defaults)?;
    for some in added.added.chunks(GRANTS_AN_ENTRY) {
        let given: Vec<_> = some.iter().map(ReservedGrant::given).collect();
        let _ = audit.append(Record::new(Kind::Grant, &start, data(json!({ "grants": given }))))?;
    }
    drop(added.give());
    Ok(())
}

/// Returns the maximum size of an audit log entry in bytes. An entry contains the arguments in RFC 8785 form, which
/// writes `1e20` with 21 digits: less than six times the length of the plan.
fn longest_entry(limits: &Limits) -> usize {
    Options::default().max_entry_bytes + 6 * limits.plan_bytes as usize
}

/// Number of grants in one entry, which keeps an entry within the limit even with the longest tool names.
pub(crate) const GRANTS_AN_ENTRY: usize = 256;
