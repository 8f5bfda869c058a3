//! Facts that a packet implies without stating them. They are named by the guards in `episode.fsm.json`.

use omen_types::{
    LayerSource, MethodKind, OperationType, PacketHeaderFacts, StakesLevel, TaskDirectivePayload,
    TaskDirectivePayloadFacts, TaskType,
};

use crate::params::Params;

pub use crate::params::{OPERATION, operation_named};

/// Effective class of a directive.
pub use omen_types::ToolSafetyClass as SafetyClass;

/// Returns the effective class of a directive: the strictest reading of its fields (D23), including its operation (D88).
#[must_use]
pub fn safety_class(_: &PacketHeaderFacts<'_>, directive: &TaskDirectivePayloadFacts<'_>) -> SafetyClass {
    match class_of(directive.task_type, directive.execution_method.method, directive.tool_safety_class) {
        SafetyClass::Read if writing_operation(directive).is_some() => SafetyClass::Write,
        class => class,
    }
}

/// Returns the operation in the parameters of a directive, if it writes (D88).
#[must_use]
pub fn writing_operation(directive: &TaskDirectivePayloadFacts<'_>) -> Option<OperationType> {
    let text = directive.execution_method.tool_params?;
    // A name may contain escapes.
    if !text.contains(OPERATION) && !text.contains('\\') {
        return None;
    }
    let (_, operation) = Params::read(Some(text)).operation()?;
    (operation != OperationType::Read).then_some(operation)
}

/// Returns the effective class of a directive with this type, method and stated class (D23).
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

/// Returns whether a directive needs a token, that is, whether its effective class requires one (D23, D40).
#[must_use]
pub fn needs_token(header: &PacketHeaderFacts<'_>, directive: &TaskDirectivePayloadFacts<'_>) -> bool {
    TaskDirectivePayload::requires_authorization_token_id(safety_class(header, directive))
}

/// Whether the sender of an alert may end safe mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseAuthority {
    /// The sender is layer 1 or Integrity.
    Granted,
    /// The sender is another layer.
    Withheld,
}

/// Returns whether the sender of an alert may end safe mode (D13).
#[must_use]
pub fn release_authority(header: &PacketHeaderFacts<'_>) -> ReleaseAuthority {
    match header.layer_source {
        LayerSource::IntegrityLayer(_) => ReleaseAuthority::Granted,
        LayerSource::LayerNumber(layer) if layer.get() == 1 => ReleaseAuthority::Granted,
        LayerSource::LayerNumber(_) => ReleaseAuthority::Withheld,
    }
}

/// Returns whether a packet comes from layer 1, which alone may override and approve (D30, D32).
#[must_use]
pub fn from_layer_1(header: &PacketHeaderFacts<'_>) -> bool {
    matches!(header.layer_source, LayerSource::LayerNumber(layer) if layer.get() == 1)
}

/// Returns whether a stakes level is HIGH or CRITICAL, the levels of INV-003 and INV-010.
#[must_use]
pub fn is_high(level: StakesLevel) -> bool {
    matches!(level, StakesLevel::High | StakesLevel::Critical)
}

/// Non-ASCII characters whose lower case contains an ASCII letter: the Kelvin sign and the dotted capital I.
const ASCII_IN_LOWER_CASE: [char; 2] = ['\u{212a}', '\u{130}'];

/// Returns whether a text contains the given lower-case words, ignoring case.
#[must_use]
pub fn contains_words(text: &str, words: &str) -> bool {
    let (bytes, words_bytes) = (text.as_bytes(), words.as_bytes());
    // The search starts from a rare letter, so the rest is compared at few positions.
    let anchor = words.bytes().position(|byte| b"-xkfvg".contains(&byte)).unwrap_or(0);
    let Some(letter) = words_bytes.get(anchor) else { return true };
    if !text.is_ascii() && text.contains(ASCII_IN_LOWER_CASE) {
        return text.to_lowercase().contains(words);
    }
    memchr::memchr2_iter(*letter, letter.to_ascii_uppercase(), bytes).any(|at| {
        let found = at.checked_sub(anchor).and_then(|begin| bytes.get(begin..begin + words_bytes.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(words_bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::{ASCII_IN_LOWER_CASE, contains_words};

    #[test]
    fn two_characters_beyond_ascii_become_ascii_letters() {
        let all = ('\u{80}'..=char::MAX).filter(|other| other.to_lowercase().any(|lower| lower.is_ascii()));
        assert!(all.clone().count() == 2 && all.clone().all(|one| ASCII_IN_LOWER_CASE.contains(&one)));
        assert!(contains_words("expected \u{212a}elvin", "kelvin") && contains_words("M\u{130}n", "mi"));
    }

    #[test]
    fn words_are_found_in_any_case_and_at_any_place() {
        let words = ["min-regret", "expected value", "safety", "no rare one", "x", ""];
        for words in words {
            for text in [
                words.to_owned(),
                format!("{words} a"),
                format!("a {words}"),
                format!("x-{words}-x"),
                format!("ä{words}"),
            ] {
                assert!(contains_words(&text, words) && contains_words(&text.to_uppercase(), words), "{text}: {words}");
            }
            for text in ["", "-", "xx", "min regret", "expected valu", "afety", "saf ety", "ä"] {
                assert_eq!(contains_words(text, words), text.contains(words), "{text}: {words}");
            }
        }
    }
}
