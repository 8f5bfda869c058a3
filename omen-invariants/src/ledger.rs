//! Record of an episode, from which its next packet can be judged.

use std::num::NonZeroU64;
use std::slice;

use omen_types::{DecisionOutcome, EscalationTrigger, Instant, PacketFacts, PayloadFacts, ResultStatus};
use prefetch_index::prefetch_index;

use crate::derived;

mod budget;
#[doc(hidden)]
pub mod bytes;
mod fingerprint;
mod ids;
mod leap;
mod obligations;
mod open_directives;
mod pack;
mod plan;
mod references;
mod table;
mod tokens;

pub use budget::{Budget, Overrun};
pub use bytes::Size;
pub use fingerprint::{Fingerprint, Kind};
pub use leap::{Leap, TOLERANCE_SECONDS, is_behind};
pub use obligations::{Obligation, Obligations};
pub use open_directives::{OpenDirective, OpenDirectives};
pub use plan::Excess;
pub use references::Awaited;
pub use tokens::{Allowance, NotLive, Token, Tokens};

use budget::ReportedOverruns;
use ids::Ids;
use plan::Plan;
use references::References;

/// Record of an episode that is sufficient for judging its next packet.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    clock: Option<Instant>,
    /// Packet that is alone at the time of the clock.
    leap: Option<Box<Leap>>,
    /// Ids that must not be repeated (D21), and the campaign. The ids of packets that can verify assumptions are marked.
    seen: Ids,
    /// Ids of packets that are evidence of verification loops.
    evidence: Ids,
    tokens: Tokens,
    open: OpenDirectives,
    budget: Option<Budget>,
    approved: bool,
    reported: ReportedOverruns,
    believes: bool,
    decision: Option<DecisionOutcome>,
    owes_decision: bool,
    /// Whether a campaign was stated; `seen` then contains it.
    has_campaign: bool,
    /// Whether a late directive with CRITICAL stakes was reported and no decision was accepted since (D69).
    owes_escalation: bool,
    looped: Loop,
    /// Limits of the running loop, once it has a plan.
    plan: Option<Box<Plan>>,
    references: References,
}

/// Progress of the verification loop. The state machine determines which packets meet an obligation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// Number of the loop within the episode, starting at 1; 0 before the first loop.
    pub number: u32,
    /// Met obligations.
    pub met: Obligations,
    /// Obligations that the latest packet waives.
    pub waived: Obligations,
}

impl Loop {
    /// Returns the obligations that are neither met nor waived, in order. If there are none, the loop may close.
    pub fn unmet(self) -> impl Iterator<Item = Obligation> {
        Obligation::ALL.iter().copied().filter(move |one| !self.met.contains(*one) && !self.waived.contains(*one))
    }
}

impl Ledger {
    /// Returns the episode's clock for a next packet with this time: the later of clock and time (D2).
    #[must_use]
    pub fn clock_at(&self, created_at: Instant) -> Instant {
        self.clock.map_or(created_at, |clock| clock.max(created_at))
    }

    /// Starts fetching the ledger into the processor's cache.
    #[inline]
    pub fn prefetch(&self) {
        // One field per cache line.
        prefetch_index(slice::from_ref(&self.clock), 0);
        prefetch_index(slice::from_ref(&self.seen), 0);
        prefetch_index(slice::from_ref(&self.open), 0);
        prefetch_index(slice::from_ref(&self.budget), 0);
        prefetch_index(slice::from_ref(&self.owes_decision), 0);
    }

    /// Starts fetching the parts of the ledger's lists that most packets need.
    #[inline]
    pub fn prefetch_lists(&self) {
        self.seen.prefetch();
    }

    /// Returns the clock: the latest accepted `created_at`, or `None` before the first packet.
    #[must_use]
    pub fn clock(&self) -> Option<Instant> {
        self.clock
    }

