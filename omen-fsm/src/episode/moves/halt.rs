//! The emergency halt.

use crate::episode::{Alarm, Episode, SafeMode, Says};

/// Halts the episode: an alert of severity CRITICAL leads to safe mode from every state (D14). Only an
/// order of layer 1 leads out. A step that failed before (see [`Episode::trouble`]) does not keep it back, and the alert
/// names it; a log that has failed does.
pub(crate) fn halt<S>(mut episode: Episode<S>, reason: impl Says<Alarm>) -> Episode<SafeMode> {
    episode.core.halt(reason.said());
    episode.at()
}
