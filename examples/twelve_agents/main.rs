//! Twelve kinds of agents, each as short as possible.
//!
//! Their envelopes are made by level of stakes (`OpenEnvelope::low` and so on), with documented defaults.
//!
//! ```text
//! cargo run -p omen-examples --example twelve_agents
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod asks_async;
mod cancels;
mod defers;
mod escalates;
mod is_driven;
mod loops;
mod reads;
mod recovers;
mod resumes;
mod verifies;
mod writes;
mod writes_several;

use std::error::Error;

use omen::episode::{Json, Numbered, OnDrop, Running};
use omen::packet::EscalationTrigger;
use omen::prelude::*;
use omen::{Instant, Invalid};

/// Lines of an agent's log.
type Log = Result<Vec<String>, Box<dyn Error>>;

/// One kind of agent.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Time is injected, so that every run writes the same log.
    pub(crate) agent: fn(Instant) -> Log,
    #[allow(dead_code, reason = "a test counts its lines")]
    pub(crate) source: &'static str,
}

macro_rules! kinds {
    ($($module:ident: $name:literal;)+) => {
        /// All kinds.
        pub(crate) const KINDS: &[Kind] = &[
            $(Kind { name: $name, agent: $module::agent, source: include_str!(concat!(stringify!($module), ".rs")) }),+
        ];
    };
}
kinds! {
    reads: "reads only";
    verifies: "verifies, then acts";
    writes: "writes under a token";
    writes_several: "writes several times under one token";
    escalates: "escalates";
    defers: "defers";
    cancels: "cancels";
    recovers: "recovers from a tool that fails";
    loops: "loops over tickets";
    is_driven: "is driven by a model";
    asks_async: "waits for its tools";
    resumes: "resumes after a crash";
}

/// Veto, feasibility, tradeoff: replace them with the checks of your own agent.
fn ruling(option: &str) -> Result<Ruling, NothingLeft> {
    let feasible = Arbitration::of([option, "wait"]).veto(|_| true)?.feasible(|option| option.id != "wait")?;
    Ok(feasible.tradeoff(Tradeoff::SafetyFirst, &text!("the smallest step that helps")))
}

#[allow(dead_code, reason = "the tests take the agents alone")]
fn main() -> Result<(), Box<dyn Error>> {
    let now: Instant = "2026-03-01T10:00:00Z".parse()?;
    for kind in KINDS {
        println!("{}:", kind.name);
        for line in (kind.agent)(now)? {
            println!("{line}");
        }
    }
    Ok(())
}
