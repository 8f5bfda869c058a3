//! Information that an episode keeps about the packets in its log.

use std::sync::Arc;

use omen_types::{AlertSeverity, DecisionOutcome, EpistemicStatus, Packet};

use super::core::{Core, take};
use super::errors::Refusal;
use super::loop_notes::{LoopNotes, LoopState};
use super::open_task::OpenTask;
use super::values::OrderDraft;
use super::{Authority, Pending};
use crate::table::{LOOP_NODE, NodeSet};

impl Core {
    /// Replays a packet that the log already holds.
    pub(crate) fn replay(&mut self, packet: Packet, text: &str) -> Result<(), Refusal> {
        let is_first = !self.machine.ledger().has_campaign();
        take(&mut self.machine, text, |_, _| Ok(()))?;
        if let Some(campaign) = packet.header().campaign_id.as_ref().filter(|_| is_first) {
            // The first campaign in the log takes precedence over that of the setup (D65).
            self.origin.campaign_id = Some(campaign.clone());
        }
        Self::withdraw(&self.leases, &packet);
        self.adopt(&packet);
        self.note(&packet);
        Ok(())
    }

    /// Records what later moves need to know about a packet in the log.
    pub(super) fn note(&mut self, packet: &Packet) {
        let id = &packet.header().packet_id;
        self.sent = self.sent.saturating_add(1);
        self.last = Some(id.clone());
        self.user_inputs.note(packet);
        self.leases.reach(packet.header().created_at.instant());
        match packet {
            Packet::Decision(decision) => {
                self.decision = Some(id.clone());
                if decision.payload.decision_outcome == DecisionOutcome::VerifyFirst {
                    self.looped = LoopNotes { state: LoopState::Running, ..LoopNotes::default() };
                }
            }
            Packet::VerificationPlan(plan) => {
                self.looped.targets.extend(plan.payload.targets.iter().map(|target| target.assumption.to_string()))
            }
            Packet::Observation(observation) if self.looped.state == LoopState::Running => {
                if observation.mcp.epistemics.status == EpistemicStatus::Observed {
                    self.looped.observed = Some(id.clone());
                }
                self.looped.evidence.push(id.clone());
            }
            Packet::TaskDirective(directive) => {
                let payload = &directive.payload;
                if let Some(tool) = &payload.execution_method.tool_id {
                    self.tools.note(tool, OrderDraft::stating(payload.clone()).needs_token());
                }
                let ledger = self.machine.ledger();
                let opened = ledger.open().get(id.as_str());
                let task = OpenTask {
                    directive: id.clone(),
                    task_id: payload.task_id.clone(),
                    method: payload.execution_method.clone(),
                    authority: payload.authorization_token_id.clone().map(|token_id| Authority {
                        expires: ledger
                            .tokens()
                            .get(token_id.as_str())
                            .and_then(|token| Some(token.allowance.as_ref()?.expiry)),
                        token_id,
                    }),
                    // INVARIANT: the machine has just accepted the directive, so it is open.
                    due: opened.map_or_else(|| self.now(), |open| open.created_at.plus_seconds(open.timeout_seconds)),
                    order: self.sent,
                };
                let token = task.authority.as_ref().map(|authority| (authority.token_id.as_str(), authority.expires));
                self.leases.open(id.as_str(), token);
                self.tasks.insert(id.to_string(), task);
            }
            Packet::TaskResult(result) => {
                self.tasks.remove(result.payload.directive_packet_id.as_str());
                self.leases.settled(result.payload.directive_packet_id.as_str());
                if self.looped.state == LoopState::Running {
                    self.looped.evidence.push(id.clone());
                }
            }
            Packet::ToolAuthorizationToken(token) => {
                let token_id = &token.payload.token_id;
                let allowance =
                    self.machine.ledger().tokens().get(token_id.as_str()).and_then(|token| token.allowance.as_ref());
                if allowance.is_some_and(|allowance| *allowance.issued_by == *id.as_str()) {
                    self.tokens.push(token_id.clone());
                }
                // A token that is issued again may expire earlier (D24).
                if let Some(allowance) = allowance {
                    self.leases.expires(token_id.as_str(), allowance.expiry);
                }
            }
            Packet::IntegrityAlert(alert) if alert.payload.severity == AlertSeverity::Clear => self.leases.clear(),
            _ => {}
        }
        if self.looped.state == LoopState::Running && self.machine.nodes() != NodeSet::of(LOOP_NODE) {
            // A belief update leaves a loop only by closing it (E3); otherwise, an emergency halt ended the loop.
            let closes = matches!(packet, Packet::BeliefUpdate(_));
            self.looped.state = if closes { LoopState::Closed } else { LoopState::None };
        }
        if self.machine.ledger().open().is_empty() {
            // The end of safe mode cancels the open directives (D13).
            self.tasks.clear();
        }
    }

    /// Returns the open tasks, in sending order.
    pub(crate) fn pending_tasks(&self) -> Vec<Pending> {
        let mut tasks: Vec<&OpenTask> = self.tasks.values().collect();
        tasks.sort_unstable_by_key(|task| task.order);
        tasks.into_iter().map(|task| self.pending(task)).collect()
    }

    pub(crate) fn pending(&self, task: &OpenTask) -> Pending {
        let correlation_id = self.origin.correlation_id.clone();
        let (leases, clock) = (Arc::clone(&self.leases), Arc::clone(&self.clock));
        let (task, user_inputs) = (Box::new(task.clone()), Arc::clone(&self.user_inputs));
        Pending { task, correlation_id, episode: self.tag.clone(), leases, user_inputs, clock }
    }
}
