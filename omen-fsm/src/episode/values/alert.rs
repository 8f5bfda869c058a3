//! Alerts (D14, D25).

use omen_invariants::ledger::BUDGET_OVERRIDE;
use omen_types::limits::MAX_VALUE_BYTES;
use omen_types::{AlertSeverity, AlertType, IntegrityAlertPayload, LayerNumber, LayerSource, Text, TokenId};

use super::super::core::Draft;
use super::super::refused::Refusal;
use super::Layer1Order;

/// An alert that moves nothing: of severity INFO or WARNING. It cannot be cloned, for it may carry an order of layer 1,
/// which is good for one use.
#[must_use = "it is sent with `.alert(..)`"]
#[derive(Debug)]
pub struct Alert {
    pub(super) payload: IntegrityAlertPayload,
    layer: Option<LayerSource>,
}

impl Alert {
    /// For information.
    pub fn info(alert_type: AlertType, summary: Text) -> Self {
        Self { payload: payload(alert_type, AlertSeverity::Info, summary), layer: None }
    }

    /// A warning.
    pub fn warning(alert_type: AlertType, summary: Text) -> Self {
        Self { payload: payload(alert_type, AlertSeverity::Warning, summary), layer: None }
    }

    /// Layer 1 approves that the episode goes over its budgets, from now on (D32).
    pub fn budget_override(order: Layer1Order) -> Self {
        let mut alert = Self::info(AlertType::BudgetOverrun, order.reason().clone());
        // The words that INV-005 looks for.
        alert.payload.rationale = Some(order.reason().prefixed(&format!("{BUDGET_OVERRIDE}: ")));
        alert.layer = Some(LayerSource::LayerNumber(LayerNumber::MIN));
        alert
    }

    /// Revokes tokens, from the next packet on (D25). Permits of them are refused when they are spent.
    pub fn revoking(mut self, tokens: impl IntoIterator<Item = TokenId>) -> Self {
        self.payload.revoked_token_ids.get_or_insert_with(Vec::new).extend(tokens);
        self
    }

    /// What is sent: one packet, or several if it revokes more tokens than one packet is to name.
    pub(crate) fn drafts(mut self) -> Vec<Draft> {
        let (mut rest, mut bytes) = (Vec::new(), 0_usize);
        if let Some(tokens) = &mut self.payload.revoked_token_ids {
            let first = tokens.iter().position(|token| {
                bytes = bytes.saturating_add(token.as_str().len()).saturating_add(3);
                bytes > MAX_VALUE_BYTES
            });
            rest = first.map_or_else(Vec::new, |first| tokens.split_off(first.max(1)));
        }
        let more = (!rest.is_empty()).then(|| {
            let mut payload = self.payload.clone();
            payload.revoked_token_ids = Some(rest);
            Self { payload, layer: self.layer }
        });
        let mut drafts = vec![Draft { layer: self.layer, ..Draft::new(self.payload) }];
        drafts.extend(more.into_iter().flat_map(Self::drafts));
        drafts
    }
}

/// An alert for information.
pub(crate) fn info(summary: Text) -> Draft {
    Draft::new(payload(AlertType::Other, AlertSeverity::Info, summary))
}

/// The alert that halts an episode; it names what was refused `before`.
pub(crate) fn halt(reason: Text, before: Option<&Refusal>) -> Draft {
    let mut payload = payload(AlertType::Other, AlertSeverity::Critical, reason);
    payload.rationale =
        before.map(|why| omen_invariants::text!("a step before was refused: ").suffixed(&why.to_string()));
    Draft::new(payload)
}

/// The alert that ends safe mode.
pub(crate) fn clear(order: Layer1Order) -> Draft {
    let payload = payload(AlertType::Recovery, AlertSeverity::Clear, order.reason().clone());
    Draft { layer: Some(LayerSource::LayerNumber(LayerNumber::MIN)), ..Draft::new(payload) }
}

fn payload(alert_type: AlertType, severity: AlertSeverity, summary: Text) -> IntegrityAlertPayload {
    IntegrityAlertPayload::builder().alert_type(alert_type).severity(severity).summary(summary).build()
}