    /// Returns the packet that is ahead, if a packet with this time returns to a time before it (D83).
    #[must_use]
    pub fn leap(&self, created_at: Instant) -> Option<&Leap> {
        let is_behind = self.clock.is_some_and(|clock| is_behind(created_at, clock));
        self.leap.as_deref().filter(|leap| is_behind && leap.explains(created_at))
    }

    /// Records that the packet that is ahead was reported.
    pub fn report_leap(&mut self) {
        if let Some(leap) = &mut self.leap {
            leap.is_reported = true;
        }
    }

    /// Sets the clock back to the time before the packet that is ahead, as if that packet had been sent at that time.
    pub fn undo_leap(&mut self, before: Option<Instant>) {
        self.clock = before;
        if let Some(leap) = self.leap.take() {
            self.owes_escalation = leap.owed;
        }
    }

    /// Returns whether a directive of the episode has used a tool to write (or to read, if `writes` is false) (D88).
    #[must_use]
    pub fn has_used(&self, tool_id: &str, writes: bool) -> bool {
        self.seen.get(Fingerprint::new(Kind::Tool { writes }, tool_id)).is_some()
    }

    /// Returns the limits of the loop's plan that are exceeded at a given time (D82).
    #[must_use]
    pub fn plan_excesses(&self, now: Instant) -> Vec<Excess> {
        self.plan.as_ref().map(|plan| plan.excesses(now)).unwrap_or_default()
    }

    /// Returns the tokens of the episode.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Returns the open directives.
    #[must_use]
    pub fn open(&self) -> &OpenDirectives {
        &self.open
    }

    /// Returns the budgets and their use; `None` before the first decision.
    #[must_use]
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// Returns whether an overrun of the budgets was approved (D32).
    #[must_use]
    pub fn overrun_approved(&self) -> bool {
        self.approved
    }

    /// Returns the budgets that are exceeded at a given time without approval (D59).
    #[must_use]
    pub fn overruns(&self, now: Instant) -> Vec<Overrun> {
        self.budget().filter(|_| !self.approved).map(|budget| budget.overruns(now)).unwrap_or_default()
    }

    /// Returns whether the overrun of this budget was reported with an earlier packet (D59).
    #[must_use]
    pub fn has_reported(&self, overrun: Overrun) -> bool {
        self.reported.has(overrun)
    }

    /// Returns whether a belief update was accepted (E1).
    #[must_use]
    pub fn believes(&self) -> bool {
        self.believes
    }

    /// Returns the latest decision (E2).
    #[must_use]
    pub fn decision(&self) -> Option<DecisionOutcome> {
        self.decision
    }

    /// Returns whether the latest decision was to verify first, so that another decision is due (D4, E3.5).
    #[must_use]
    pub fn owes_decision(&self) -> bool {
        self.owes_decision
    }

    /// Returns the progress of the verification loop.
    #[must_use]
    pub fn verification(&self) -> Loop {
        self.looped
    }

    /// Returns whether an id is already used (D21).
    #[must_use]
    pub fn has_seen(&self, fingerprint: Fingerprint) -> bool {
        self.seen.get(fingerprint).is_some() || self.evidence.get(fingerprint).is_some()
    }

    /// Returns whether an accepted packet with this id may verify an assumption (D62); see [`can_verify`].
    #[must_use]
    pub fn has_verifier(&self, packet_id: &str) -> bool {
        self.seen.get(Fingerprint::new(Kind::Packet, packet_id)).is_some_and(Fingerprint::is_marked)
    }

    /// Returns whether a packet with this id was accepted (D65).
    #[must_use]
    pub fn has_accepted(&self, packet_id: &str) -> bool {
        self.seen.get(Fingerprint::new(Kind::Packet, packet_id)).is_some()
    }

    /// Returns the id of the current VERIFY_FIRST decision (D78).
    #[must_use]
    pub fn verifying_decision(&self) -> Option<&str> {
        self.references.verifying()
    }

    /// Returns the observations that results have announced but that have not been accepted yet (D78).
    #[must_use]
    pub fn awaited(&self) -> &[Awaited] {
        self.references.awaited()
    }

