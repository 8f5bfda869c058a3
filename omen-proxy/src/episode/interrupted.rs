//! Episodes that a killed process has left open, which are ended when the next one starts.
//!
//! The outcome of a call running at that time is unknown, so its result is a FAILURE that says so, and the episode takes the
//! shortest legal path to an end (D54), as if its client were gone. Nothing is claimed that the log does not show.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};
use std::sync::Arc;

use omen_fsm::episode::{Allow, AnyEpisode, Claims, Moved, NotMoved, OnDrop, Setup};
use omen_fsm::{Machine, Node, NodeSet};
use omen_gate::{GateClock, bounded};
use omen_invariants::facts::DynEnvelope;
use omen_types::packet::{
    AlertSeverity, AlertType, CorrelationId, IntegrityAlertPayload, PacketType, RefType, Text, Timestamp, ToolsState,
};
use omen_types::{Instant, PacketFacts};
use serde_json::{Value, json};

use super::budgets::Budgets;
use super::drafts;
use super::envelope::reference;
use super::log::{SharedLog, Tee};
use super::not_stated::not_stated;
use super::numbered_ids::NumberedIds;
use super::outcome::Outcome;
use super::step_refusal::StepRefusal;

/// An episode that an earlier process has left where a log must not end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interrupted {
    /// Correlation id of the episode.
    pub episode: String,
    /// State in which the episode was left.
    pub state: String,
    /// Number of calls that may have run.
    pub in_doubt: usize,
    /// Reason why the end of the episode could not be written, if so.
    pub not_ended: Option<String>,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { episode, state, in_doubt, not_ended } = self;
        write!(f, "the episode `{episode}` was interrupted in {state}")?;
        if *in_doubt > 0 {
            write!(f, "; {in_doubt} of its calls may have run, and are recorded as failed")?;
        }
        match not_ended {
            Some(why) => write!(f, "; it could not be ended: {why}"),
            None => f.write_str(" and is ended now"),
        }
    }
}

/// Ends the episodes that the latest session in a log left open. Sessions write one after another, so earlier ones have
/// none; episodes of other programs are left alone: `is_own` tells by the correlation id.
pub(super) fn end<R: BufRead>(
    log: &SharedLog,
    budgets: Budgets,
    mut read: impl FnMut() -> io::Result<R>,
    is_own: impl Fn(&str) -> bool,
    clock: &Arc<dyn GateClock>,
) -> io::Result<Vec<Interrupted>> {
    let left = left_open(read()?, is_own)?;
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    each(read()?, |text, facts| {
        if let Some(episode) = left.get_key_value(&*facts.header.correlation_id).map(|(id, _)| id.clone()) {
            lines.entry(episode).or_default().push(text.to_owned());
        }
    })?;
    let ended = left.into_iter().map(|(episode, machine)| {
        let lines = lines.remove(&episode).unwrap_or_default();
        let ended = end_one(log, budgets, &episode, &lines, clock, &PROXY);
        interrupted(episode, &machine, ended)
    });
    Ok(ended.collect())
}

/// Ends an episode of which these are all lines, unless it stands where one may end.
pub(super) fn end_left(
    log: &SharedLog,
    episode: &str,
    lines: &[String],
    clock: &Arc<dyn GateClock>,
    stopped: &StoppedEpisode,
) -> Option<Interrupted> {
    let machine = Tee::after(log.clone(), lines).0.written.lock().machine.clone();
    if is_left(&machine) {
        return None;
    }
    let ended = end_one(log, Budgets::default(), episode, lines, clock, stopped);
    Some(interrupted(episode.to_owned(), &machine, ended))
}

fn interrupted(episode: String, machine: &Machine, ended: Result<(), StepRefusal>) -> Interrupted {
    Interrupted {
        state: machine.nodes().to_string(),
        in_doubt: machine.ledger().open().len(),
        not_ended: ended.err().map(|why| bounded(&why.reason())),
        episode,
    }
}

/// The episodes of the latest session that stand where an episode does not end.
fn left_open(read: impl BufRead, is_own: impl Fn(&str) -> bool) -> io::Result<BTreeMap<String, Machine>> {
    let (mut open, mut session) = (BTreeMap::<String, Machine>::new(), String::new());
    each(read, |_, facts| {
        let episode: &str = &facts.header.correlation_id;
        if !is_own(episode) {
            return;
        }
        // If each call is an episode, the session is the campaign.
        let campaign = facts.header.campaign_id.as_deref();
        let of = campaign.unwrap_or(episode);
        if session != of {
            open.clear();
            of.clone_into(&mut session);
        }
        let machine = open.entry(episode.to_owned()).or_default();
        let verdict = machine.judge(facts, None);
        if verdict.errors().next().is_none() {
            machine.accept(facts, &verdict);
        }
        // Keeps a long session from being remembered as a whole: an episode of one call has only one end.
        if campaign.is_some() && machine.nodes().contains(Node::Review) && machine.may_end() {
            open.remove(episode);
        }
    })?;
    open.retain(|_, machine| !is_left(machine));
    Ok(open)
}

