//! Alerts that do not change the state.

use crate::episode::{Alert, Episode, Says};

/// Sends an alert of severity INFO or WARNING, which does not change the state (D14).
pub(crate) fn alert<S>(mut episode: Episode<S>, alert: impl Says<Alert>) -> Episode<S> {
    episode.core.alert(alert.said());
    episode
}
