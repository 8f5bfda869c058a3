//! Alerts (D14, D25).

use omen_invariants::ledger::BUDGET_OVERRIDE;
use omen_types::limits::MAX_VALUE_BYTES;
use omen_types::{
    AlertSeverity, AlertType, Code, Diagnostic, IntegrityAlertPayload, LayerNumber, LayerSource, Text, TokenId,
};

use super::super::draft::Draft;
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

    /// What a generated payload says, as `.alert(payload)` takes it, too. It moves nothing: a payload of severity CRITICAL
    /// is for `.halt(payload)`, one of CLEAR for [`Layer1Order::stating`]. Sent as an alert, either is kept as trouble (see
    /// [`Episode::trouble`](crate::episode::Episode::trouble)), and nothing is written.
    pub fn stating(payload: IntegrityAlertPayload) -> Self {
        Self { payload, layer: None }
    }

    /// Revokes tokens, from the next packet on (D25). Permits of them are refused when they are spent.
    pub fn revoking(mut self, tokens: impl IntoIterator<Item = TokenId>) -> Self {
        self.payload.revoked_token_ids.get_or_insert_with(Vec::new).extend(tokens);
        self
    }

    /// What is sent: one packet, or several if it revokes more tokens than one packet is to name.
    ///
    /// # Errors
    /// If its severity moves the episode.
    pub(crate) fn drafts(self) -> Result<Vec<Draft>, Refusal> {
        match self.payload.severity {
            AlertSeverity::Info | AlertSeverity::Warning => Ok(self.split()),
            moves => {
                Err(unlike(format!("an alert of severity `{moves}` moves the episode, and `alert` moves nothing")))
            }
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

/// An alert for information.
pub(crate) fn info(summary: Text) -> Draft {
    Draft::new(payload(AlertType::Other, AlertSeverity::Info, summary))
}

impl From<IntegrityAlertPayload> for Alert {
    fn from(payload: IntegrityAlertPayload) -> Self {
        Self::stating(payload)
    }
}

/// An alert that halts an episode: a reason, or a generated payload. Its severity is CRITICAL whatever the payload says,
/// for a halt is never refused.
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
    /// The alert; it names what was refused `before`.
    pub(crate) fn draft(self, before: Option<&Refusal>) -> Draft {
        let mut payload = self.0;
        let refused = before.map(|why| format!("a step before was refused: {why}"));
        if let Some(refused) = refused.and_then(|refused| Text::new(refused).ok()) {
            payload.rationale = Some(match &payload.rationale {
                Some(own) => own.suffixed(&format!("; {refused}")),
                None => refused,
            });
        }
        Draft::new(payload)
    }
}

/// The end of safe mode: an order of layer 1, perhaps with what the alert says beside its reason.
#[must_use = "it is given to `.clear(..)`"]
#[derive(Debug)]
pub struct Clearance(IntegrityAlertPayload);

impl From<Layer1Order> for Clearance {
    fn from(order: Layer1Order) -> Self {
        Self(payload(AlertType::Recovery, AlertSeverity::Clear, order.reason().clone()))
    }
}

impl Layer1Order {
    /// The order to end safe mode, in the words of a generated payload. The order's own reason stands in the rationale if
    /// the payload has none. A payload of another severity than CLEAR ends nothing: `clear` keeps that as trouble (see
    /// [`Episode::trouble`](crate::episode::Episode::trouble)).
    pub fn stating(self, mut payload: IntegrityAlertPayload) -> Clearance {
        payload.rationale.get_or_insert_with(|| self.reason().clone());
        Clearance(payload)
    }
}

impl Clearance {
    /// The alert that ends safe mode.
    ///
    /// # Errors
    /// If its severity is another one.
    pub(crate) fn draft(self) -> Result<Draft, Refusal> {
        if self.0.severity != AlertSeverity::Clear {
            return Err(unlike(format!("safe mode is ended by severity `CLEAR`, found `{}`", self.0.severity)));
        }
        Ok(Draft { layer: Some(LayerSource::LayerNumber(LayerNumber::MIN)), ..Draft::new(self.0) })
    }
}

/// A payload that is not what its move sends.
fn unlike(problem: String) -> Refusal {
    Refusal::rule(
        Diagnostic::error(Code::E7, problem)
            .at("/payload/severity")
            .help("`alert` sends INFO and WARNING, `halt` CRITICAL, and `clear` CLEAR on an order of layer 1"),
    )
}

fn payload(alert_type: AlertType, severity: AlertSeverity, summary: Text) -> IntegrityAlertPayload {
    IntegrityAlertPayload::builder().alert_type(alert_type).severity(severity).summary(summary).build()
}
