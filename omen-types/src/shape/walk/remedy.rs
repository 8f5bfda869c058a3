//! Remedies for schema errors: a help text, and an edit where an edit is safe.

use crate::diagnostic::Edit;
use crate::pointer;
use crate::suggest::misspelt;

/// Help of an error, and the edit that it describes, both derived from one value.
pub(super) struct Remedy {
    pub(super) help: String,
    pub(super) edit: Option<Edit>,
}

impl From<String> for Remedy {
    fn from(help: String) -> Self {
        Self { help, edit: None }
    }
}

impl Remedy {
    /// Returns a remedy with a similar enum value. Correcting its case is safe; a different word may not be what was meant.
    pub(super) fn near_value(near: &str, found: &str) -> Self {
        let edit = near.eq_ignore_ascii_case(found).then(|| Edit::safe(format!("\"{near}\"")));
        Self { edit, ..did_you_mean(near).into() }
    }

    /// Returns a remedy with the name of a similar missing field. If the names differ by more than a typo, something
    /// else may have been meant, so the old value may not fit.
    pub(super) fn near_name(near: &str, found: &str) -> Self {
        let text = format!("\"{near}\"");
        let is_slip = misspelt(found, [near]).is_some();
        let edit = if is_slip { Edit::safe(text) } else { Edit::needs_consent(text) };
        let edit = (!is_claim(near)).then_some(edit);
        Self { edit, ..did_you_mean(near).into() }
    }

    /// Returns the remedy for a number or boolean in quotes.
    pub(super) fn unquoted(value: &str, quoted: &str) -> Self {
        Self { help: format!("write {quoted} without the quotes"), edit: Some(Edit::safe(value.to_owned())) }
    }

    /// Returns a remedy with a string in the expected form.
    pub(super) fn written(value: &str) -> Self {
        let text = format!("\"{value}\"");
        Self { help: format!("write `{text}`"), edit: Some(Edit::safe(text)) }
    }

    /// Returns the help without the edit, for a value that is only one of several possible ones.
    pub(super) fn in_words(self) -> Self {
        Self { edit: None, ..self }
    }

    /// Returns the remedy for the value at a pointer, without any edit that could make a false log look true.
    pub(super) fn at(self, pointer: &str) -> Self {
        if pointer::steps(pointer).any(|step| is_claim(&step)) { self.in_words() } else { self }
    }
}

pub(super) fn did_you_mean(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// Returns whether a field is a claim that only its author can correct.
fn is_claim(name: &str) -> bool {
    CLAIMS.iter().any(|(claim, _)| *claim == name)
}

/// Fields that no edit writes or changes, because an edit could make a false log look true, with their meanings.
pub const CLAIMS: &[(&str, &str)] = &[
    ("layer_source", "which layer has sent a packet"),
    ("issuer_layer", "which layer has issued a token"),
    ("stakes", "what is at stake, from which the rules derive what they require"),
    ("quality", "how well a claim must be verified"),
    ("epistemics", "how the agent knows what it claims, and how sure it was"),
    ("evidence", "what a claim rests on, and how old that is"),
    ("evidence_integration", "what a belief rests on"),
    ("epistemic_upgrade", "that a claim became firmer"),
    ("load_bearing_assumptions", "what a decision rests on, and whether that holds"),
    ("verified", "that an assumption holds"),
    ("verification_packet_id", "which packet shows that"),
    ("constraints_satisfied", "that a decision was checked"),
    ("reliability_metadata", "how reliable an observation is"),
    ("observation_type", "who an observation is from: the word of a user is an approval"),
    ("result_status", "that a task has succeeded"),
    ("tool_safety_class", "that a call needs no approval"),
    ("authorization_token_id", "which approval a call rests on"),
    ("token_id", "which approval a token grants"),
    ("authorized_scope", "what is approved"),
    ("expiry", "until when it is approved"),
    ("max_usage_count", "how often it is approved"),
    ("usage_count", "how often an approval was used"),
    ("revoked", "whether an approval holds"),
    ("revoked_token_ids", "which approvals no longer hold"),
    ("severity", "whether safe mode ends"),
    ("alert_type", "why safe mode began or ends"),
];
