//! One random move from each state.

use std::sync::Arc;

use omen::*;
use omen_types::{DecisionOutcome, serde_json};

use super::world::{Change, Get, Set, Swap, World};

/// Result of a move.
pub(super) enum Tried {
    /// It was made.
    Moved(AnyEpisode),
    /// It was refused.
    Refused(AnyEpisode, Arc<Refusal>),
    /// It was made, but its type does not match the state of the machine.
    Astray(String),
}

/// Kind of a move, which determines the codes that may refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A move that no rule can refuse.
    Sure,
    /// A move that commits: budgets may refuse it (INV-005).
    Commits,
    /// A directive that writes: its token may also be void (E4) or constrained (INV-007).
    Writes,
    /// Results of tasks: a SUCCESS is too late if the token of its task has become void (E4).
    Settles,
    /// A decision in an envelope whose facts are known only at run time.
    Decides,
    /// A packet proposed as JSON: any code may refuse it.
    Proposed,
}

impl Sort {
    pub(super) fn may_refuse(self, code: Code) -> bool {
        match self {
            Self::Sure => false,
            Self::Settles => code == Code::E4,
            Self::Commits => code == Code::Inv005,
            Self::Writes => [Code::Inv005, Code::E4, Code::Inv007].contains(&code),
            Self::Decides => [Code::Inv002, Code::Inv003, Code::Inv005, Code::Inv010].contains(&code),
            Self::Proposed => true,
        }
    }
}

fn moved<N: Typestate, S, G>(result: Result<Episode<N>, Refused<S, G>>) -> Tried {
    match result {
        Ok(episode) => sure(episode),
        Err(refused) => Tried::Refused(refused.episode.into_any(), refused.why),
    }
}

fn decided<S, G>(result: Result<Decided, Refused<S, G>>) -> Tried {
    match result {
        Ok(Decided::Act(episode)) => sure(episode),
        Ok(Decided::VerifyFirst(episode)) => sure(episode),
        Ok(Decided::Escalate(episode)) => sure(episode),
        Ok(Decided::Stop(episode)) => sure(episode),
        Err(refused) => Tried::Refused(refused.episode.into_any(), refused.why),
    }
}

