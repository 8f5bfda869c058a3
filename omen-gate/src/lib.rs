//! The tool boundary: no tool runs except through the gate.
//!
//! A user's request becomes a [`Request`], and each step is a method of the state before it:
//! [screened](pipeline::Screened), [planned](pipeline::Planned), [conformant](pipeline::Conformant),
//! [authorized](pipeline::Authorized), [dispatched](pipeline::Dispatched), [typed](pipeline::Typed),
//! [grounded](pipeline::Grounded). A program that skips a step or calls it in the wrong state does not compile. Tasks
//! of an episode go through the same steps in [`Gate::run`]. Every refusal, grant, confirmation and call is recorded in
//! a tamper-evident [log](audit): the intent before the tool runs, and the outcome afterwards.
//!
//! Features: `mcp` for servers of the Model Context Protocol that are child processes (module `mcp`,
//! `Builder::start_servers`); `test-util` for testing servers with calls that bypass a gate.
//!
//! ```
//! use omen_gate::audit::{Audit, Key, Options, store::Memory};
//! use omen_gate::catalog::pin;
//! use omen_gate::server::{Local, ToolServer as _};
//! use omen_gate::{Config, Gate, SystemClock, ToolId};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Question { city: String }
//!
//! #[derive(Deserialize, Serialize, JsonSchema)]
//! struct Weather { city: String, celsius: f64 }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! // A tool of this program; servers of the Model Context Protocol are in `mcp`.
//! let sky = Local::new().tool("weather", "Returns the weather.", async |question: Question| {
//!     Ok::<_, String>(Weather { city: question.city, celsius: 21.5 })
//! })?;
//!
//! // The operator allows the tool in the form that was reviewed, and grants it to read.
//! let config = Config::parse(&format!(
//!     "[servers.sky]\n\
//!      [[allow]]\nserver = 'sky'\ntool = 'weather'\npermissions = ['READ']\npin = '{}'\n\
//!      [[grants]]\nserver = 'sky'\ntool = 'weather'\npermissions = ['READ']\n",
//!     pin(&sky.list().await?[0])?,
//! ))?;
//! # let key = Key::from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")?;
//! let audit = Audit::over(Memory::default(), key, std::sync::Arc::new(SystemClock::default()), Options::default())?;
//! let weather = ToolId { server: "sky".parse()?, tool: "weather".parse()? };
//! let gate = Gate::builder(config).audit(audit).server("sky".parse()?, sky).output::<Weather>(weather).build()?;
//!
//! // What the planner wrote goes all the way, or is refused with a code and a way out.
//! let plan = r#"{"type": "call_tool", "server": "sky", "tool": "weather", "args": {"city": "Rome"}}"#;
//! let request = gate.request("turn_1".parse()?, "how warm is Rome?").screen().await?;
//! let Ok(request) = request.plan(plan).await?.call() else { return Ok(()) };
//! let answer = request.conform().await?.authorize().await?.dispatch().await?;
//! let Ok(typed) = answer.type_output::<Weather>().await else { return Ok(()) };
//! assert_eq!(typed.value().celsius, 21.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Architecture invariant: the gate knows neither a command line nor the rules of an episode; an episode checks its
//! requirements on a call before the call arrives here.
//! Architecture invariant: time comes from a [`GateClock`], and random numbers are drawn only for new keys.

// Modules from the lowest layer up: base, call, catalog, grant, config, server, answer, request. Each uses only those
// before it.
mod answer;
/// Tamper-evident log: the crate `omen-audit`.
pub mod audit {
    // Compiler errors name its types by this path.
    pub use omen_audit::*;
}
mod base;
mod call;
pub mod catalog;
pub mod config;
pub mod grant;
/// Refusals by the order rules, the debts of sessions under them, and verdicts on recorded calls.
pub mod order {
    pub use omen_order::rules::shown;
    pub use omen_order::text::owed_line;
    pub use omen_order::{
        CallId, Cause, MissingPremise, Nearest, OrderCode, Owed, Refusal, RuleKindName, Tool, WhyNot, rules::Was,
    };

    pub use crate::request::order_log::*;
    pub use crate::request::{DebtReport, DebtScope, SessionEnd};
}
mod request;
pub mod server;

pub use answer::{output, summary};
pub use base::{
    BadName, Blocked, GateClock, GateCode, MAX_DEPTH, MAX_TEXT, ManualClock, NoPermission, NotExact, Permission,
    Permissions, START, ServerName, StepId, SystemClock, ToolId, ToolName, TurnId, UnknownCode, bounded, canonical,
    regular_file,
};
pub use call::{
    Abort, Attempt, BadRate, BudgetLimits, Call, CallHash, CallLimits, Demand, FailureBudget, Fault, FaultClass,
    Missing, Ran, Rate, arguments, breaker, fault, guarded, health, tool,
};
pub use config::{BadPolicy, Config, Policy};
pub use grant::{
    Confirmations, Confirmed, Confirmer, Decision, DecisionStage, Grant, GrantId, Grants, Lease, Outcome, Redeemed,
    Ruling, Source, confirm,
};
// The compiler names a type by its shortest path, so the types in its errors are re-exported here.
pub use request::{
    Authorized, BuildError, Builder, CallRefusal, Conformant, Dispatched, DryRun, EpisodeRefusal, Gate, Grounded,
    MAX_RAW_ANSWER, MAX_TURNS, Planned, Received, RefusedCall, ReloadError, Reloaded, Request, Screened, Stopped,
    Terminal, Turn, TurnReport, Typed, Untyped, Way, dry_run, pipeline, plan, prove, replay, turn_steps,
};
#[cfg(feature = "mcp")]
pub use server::mcp;