/// Returns whether nothing is written after an episode: it has ended (D81), or it waits for a human or for what was decided, and
/// no packet from the proxy can move it on.
fn is_left(machine: &Machine) -> bool {
    let waiting = [Node::Escalated, Node::DecideEscalate, Node::DecideAct, Node::Authorize];
    let waits = waiting.iter().any(|node| machine.nodes() == NodeSet::of(*node));
    machine.finish().is_empty() || (waits && machine.may_end())
}

/// Visits the packets of a log, one after another. Lines that are not packets are left to `omen check`.
fn each(mut read: impl BufRead, mut then: impl FnMut(&str, &PacketFacts<'_>)) -> io::Result<()> {
    let mut line = Vec::new();
    while read.read_until(b'\n', &mut line)? > 0 {
        if let Ok(text) = std::str::from_utf8(line.trim_ascii_end())
            && let Ok(facts) = PacketFacts::parse(text)
        {
            then(text, &facts);
        }
        line.clear();
    }
    Ok(())
}

fn end_one(
    log: &SharedLog,
    budgets: Budgets,
    episode: &str,
    lines: &[String],
    clock: &Arc<dyn GateClock>,
    stopped: &StoppedEpisode,
) -> Result<(), StepRefusal> {
    let now = Timestamp::from(Instant::from(clock.wall()));
    let mcp = |source: &str| {
        let seen = reference(RefType::ToolOutput, source, &now);
        not_stated().witnessed(budgets, seen.as_slice(), ToolsState::ToolsOk)
    };
    let bad = |error: &dyn fmt::Display| StepRefusal::new(omen_types::Code::Id, error.to_string(), "check the log");
    let id = CorrelationId::new(episode).map_err(|error| bad(&error))?;
    let envelope = DynEnvelope::from_json(&mcp(episode).to_string()).map_err(StepRefusal::rules)?;
    let clock = Arc::clone(clock);
    let (log, accepted) = Tee::after(log.clone(), lines);
    let open: Vec<_> = log.written.lock().machine.ledger().open().in_order().into_iter().cloned().collect();
    let setup = Setup::new(id, &envelope, move || Instant::from(clock.wall()))
        .log(log)
        .ids(NumberedIds::after(lines.len()))
        // Nothing else writes to the log.
        .claims(&Claims::new())
        .on_drop(OnDrop::Cancel);
    let mut resumed = AnyEpisode::resume(setup, accepted).map_err(|error| bad(&error))?;
    for open in open {
        let task = open.task_id.parse().map_err(|error| bad(&error))?;
        let directive = open.packet_id.parse().map_err(|error| bad(&error))?;
        let outcome = Outcome::in_doubt(stopped.in_doubt);
        let payload = drafts::result(&task, &directive, &outcome);
        resumed = sent(resumed, PacketType::TaskResultPacket, &payload, Some(&mcp(&open.packet_id)))?;
    }
    let summary = Text::new(stopped.end).map_err(|error| bad(&error))?;
    let alert = IntegrityAlertPayload::builder()
        .alert_type(AlertType::Other)
        .severity(AlertSeverity::Info)
        .summary(summary)
        .build();
    match sent(resumed, PacketType::IntegrityAlertPacket, &json!(alert), None)? {
        // INVARIANT: the episode may close in this state; if this cannot be written, the next start will notice.
        AnyEpisode::Review(episode) => drop(episode.close()),
        other => drop(other),
    }
    Ok(())
}

fn sent(
    episode: AnyEpisode,
    packet_type: PacketType,
    payload: &Value,
    mcp: Option<&Value>,
) -> Result<AnyEpisode, StepRefusal> {
    let mut proposal = json!({ "packet_type": packet_type, "payload": payload });
    if let (Some(mcp), Some(members)) = (mcp, proposal.as_object_mut()) {
        members.insert("mcp".to_owned(), mcp.clone());
    }
    match episode.propose_with(Allow::everything(), &proposal.to_string()) {
        Ok(Moved { episode, .. }) => Ok(episode),
        Err(NotMoved { why, .. }) => Err(StepRefusal::from(why)),
    }
}

/// Wording for an episode whose process has stopped.
pub(super) struct StoppedEpisode {
    /// Reason of the results of calls that may have run.
    in_doubt: &'static str,
    /// Alert at the end.
    end: &'static str,
}

const PROXY: StoppedEpisode = StoppedEpisode {
    in_doubt: "the proxy stopped before the outcome was known; the tool may have run",
    end: "the proxy stopped before it had ended this episode; its end was written at the next start",
};

pub(super) const HOOK: StoppedEpisode = StoppedEpisode {
    in_doubt: "the hook stopped before its answer; the tool may have run",
    end: "the hook stopped before it had written this episode; its end was written with the next event",
};
