//! Alerts that move nothing.

use crate::episode::{Alert, Episode, Says};

/// Sends an alert of severity INFO or WARNING, which moves nothing (D14).
pub(crate) fn alert<S>(mut episode: Episode<S>, alert: impl Says<Alert>) -> Episode<S> {
    episode.core.alert(alert.said());
    episode
}
