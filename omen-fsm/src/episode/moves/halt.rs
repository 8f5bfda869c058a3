//! The emergency halt.

use omen_types::Text;

use crate::episode::values::halt_alert;
use crate::episode::{Episode, SafeMode};

/// Halts the episode: an alert of severity CRITICAL leads to safe mode from every state (D14). Only an
/// order of layer 1 leads out.
pub(crate) fn halt<S>(mut episode: Episode<S>, reason: Text) -> Episode<SafeMode> {
    episode.core.must(halt_alert(reason));
    episode.at()
}
