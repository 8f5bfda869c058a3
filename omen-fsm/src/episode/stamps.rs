//! Clock of an episode, and the ids and times for packet builders.

use std::time::SystemTime;

use omen_types::builder::Stamp;
pub use omen_types::time::SystemClock;
use omen_types::{Instant, Invalid, PacketId, Timestamp};

use super::ids::IdSource;

/// Source of packet times. No rule reads a clock.
pub trait TimeSource: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant + Send + Sync + 'static> TimeSource for F {
    fn now(&self) -> Instant {
        self()
    }
}

impl TimeSource for SystemClock {
    fn now(&self) -> Instant {
        SystemTime::now().into()
    }
}

/// Pair of an [`IdSource`] and a [`TimeSource`] for packet builders: `.stamp(&mut stamps)`.
///
/// ```
/// use omen_fsm::episode::{Numbered, Stamps};
/// use omen_types::builder::Stamp;
/// use omen_types::Instant;
///
/// let mut stamps = Stamps(Numbered::new("orders"), || Instant::default());
/// assert_eq!(stamps.packet_id()?.as_str(), "pkt_orders_1");
/// assert_eq!(stamps.packet_id()?.as_str(), "pkt_orders_2");
/// # Ok::<(), omen_types::Invalid>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stamps<Ids, Time>(pub Ids, pub Time);

impl<Ids: IdSource, Time: TimeSource> Stamp for Stamps<Ids, Time> {
    fn packet_id(&mut self) -> Result<PacketId, Invalid> {
        PacketId::new(self.0.packet_id())
    }

    fn created_at(&mut self) -> Timestamp {
        self.1.now().into()
    }
}