    /// Returns whether a campaign was stated (D65).
    #[must_use]
    pub fn has_campaign(&self) -> bool {
        self.has_campaign
    }

    /// Returns whether a campaign differs from the first one that was stated (D65).
    #[must_use]
    pub fn is_other_campaign(&self, campaign_id: &str) -> bool {
        self.has_campaign && self.seen.get(Fingerprint::new(Kind::Campaign, campaign_id)).is_none()
    }

    /// Returns whether a late directive with CRITICAL stakes was reported and no decision was accepted since (D69).
    #[must_use]
    pub fn owes_escalation(&self) -> bool {
        self.owes_escalation
    }

    /// Records that late directives were reported at a given time, without a packet (D69). The clock of the episode
    /// does not change.
    pub fn tick(&mut self, now: Instant) {
        self.owes_escalation |= self.open.mark_late(now);
    }

    /// Approves an overrun of the budgets without a packet, for a reader that assumes an approval in order to suppress
    /// consequential findings: all refusals after the first follow from the same overrun.
    pub fn suppose_approval(&mut self) {
        self.approved = true;
    }

    /// Returns whether a packet id names evidence of the running verification loop (D22).
    #[must_use]
    pub fn is_loop_evidence(&self, packet_id: &str) -> bool {
        self.evidence.get(Fingerprint::new(Kind::Evidence(self.looped.number), packet_id)).is_some()
    }

    /// Records an accepted packet, with what the state machine knows about it.
    pub fn accept(&mut self, facts: &PacketFacts<'_>, now: Instant, update: Update) {
        self.accept_as(Fingerprint::new(Kind::Packet, &facts.header.packet_id), facts, now, update);
    }

    /// Records an accepted packet, like [`accept`](Self::accept), for a caller that already has the fingerprint of its id.
    pub fn accept_as(&mut self, id: Fingerprint, facts: &PacketFacts<'_>, now: Instant, update: Update) {
        self.keep_time(facts, update.line);
        // A repeated id would have been refused (D21).
        self.seen.add(match facts.payload {
            PayloadFacts::Observation(_) => id.marked().observed(),
            _ if can_verify(facts) => id.marked(),
            _ => id,
        });
        let Self { references, seen, .. } = self;
        references
            .accept(facts, |id| seen.get(Fingerprint::new(Kind::Packet, id)).is_some_and(Fingerprint::is_observed));
        if update.opens_loop {
            self.looped.number = self.looped.number.wrapping_add(1);
            self.looped.met = Obligations::default();
            self.plan = None;
        }
        self.looped.met.extend(update.met);
        self.looped.waived = update.waived;
        if update.is_evidence {
            self.evidence.insert(Fingerprint::new(Kind::Evidence(self.looped.number), &facts.header.packet_id));
        }
        if let Some(campaign) = facts.header.campaign_id.as_deref().filter(|_| !self.has_campaign) {
            self.has_campaign = true;
            self.seen.insert(Fingerprint::new(Kind::Campaign, campaign));
        }
        if matches!(facts.payload, PayloadFacts::Decision(_)) {
            // Cleared before `tick`: for directives reported as late with this packet, the next decision owes the escalation.
            self.owes_escalation = false;
        }
        self.tick(now);
        self.approved |= approves(facts);
        match &facts.payload {
            PayloadFacts::BeliefUpdate(_) => self.believes = true,
            PayloadFacts::Decision(decision) => {
                self.decision = Some(decision.decision_outcome);
                self.owes_decision = decision.decision_outcome == DecisionOutcome::VerifyFirst;
                if self.budget.is_none() {
                    self.budget = Some(Budget::new(facts));
                }
            }
            PayloadFacts::ToolAuthorizationToken(token) => {
                self.tokens.add(token, &facts.header.packet_id);
            }
            PayloadFacts::VerificationPlan(plan) => {
                self.plan.get_or_insert_default().limit(plan, facts.header.created_at);
            }
            PayloadFacts::TaskDirective(directive) => {
                self.seen.insert(Fingerprint::new(Kind::Task, &directive.task_id));
                let writes = derived::needs_token(&facts.header, directive);
                if let Some(tool) = &directive.execution_method.tool_id {
                    self.seen.insert(Fingerprint::new(Kind::Tool { writes }, tool));
                }
                if writes && let Some(token) = &directive.authorization_token_id {
                    self.tokens.spend(token);
                }
                self.open.add(id, update.line, facts, directive);
            }
            PayloadFacts::TaskResult(result) => {
                self.open.close(&result.directive_packet_id);
                if let Some(budget) = &mut self.budget {
                    budget.spend(result);
                }
                if let Some(plan) = &mut self.plan {
                    plan.count();
                }
            }
            PayloadFacts::IntegrityAlert(alert) => {
                for token in alert.revoked_token_ids.iter().flatten() {
                    self.tokens.revoke(token);
                }
            }
            _ => {}
        }
        if self.budget.as_ref().is_some_and(|budget| budget.is_exceeded(now)) {
            let overruns = self.overruns(now);
            self.reported.add(&overruns);
        }
        if update.cancels {
            self.open = OpenDirectives::default();
            self.decision = None;
            self.owes_decision = false;
            self.references.cancel();
        }
    }
}

