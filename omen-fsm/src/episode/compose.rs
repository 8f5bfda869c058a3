//! Composition of packets: payload, envelope, and a header with a new id.

use std::sync::Arc;

use omen_invariants::derived::is_high;
use omen_invariants::ledger::{Fingerprint, Kind};
use omen_invariants::rules::inv_003_high_stakes_verified::{is_met, tier_suffices};
use omen_types::limits::MAX_ID_BYTES;
use omen_types::{
    Code, DecisionPayload, Diagnostic, Invalid, LayerSource, McpEnvelope, Packet, PacketHeader, PacketId, PacketType,
    Payload, PositiveCount, TaskId, Timestamp, TokenId, serde_json,
};

use super::core::Core;
use super::draft::Draft;
use super::errors::Refusal;
use super::values::{NamedScope, TokenSpec, contradiction};
use crate::machine::Machine;
use crate::table::sender;

fn no_id(invalid: Invalid) -> Refusal {
    Refusal::rule(Diagnostic::error(Code::Schema, format!("the id source gave an invalid id: {invalid}")))
}

impl Machine {
    /// Returns the first unused id of a source: the source of a resumed episode may start counting from the beginning. The
    /// search ends after as many ids as packets were sent; if the source only repeats itself, the machine refuses its last id.
    fn fresh<T: TryFrom<String, Error = Invalid>>(
        &self,
        sent: u64,
        kind: Kind,
        mut next: impl FnMut() -> String,
    ) -> Result<T, Invalid> {
        let mut id = next();
        for _ in 0..=sent {
            let used = match kind {
                Kind::Token => self.ledger().tokens().get(&id).is_some(),
                _ => self.ledger().has_seen(Fingerprint::new(kind, &id)),
            };
            if !used {
                break;
            }
            id = next();
        }
        if id.len() > MAX_ID_BYTES {
            return Err(Invalid::new("id", "at most 4096 bytes", id));
        }
        T::try_from(id)
    }
}

impl Core {
    /// Builds a packet from the JSON texts of its payload and envelope, parsed as strictly as a line of a log.
    pub(crate) fn compose(
        &mut self,
        packet_type: PacketType,
        payload: &str,
        mcp: Option<&str>,
    ) -> Result<Packet, Refusal> {
        let broken = |error: serde_json::Error| Refusal::rule(Diagnostic::error(Code::Json, error.to_string()));
        let header = self.header(packet_type, None, self.last.clone())?;
        let header = serde_json::to_string(&header).map_err(broken)?;
        let own = match mcp {
            Some(_) => String::new(),
            None => serde_json::to_string(&self.envelope_of(packet_type)).map_err(broken)?,
        };
        let mcp = mcp.unwrap_or(&own);
        let text = format!(r#"{{"header":{header},"mcp":{mcp},"payload":{payload}}}"#);
        text.parse().map_err(|rejected: Box<omen_types::Rejected>| {
            let mut errors = rejected.errors;
            // The spans refer to a text that the caller never sees.
            errors.iter_mut().for_each(|error| error.span = None);
            Refusal::Rules(errors)
        })
    }

    pub(super) fn make(&mut self, draft: Draft, last: Option<PacketId>) -> Result<Packet, Refusal> {
        let Draft { mut payload, status, layer } = draft;
        let mut mcp = self.envelope_of(payload.packet_type());
        if let Payload::Decision(decision) = &mut payload {
            fill_checks(decision, &mcp);
        }
        if let Some(status) = status {
            mcp.epistemics.status = status;
        }
        let header = self.header(payload.packet_type(), layer, last)?;
        Ok(payload.into_packet(header, mcp))
    }

    fn header(
        &mut self,
        packet_type: PacketType,
        layer: Option<LayerSource>,
        last: Option<PacketId>,
    ) -> Result<PacketHeader, Refusal> {
        let ids = &mut self.ids;
        let mut header = PacketHeader::builder()
            .packet_id(self.machine.fresh(self.sent, Kind::Packet, || ids.packet_id()).map_err(no_id)?)
            .packet_type(packet_type)
            .created_at(Timestamp::from(self.clock.now()))
            .layer_source(layer.unwrap_or(sender(packet_type)))
            .correlation_id(self.origin.correlation_id.clone())
            .maybe_campaign_id(self.origin.campaign_id.clone())
            .maybe_previous_packet_id(last)
            .build();
        self.origin.header.clone().fill(&mut header);
        Ok(header)
    }

    /// Returns distinct task ids that are unused in this episode.
    pub(crate) fn fresh_task_ids(&mut self, count: usize) -> Result<Vec<TaskId>, Refusal> {
        let ids = &mut self.ids;
        let mut all: Vec<TaskId> = Vec::with_capacity(count);
        // If the source only repeats ids, the packets are refused when they are sent (D21).
        let mut tries = self.sent.saturating_add(1);
        while all.len() < count {
            let id = self.machine.fresh(self.sent, Kind::Task, || ids.task_id()).map_err(no_id)?;
            if tries > 0 && all.contains(&id) {
                tries -= 1;
            } else {
                all.push(id);
            }
        }
        Ok(all)
    }

    /// Issues a token, and returns its id.
    ///
    /// # Errors
    /// As [`Core::compose_token`], or the refusal of the packet.
    pub(crate) fn issue_token(&mut self, spec: &TokenSpec, scope: &NamedScope) -> Result<TokenId, Arc<Refusal>> {
        let (token_id, draft) = self.compose_token(spec, scope)?;
        self.try_send(draft)?;
        Ok(token_id)
    }

    /// Composes the packet of a token with a new id, or with that of a stated payload.
    ///
    /// # Errors
    /// No tool, operation or use (SCHEMA), a payload that contradicts the scope or whose token exists (INV-007), or an
    /// invalid id from the id source.
    fn compose_token(&mut self, spec: &TokenSpec, scope: &NamedScope) -> Result<(TokenId, Draft), Refusal> {
        let uses = PositiveCount::new(u64::from(scope.uses)).map_err(|invalid| {
            Refusal::rule(Diagnostic::error(Code::Schema, invalid.to_string()).help(Code::Schema.info().help))
        })?;
        let (token_id, draft) = spec.draft(scope, uses, || {
            let ids = &mut self.ids;
            let id = self.machine.fresh(self.sent, Kind::Token, || ids.token_id()).map_err(no_id)?;
            // A token must not expire immediately because the clock was set back (D64).
            Ok((id, self.machine.ledger().clock_at(self.clock.now())))
        })?;
        if self.machine.ledger().tokens().get(token_id.as_str()).is_some() {
            return Err(contradiction(
                format!("the token `{token_id}` was already issued or revoked"),
                "/payload/token_id",
            ));
        }
        Ok((token_id, draft))
    }
}

/// Fills in the self-reported checks of a decision from its envelope: `true` only for a check that was performed (D61).
fn fill_checks(decision: &mut DecisionPayload, mcp: &McpEnvelope) {
    let (level, quality) = (mcp.stakes.stakes_level, &mcp.quality);
    let verified = || decision.load_bearing_assumptions.iter().flatten().map(|assumption| assumption.verified);
    let met = if is_high(level) {
        verified().all(|verified| verified)
    } else {
        is_met(quality.quality_tier, quality.verification_requirement, verified())
    };
    // Without assumptions there is nothing to verify, so the check is left out.
    let any = verified().next().is_some();
    let checks = &mut decision.constraints_satisfied;
    checks.tier_check = tier_suffices(level, quality.quality_tier);
    checks.verification_check = any.then_some(met);
}
