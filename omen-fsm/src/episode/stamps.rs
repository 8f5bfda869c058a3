//! Ids and times for packet builders.

use omen_types::builder::Stamp;
use omen_types::{Invalid, PacketId, Timestamp};

use super::ids::IdSource;
use super::time::TimeSource;

/// An [`IdSource`] and a [`TimeSource`] for the builder of a packet: `.stamp(&mut stamps)`.
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