impl Ledger {
    /// Advances the clock, and keeps a packet that is alone at its time.
    fn keep_time(&mut self, facts: &PacketFacts<'_>, line: Option<NonZeroU64>) {
        let created_at = facts.header.created_at;
        match self.clock {
            Some(clock) if is_behind(created_at, clock) => {
                if let Some(leap) = &mut self.leap {
                    leap.before = leap.before.max(Some(created_at));
                }
                return;
            }
            // Another packet has a similar time, so neither of them is alone.
            Some(clock) if !is_behind(clock, created_at) => self.leap = None,
            before => self.leap = Some(Box::new(Leap::new(facts, line, before, self.owes_escalation))),
        }
        self.clock = Some(self.clock_at(created_at));
    }
}

/// What the state machine knows about an accepted packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Update {
    /// Whether the packet opens a verification loop.
    pub opens_loop: bool,
    /// Whether the packet counts as evidence of the running loop.
    pub is_evidence: bool,
    /// Obligations of the loop that the packet meets.
    pub met: Obligations,
    /// Obligations of the loop that the packet waives.
    pub waived: Obligations,
    /// Whether the packet ends safe mode, which cancels open directives (D13).
    pub cancels: bool,
    /// Line in the log, if known.
    pub line: Option<NonZeroU64>,
}

/// Returns whether a packet approves an overrun of the budgets (D32): an escalation because of the overrun, or a token
/// or an alert in which layer 1 approves it.
#[must_use]
pub fn approves(facts: &PacketFacts<'_>) -> bool {
    let rationale = match &facts.payload {
        PayloadFacts::Escalation(escalation) => {
            return escalation.escalation_trigger == EscalationTrigger::BudgetInsufficient;
        }
        PayloadFacts::ToolAuthorizationToken(token) => token.rationale.as_deref(),
        PayloadFacts::IntegrityAlert(alert) => alert.rationale.as_deref(),
        _ => None,
    };
    rationale.is_some_and(|text| derived::from_layer_1(&facts.header) && derived::contains_words(text, BUDGET_OVERRIDE))
}

/// Returns whether a packet can verify an assumption (D62): a plan, an observation, a belief update, or a SUCCESS.
#[must_use]
pub fn can_verify(facts: &PacketFacts<'_>) -> bool {
    match &facts.payload {
        PayloadFacts::VerificationPlan { .. } | PayloadFacts::Observation(_) | PayloadFacts::BeliefUpdate(_) => true,
        PayloadFacts::TaskResult(result) => result.result_status == ResultStatus::Success,
        _ => false,
    }
}

/// Phrase with which layer 1 approves an overrun (D32).
pub const BUDGET_OVERRIDE: &str = "budget override";
