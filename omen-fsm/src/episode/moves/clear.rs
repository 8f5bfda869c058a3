//! The end of safe mode.

use crate::episode::values::clear_alert;
use crate::episode::{Episode, Layer1Order};

/// Ends safe mode on an order of layer 1 (E7, D13). What was open when it began is cancelled.
pub(crate) fn clear<S, Next>(mut episode: Episode<S>, order: Layer1Order) -> Episode<Next> {
    episode.core.must(clear_alert(order));
    episode.at()
}