impl World<'_> {
    /// Tries a random move.
    pub(super) fn step(&mut self, episode: AnyEpisode) -> (Tried, Sort) {
        match self.rng.u8(..40) {
            0 => return (Tried::Moved(self.alert(episode)), Sort::Sure),
            1 => return (Tried::Moved(self.halt(episode)), Sort::Sure),
            2..8 => return (self.propose(episode), Sort::Proposed),
            _ => {}
        }
        match episode {
            AnyEpisode::Idle(episode) => (sure(episode.observe(self.observation())), Sort::Sure),
            AnyEpisode::Sense(episode) if self.rng.bool() => (sure(episode.observe(self.observation())), Sort::Sure),
            AnyEpisode::Sense(episode) => (sure(episode.believe(self.belief())), Sort::Sure),
            AnyEpisode::Model(episode) if self.rng.u8(..5) == 0 => (sure(episode.believe(self.belief())), Sort::Sure),
            AnyEpisode::Model(episode) => (self.decide(episode), Sort::Decides),
            AnyEpisode::Fork(episode) if self.rng.bool() => (self.decide(episode), Sort::Decides),
            AnyEpisode::Fork(episode) => (sure(episode.observe(self.observation())), Sort::Sure),
            AnyEpisode::Undecided(episode) => (self.decide(episode), Sort::Decides),
            AnyEpisode::Act(episode) if self.rng.bool() => (self.authorize(episode), Sort::Commits),
            AnyEpisode::Act(episode) => {
                let orders = [self.read(), self.read()];
                (moved(episode.execute(orders).map(|(episode, _)| episode)), Sort::Commits)
            }
            AnyEpisode::Authorize(episode) => match self.write() {
                Some(order) => (moved(episode.execute([order]).map(|(episode, _)| episode)), Sort::Writes),
                None => (self.authorize_again(episode), Sort::Commits),
            },
            AnyEpisode::Stop(episode) => (sure(episode.believe(self.belief())), Sort::Sure),
            AnyEpisode::Escalate(episode) => (sure(episode.escalate(self.escalation())), Sort::Sure),
            AnyEpisode::Escalated(episode) => {
                let answer = if self.rng.bool() { Answer::text(&self.text()) } else { Answer::data(self.fields()) };
                (sure(episode.answered(answer)), Sort::Sure)
            }
            AnyEpisode::Verify(episode) => self.verify(episode),
            AnyEpisode::VerifyOpen(episode) => {
                let results = self.results(episode.tasks());
                (moved(episode.settle(results)), Sort::Settles)
            }
            AnyEpisode::Execute(episode) => self.execute(episode),
            AnyEpisode::ExecuteOpen(episode) if self.rng.u8(..4) == 0 => {
                (sure(episode.observe(self.observation())), Sort::Sure)
            }
            AnyEpisode::ExecuteOpen(episode) => {
                let results = self.results(episode.tasks());
                (moved(episode.settle(results)), Sort::Settles)
            }
            AnyEpisode::Review(episode) if self.rng.bool() => (sure(episode.believe(self.belief())), Sort::Sure),
            AnyEpisode::Review(episode) => (sure(episode.observe(self.observation())), Sort::Sure),
            AnyEpisode::SafeMode(episode) if self.rng.bool() => (sure(episode.believe(self.belief())), Sort::Sure),
            AnyEpisode::SafeMode(episode) => {
                let order = Layer1::assume().order(self.text());
                (sure(episode.clear(order)), Sort::Sure)
            }
        }
    }

    /// Ends the episode with nothing left open, and returns its log.
    pub(super) fn end(&mut self, episode: AnyEpisode) -> Vec<String> {
        if let AnyEpisode::Review(episode) = episode {
            return match episode.close() {
                Ok(closed) => closed.lines().to_vec(),
                // Over budget, the episode can end only in safe mode (INV-005).
                Err(refused) if refused.why.code() == Some(Code::Inv005) => {
                    self.halt(refused.episode.into_any()).lines().to_vec()
                }
                Err(refused) => refused.episode.lines().to_vec(),
            };
        }
        // In safe mode, a stream may end with anything open.
        self.halt(episode).lines().to_vec()
    }

    fn decide<S: CanDecide>(&mut self, episode: Episode<S>) -> Tried {
        let outcome = match self.rng.u8(..10) {
            0..4 => DecisionOutcome::Act,
            4..7 => DecisionOutcome::VerifyFirst,
            7 => DecisionOutcome::Escalate,
            8 => DecisionOutcome::Defer,
            _ => DecisionOutcome::Cancel,
        };
        let envelope = self.envelope();
        let mut order = self.ruling().to_act();
        if let Some((proof, mut assumptions)) = self.proofs.pop() {
            while let Some(assumption) = assumptions.pop() {
                order = order.relies_on(proof.verifies(assumption));
            }
        }
        match self.rng.u8(..4) {
            0 => {
                let assumption = self.text();
                decided(episode.decide(outcome, order.assumes(&assumption), &envelope))
            }
            1 => {
                let layer_1 = Layer1::assume().order(self.text());
                decided(episode.decide(outcome, order.layer1_override(layer_1), &envelope))
            }
            _ => decided(episode.decide(outcome, order, &envelope)),
        }
    }

    fn verify(&mut self, mut episode: Episode<AnyLoop>) -> (Tried, Sort) {
        match self.rng.u8(..7) {
            0 | 1 => {
                let target = Target::tool(self.text(), self.text(), Get);
                let (plan, assumption) = Plan::one(target);
                self.planned.push(assumption);
                (moved(episode.verify(plan.max_tool_calls(3))), Sort::Commits)
            }
            // Whether there is a plan is known only at run time.
            2 | 3 if episode.ledger().verification().met.contains(omen_fsm::Obligation::Plan) => {
                let orders = [self.read()];
                (moved(episode.execute(orders).map(|(episode, _)| episode)), Sort::Commits)
            }
            4 => (sure(episode.observe(self.observation())), Sort::Sure),
            5 => {
                let planned = std::mem::take(&mut self.planned);
                let again = episode.assumptions();
                match episode.complete() {
                    Ok(episode) => {
                        let (episode, proof) = episode.believe(self.belief());
                        self.proofs.push((proof, if self.rng.bool() { planned } else { again }));
                        (sure(episode), Sort::Sure)
                    }
                    // No move was tried: the loop is not complete yet.
                    Err(refused) => (Tried::Moved(refused.episode.into_any()), Sort::Sure),
                }
            }
            _ => (
                sure(episode.observe(Observation::new(Derived, ObservationType::MarketSignal, self.fields()))),
                Sort::Sure,
            ),
        }
    }

    fn execute(&mut self, episode: Episode<Execute>) -> (Tried, Sort) {
        match self.rng.u8(..6) {
            0 => match self.write() {
                Some(order) => {
                    let orders = [order.any(), self.read().any()];
                    (moved(episode.execute(orders).map(|(episode, _)| episode)), Sort::Writes)
                }
                None => (sure(episode.observe(self.observation())), Sort::Sure),
            },
            1 => {
                let orders = [self.read()];
                (moved(episode.execute(orders).map(|(episode, _)| episode)), Sort::Commits)
            }
            2 => (sure(episode.observe(self.observation())), Sort::Sure),
            3 => (sure(episode.review(self.belief())), Sort::Sure),
            4 => (sure(episode.remodel(self.belief())), Sort::Sure),
            _ => (sure(episode.believe(self.belief())), Sort::Sure),
        }
    }

    fn authorize(&mut self, episode: Episode<Decide<Act>>) -> Tried {
        let spec = self.spec();
        moved(episode.authorize::<Change, 2>(spec).map(|(episode, permits)| {
            self.permits.extend(permits);
            episode
        }))
    }

    fn authorize_again(&mut self, episode: Episode<Authorize>) -> Tried {
        let spec = self.spec();
        moved(episode.authorize::<Change, 3>(spec).map(|(episode, permits)| {
            self.permits.extend(permits);
            episode
        }))
    }

    fn spec(&mut self) -> TokenSpec {
        let spec = TokenSpec::new(*self.rng.choice(&[1, 60, 600]).unwrap_or(&60), self.text());
        if self.rng.u8(..4) == 0 { spec.constrained(self.fields()) } else { spec }
    }

    pub(super) fn read(&mut self) -> Order<ReadOnly> {
        let fields = self.fields_with("read");
        Directive::new(Get, op::Read, fields).timeout_seconds(self.rng.u32(..30)).ready()
    }

    pub(super) fn write(&mut self) -> Option<Order<ReadWrite>> {
        let permit = self.permits.pop()?;
        let fields = self.fields();
        Some(match self.rng.u8(..3) {
            0 => Directive::new(Set, op::Write, fields).with(permit),
            1 => Directive::bare(Set, op::Modify).with(permit),
            _ => Directive::new(Swap, op::Read, fields).timeout_seconds(10).with(permit),
        })
    }

    /// Returns some of the tasks, with results.
    fn results(&mut self, tasks: Vec<Pending>) -> Vec<Settled> {
        let count = self.rng.usize(1..=tasks.len().max(1));
        let mut results = Vec::new();
        for task in tasks.into_iter().take(count) {
            let settled = match self.rng.u8(..4) {
                0 => task.failure(self.text()),
                1 => task.cancelled(),
                _ => task.success(self.value()),
            };
            results.push(if self.rng.bool() { settled.used(self.rng.u32(..900), self.rng.u32(..3)) } else { settled });
        }
        results
    }

    fn observation(&mut self) -> Observation<Observed> {
        let fields = self.fields();
        match self.rng.u8(..3) {
            0 => Observation::user_input(Observed, fields),
            1 => Observation::tool_output(Observed, "store.get", fields),
            _ => Observation::new(Observed, ObservationType::IntelUpdate, fields),
        }
    }

    fn belief(&mut self) -> Belief {
        let (before, value) = (self.json(), self.json());
        match self.rng.u8(..3) {
            0 => Belief::new("store", "a", value),
            1 => Belief::revision("store", "a", before, value)
                .and("", "", (), 1)
                .unwrap_or_else(|_| Belief::new("", "", 1)),
            _ => Belief::revision("store", "\u{1f30d}", before, value),
        }
    }

    fn escalation(&mut self) -> Escalation<3, 1> {
        let choice = |id: &str| Choice {
            id: id.to_owned(),
            description: String::new(),
            pros: Vec::new(),
            cons: vec!["slow".to_owned()],
        };
        Escalation {
            trigger: if self.rng.bool() {
                EscalationTrigger::BudgetInsufficient
            } else {
                EscalationTrigger::ConstitutionalBoundary
            },
            options: [choice("a"), choice("b"), choice("c")],
            gaps: [Gap { gap: "what it costs".to_owned(), impact_if_unknown: String::new() }],
            next_step: Recommendation { step: self.text(), rationale: String::new() },
        }
    }

    /// Raises an alert, which is legal in every state.
    fn alert(&mut self, episode: AnyEpisode) -> AnyEpisode {
        let alert = match self.rng.u8(..3) {
            0 => Alert::info(AlertType::Drift, self.text()),
            1 => Alert::budget_override(Layer1::assume().order(self.text())),
            _ => {
                let tokens = self.permits.last().map(|permit| permit.token_id().clone());
                Alert::warning(AlertType::TokenRevocation, self.text()).revoking(tokens)
            }
        };
        episode.alert(alert)
    }

    /// Makes an emergency halt, which is also legal in every state.
    fn halt(&mut self, episode: AnyEpisode) -> AnyEpisode {
        let reason = self.text();
        episode.halt(reason).into_any()
    }

    /// Submits a proposal of a model.
    fn propose(&mut self, episode: AnyEpisode) -> Tried {
        if self.rng.bool()
            && let Some(proposal) = self.rng.choice(self.proposals)
        {
            return self.proposed(episode, proposal);
        }
        let packet = PROPOSALS.get(self.rng.usize(..PROPOSALS.len())).copied().unwrap_or_default();
        let task = format!("task_proposed_{}", self.rng.u32(..));
        let text =
            packet.replace("$TASK", &task).replace("$VALUE", &serde_json::to_string(&self.value()).unwrap_or_default());
        self.proposed(episode, &text)
    }

    fn proposed(&self, episode: AnyEpisode, text: &str) -> Tried {
        let allow = if self.speaks_for_all { Allow::everything() } else { Allow::moves() };
        match episode.propose_with(allow, text) {
            Ok(moved) => Tried::Moved(moved.episode),
            Err(refused) => Tried::Refused(refused.episode, refused.why),
        }
    }
}

