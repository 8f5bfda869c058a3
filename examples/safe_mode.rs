//! An agent halts its episode because something is wrong. Only an order of layer 1 ends safe mode.
//!
//! ```text
//! cargo run -p omen-examples --example safe_mode
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::Instant;
use omen::episode::Layer1;
use omen::facts::{
    Budgets, Derived, Epistemics, Operational, Quality, Risk, Routing, Stakes, adversariality, impact, irreversibility,
    uncertainty,
};
use omen::packet::TaskClass;
use omen::prelude::*;

tool!(MailSend = "mail.send", Write);
scope!(OneMail: tools [MailSend], operations [Write]);

fn agent(
    episode: Episode<Idle>,
    envelope: &Envelope<MediumStakes, Par, ToolsOk>,
    operator: &Layer1,
) -> Result<Closed, Box<dyn Error>> {
    let ruling = Arbitration::of(["send"])
        .veto(|_| true)?
        .feasible(|_| true)?
        .tradeoff(Tradeoff::RiskAdjusted, &text!("the customer waits for it"));
    let (episode, [permit]) = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "send the invoice" })))
        .believe(Belief::new("mail", "invoice", "not sent"))
        .act(ruling.to_act(), envelope)?
        .authorize::<OneMail, 1>(TokenSpec::new(60, text!("invoice 4471")))?;
    let token = permit.token_id().clone();

    // The address turns out to be unknown.
    let episode = episode
        .alert(Alert::warning(AlertType::Drift, text!("the address is not the customer's")).revoking([token]))
        .halt(text!("possible fraud: the address was changed a minute ago"));
    // Here `.execute(..)` does not compile (E7): the permit is no longer usable.
    drop(permit);
    let episode = episode.believe(Belief::new("mail", "invoice", "held back"));

    // An operator investigates, and orders the episode to continue.
    let order = operator.order(text!("address blocked, customer called"));
    Ok(episode.clear(order).believe(Belief::new("mail", "address", "blocked")).close()?)
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("send an invoice"), text!("invoice 4471")),
        stakes: Stakes {
            impact: impact::Medium,
            irreversibility: irreversibility::Irreversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Contested,
        },
        quality: Quality::par(text!("the customer has the invoice"), ["mail.delivered"]),
        budgets: Budgets { tokens: 2_000, tool_calls: 2, seconds: 300, risk: Risk::new(text!("low"), 50) },
        epistemics: Epistemics::new(Derived, Operational, unit!(0.8), text!("address taken from the last order")),
        evidence: Evidence::user_observation(text!("order/4471"), "2026-03-01T09:58:00Z".parse()?),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal();
    // The program that starts the agents has the authority of layer 1; the agent gets only orders.
    let operator = Layer1::assume();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let episode = Setup::new("corr_invoice-4471".parse()?, &envelope, move || start).start()?;
    Ok(agent(episode, &envelope, &operator)?.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
