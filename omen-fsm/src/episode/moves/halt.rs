//! Emergency halt.

use crate::episode::{Alarm, Episode, SafeMode, Says};

/// Halts the episode: an alert of severity CRITICAL leads to safe mode from every state (D14). Only an order of layer 1
/// ends safe mode. An earlier failed move (see [`Episode::trouble`]) does not prevent the halt, and the alert reports
/// that move; a failed log does prevent it.
pub(crate) fn halt<S>(mut episode: Episode<S>, reason: impl Says<Alarm>) -> Episode<SafeMode> {
    episode.core.halt(reason.said());
    episode.at()
}