/// Returns a move that was made. Its type must match the state of the machine, or a part of it (D11), and show whether
/// directives are open.
fn sure<S: Typestate>(episode: Episode<S>) -> Tried {
    let nodes = episode.nodes();
    let is_there = S::NODES.iter().all(|node| nodes.contains(*node));
    let is_open = !episode.ledger().open().is_empty();
    // In safe mode, open directives stay open until the CLEAR cancels them (D13).
    let is_halted = S::NODES == [omen_fsm::Node::SafeMode];
    if is_there && (S::OPEN || !is_open || is_halted) {
        return Tried::Moved(episode.into_any());
    }
    Tried::Astray(format!("the type is `{}`, but the machine is in {nodes:?}, directives open: {is_open}", S::NAME))
}

const PROPOSALS: [&str; 9] = [
    r#"{"packet_type": "ObservationPacket", "payload": {"observation_type": "user_input", "data": {"v": $VALUE}}}"#,
    r#"{"packet_type": "BeliefUpdatePacket", "payload": {"update_type": "new_belief", "belief_changes":
        [{"domain": "d", "key": "k", "new_value": $VALUE, "prior_value": null}]}}"#,
    r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACT", "decision_summary": "min-regret",
        "constraints_satisfied": {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
    r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "CANCEL", "decision_summary": "min-regret",
        "constraints_satisfied": {"constitutional_check": false, "budget_check": true, "tier_check": true}}}"#,
    r#"{"packet_type": "TaskDirectivePacket", "payload": {"task_id": "$TASK", "task_type": "computation",
        "execution_method": {"method": "llm_call"}}}"#,
    r#"{"packet_type": "TaskDirectivePacket", "payload": {"task_id": "$TASK", "task_type": "tool_read",
        "tool_safety_class": "READ", "execution_method": {"method": "tool", "tool_id": "store.get"}}}"#,
    r#"{"packet_type": "TaskResultPacket", "payload": {"task_id": "$TASK", "directive_packet_id": "pkt_walk_9",
        "result_status": "SUCCESS", "result_data": $VALUE}}"#,
    r#"{"packet_type": "QueueUpdatePacket", "payload": {"queue_action": "enqueue", "items": [{"item_id": "a"}]}}"#,
    r#"{"packet_type": "EscalationPacket", "payload": {}}"#,
];
