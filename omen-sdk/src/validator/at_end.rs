//! Findings at the end of the stream.

use omen_fsm::Machine;
use omen_types::Diagnostic;

use super::options::ValidatorOptions;

/// Returns the findings at the end of the stream in an episode, each with the packet id that it is about, if any.
pub(super) fn at_end<'m>(machine: &'m Machine, options: &ValidatorOptions) -> Vec<(Option<&'m str>, Diagnostic)> {
    let mut found = machine.finish_at(options.now);
    options.levels.apply_to(&mut found, |(_, diagnostic)| diagnostic);
    found
}
