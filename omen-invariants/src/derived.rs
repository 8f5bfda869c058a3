//! Facts that a packet does not state but implies. `episode.fsm.json` names them in its guards.

use omen_types::{
    LayerSource, MethodKind, PacketHeaderFacts, StakesLevel, TaskDirectivePayload, TaskDirectivePayloadFacts, TaskType,
};

/// The class by which a directive is judged.
pub use omen_types::ToolSafetyClass as SafetyClass;

/// The class by which a directive is judged (D23): the stricter reading of its fields.
#[must_use]
pub fn safety_class(_: &PacketHeaderFacts<'_>, directive: &TaskDirectivePayloadFacts<'_>) -> SafetyClass {
    class_of(directive.task_type, directive.execution_method.method, directive.tool_safety_class)
}

/// The class by which a directive of this type, method and stated class is judged (D23).
#[must_use]
pub fn class_of(task_type: TaskType, method: MethodKind, stated: Option<SafetyClass>) -> SafetyClass {
    let writes = task_type == TaskType::ToolWrite;
    match stated {
        Some(class) if writes && !TaskDirectivePayload::requires_authorization_token_id(class) => SafetyClass::Write,
        Some(class) => class,
        None if writes || matches!(method, MethodKind::Tool | MethodKind::Code) => SafetyClass::Write,
        None => SafetyClass::Read,
    }
}

/// Whether a directive needs a token: whether the class by which it is judged requires one (D23, D40).
#[must_use]
pub fn needs_token(header: &PacketHeaderFacts<'_>, directive: &TaskDirectivePayloadFacts<'_>) -> bool {
    TaskDirectivePayload::requires_authorization_token_id(safety_class(header, directive))
}

/// Whether the sender of an alert may end safe mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseAuthority {
    /// From layer 1 or Integrity.
    Granted,
    /// From elsewhere.
    Withheld,
}

/// Whether the sender of an alert may end safe mode (D13).
#[must_use]
pub fn release_authority(header: &PacketHeaderFacts<'_>) -> ReleaseAuthority {
    match header.layer_source {
        LayerSource::IntegrityLayer(_) => ReleaseAuthority::Granted,
        LayerSource::LayerNumber(layer) if layer.get() == 1 => ReleaseAuthority::Granted,
        LayerSource::LayerNumber(_) => ReleaseAuthority::Withheld,
    }
}

/// Whether a packet comes from layer 1, which alone may override and approve (D30, D32).
#[must_use]
pub fn from_layer_1(header: &PacketHeaderFacts<'_>) -> bool {
    matches!(header.layer_source, LayerSource::LayerNumber(layer) if layer.get() == 1)
}

/// Whether a level of stakes is HIGH or CRITICAL: those that INV-003 and INV-010 are about.
#[must_use]
pub fn is_high(level: StakesLevel) -> bool {
    matches!(level, StakesLevel::High | StakesLevel::Critical)
}

/// Whether a text contains some words, which are given in lower case, in upper or lower case.
#[must_use]
pub fn contains_words(text: &str, words: &str) -> bool {
    if text.is_ascii() {
        let (text, words) = (text.as_bytes(), words.as_bytes());
        let begins = |window: &[u8]| window.first().map(u8::to_ascii_lowercase) == words.first().copied();
        return text.windows(words.len()).any(|window| begins(window) && window.eq_ignore_ascii_case(words));
    }
    text.to_lowercase().contains(words)
}
