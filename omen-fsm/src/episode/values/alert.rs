//! Alerts (D14, D25).

use omen_invariants::ledger::BUDGET_OVERRIDE;
use omen_types::limits::MAX_VALUE_BYTES;
use omen_types::{
    AlertSeverity, AlertType, Code, Diagnostic, IntegrityAlertPayload, LayerNumber, LayerSource, Text, TokenId,
};

use super::super::draft::Draft;
use super::super::errors::Refusal;
use super::Layer1Order;

/// Alert of severity INFO or WARNING, which does not change the state. It cannot be cloned, because it may carry an
/// order of layer 1, which is valid for one use.
#[must_use = "it is sent with `.alert(..)`"]
#[derive(Debug)]
pub struct Alert {
    pub(super) payload: IntegrityAlertPayload,
    layer: Option<LayerSource>,
}

impl Alert {
    /// Creates an alert of severity INFO.
    pub fn info(alert_type: AlertType, summary: Text) -> Self {
        Self { payload: payload(alert_type, AlertSeverity::Info, summary), layer: None }
    }

    /// Creates an alert of severity WARNING.
    pub fn warning(alert_type: AlertType, summary: Text) -> Self {
        Self { payload: payload(alert_type, AlertSeverity::Warning, summary), layer: None }
    }

    /// Creates an alert with which layer 1 approves that the episode exceeds its budgets from now on (D32).
    pub fn budget_override(order: Layer1Order) -> Self {
        let mut alert = Self::info(AlertType::BudgetOverrun, order.reason().clone());
        // INV-005 searches for this phrase.
        alert.payload.rationale = Some(order.reason().prefixed(&format!("{BUDGET_OVERRIDE}: ")));
        alert.layer = Some(LayerSource::LayerNumber(LayerNumber::MIN));
        alert
    }

    /// Creates an alert from a generated payload; `.alert(payload)` also accepts the payload itself. Use `.halt(payload)`
    /// for severity CRITICAL and [`Layer1Order::stating`] for CLEAR. An alert with one of these severities is not written;
    /// the error is kept as trouble (see [`Episode::trouble`](crate::episode::Episode::trouble)).
    pub fn stating(payload: IntegrityAlertPayload) -> Self {
        Self { payload, layer: None }
    }

    /// Revokes tokens, starting with the next packet (D25). A directive that spends a permit of a revoked token is refused.
    pub fn revoking(mut self, tokens: impl IntoIterator<Item = TokenId>) -> Self {
        self.payload.revoked_token_ids.get_or_insert_with(Vec::new).extend(tokens);
        self
    }

    /// Returns the packet, or several if the alert revokes more tokens than fit into one.
    ///
    /// # Errors
    /// A severity that would change the state.
    pub(crate) fn drafts(self) -> Result<Vec<Draft>, Refusal> {
        match self.payload.severity {
            AlertSeverity::Info | AlertSeverity::Warning => Ok(self.split()),
            moves => Err(unlike(format!(
                "cannot send an alert of severity `{moves}` with `alert`: it would change the state"
            ))),
        }
    }

    fn split(mut self) -> Vec<Draft> {
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
        drafts.extend(more.into_iter().flat_map(Self::split));
        drafts
    }
}

/// Returns an alert of severity INFO.
pub(crate) fn info(summary: Text) -> Draft {
    Draft::new(payload(AlertType::Other, AlertSeverity::Info, summary))
}

impl From<IntegrityAlertPayload> for Alert {
    fn from(payload: IntegrityAlertPayload) -> Self {
        Self::stating(payload)
    }
}

/// Alert that halts an episode, created from a reason or a generated payload. Its severity is always CRITICAL,
/// regardless of the payload, because a halt is never refused.
#[must_use = "it is sent with `.halt(..)`"]
#[derive(Clone, Debug)]
pub struct Alarm(IntegrityAlertPayload);

impl From<Text> for Alarm {
    fn from(reason: Text) -> Self {
        Self(payload(AlertType::Other, AlertSeverity::Critical, reason))
    }
}

impl From<IntegrityAlertPayload> for Alarm {
    fn from(mut payload: IntegrityAlertPayload) -> Self {
        payload.severity = AlertSeverity::Critical;
        Self(payload)
    }
}

impl Alarm {
    /// Returns the alert; it mentions the earlier refusal `before`, if any.
    pub(crate) fn draft(self, before: Option<&Refusal>) -> Draft {
        let mut payload = self.0;
        let refused = before.map(|why| format!("an earlier step was refused: {why}"));
        if let Some(refused) = refused.and_then(|refused| Text::new(refused).ok()) {
            payload.rationale = Some(match &payload.rationale {
                Some(own) => own.suffixed(&format!("; {refused}")),
                None => refused,
            });
        }
        Draft::new(payload)
    }
}

/// End of safe mode: an order of layer 1, optionally with the payload of the alert.
#[must_use = "it is given to `.clear(..)`"]
#[derive(Debug)]
pub struct Clearance(IntegrityAlertPayload);

impl From<Layer1Order> for Clearance {
    fn from(order: Layer1Order) -> Self {
        Self(payload(AlertType::Recovery, AlertSeverity::Clear, order.reason().clone()))
    }
}

impl Layer1Order {
    /// Returns the order to end safe mode, with a generated payload. If the payload has no rationale, the reason of the
    /// order becomes the rationale. If its severity is not CLEAR, `clear` writes nothing and keeps the error as trouble
    /// (see [`Episode::trouble`](crate::episode::Episode::trouble)).
    pub fn stating(self, mut payload: IntegrityAlertPayload) -> Clearance {
        payload.rationale.get_or_insert_with(|| self.reason().clone());
        Clearance(payload)
    }
}

impl Clearance {
    /// Returns the alert that ends safe mode.
    ///
    /// # Errors
    /// A severity other than CLEAR.
    pub(crate) fn draft(self) -> Result<Draft, Refusal> {
        if self.0.severity != AlertSeverity::Clear {
            return Err(unlike(format!("expected severity `CLEAR`, found `{}`", self.0.severity)));
        }
        Ok(Draft { layer: Some(LayerSource::LayerNumber(LayerNumber::MIN)), ..Draft::new(self.0) })
    }
}

/// Returns the refusal of a payload whose severity does not fit its move.
fn unlike(problem: String) -> Refusal {
    Refusal::rule(Diagnostic::error(Code::E7, problem).at("/payload/severity").help(
        "send INFO and WARNING with `alert`, CRITICAL with `halt`, and CLEAR with `clear` and an order of layer 1",
    ))
}

fn payload(alert_type: AlertType, severity: AlertSeverity, summary: Text) -> IntegrityAlertPayload {
    IntegrityAlertPayload::builder().alert_type(alert_type).severity(severity).summary(summary).build()
}
