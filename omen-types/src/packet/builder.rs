//! Code shared by the builders of branches and packets.
//!
//! If an object has conditionals or bounds that no type expresses, its plain `builder()` checks them when it builds,
//! and returns a [`Result`]. The builder of a branch, such as
//! [`TaskDirectivePayload::write`](crate::TaskDirectivePayload::write), tracks in its type which fields are set: a
//! missing field that the branch requires is a compile error, and building cannot fail.
//!
//! ```
//! use omen_types::{ExecutionMethod, TaskDirectivePayload, TaskType};
//!
//! let method = ExecutionMethod::tool().tool_id("pool.resize").build();
//! let payload = TaskDirectivePayload::write()
//!     .task_id("task_1".parse()?)
//!     .task_type(TaskType::ToolWrite)
//!     .execution_method(method)
//!     .authorization_token_id("token_1".parse()?) // without it, the compiler reports E4
//!     .build();
//! assert!(payload.authorization_token_id.is_some());
//! # Ok::<(), omen_types::Invalid>(())
//! ```

use super::layers::{Own, Sends};
use super::parse::{Checked, Claims, Rejected};
use super::{
    CampaignId, CorrelationId, LayerSource, McpEnvelope, PacketBuilder, PacketFacts, PacketHeader, PacketId, PacketType,
};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::metadata::Metadata;
use crate::scalar::Invalid;
use crate::time::Timestamp;

/// Type parameter for a required field that was not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unset(());

impl Unset {
    pub(crate) const NEW: Self = Self(());
}

/// Type parameter for a required field that was set. Only setters create it.
#[derive(Clone, Copy, Debug)]
pub struct Set<T>(T);

impl<T> Set<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }
}

/// Value of a field that was set: the base of the generated traits, each of which explains one missing field.
#[doc(hidden)]
pub trait Given<T>: sealed::Sealed {
    fn given(self) -> T;
}

impl<T> Given<T> for Set<T> {
    fn given(self) -> T {
        self.0
    }
}

/// Parts of a packet, for the packet builder. Implemented by generated types only.
#[doc(hidden)]
pub trait PacketParts: Sized + serde::Serialize {
    type Payload;
    const PACKET_TYPE: PacketType;

    fn from_parts(header: PacketHeader, mcp: McpEnvelope, payload: Self::Payload, metadata: Metadata) -> Self;
}

/// A payload, which determines the type of its packet. Implemented by generated types only.
#[doc(hidden)]
pub trait PayloadParts: Sized {
    type Packet: PacketParts<Payload = Self>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Unset {}
    impl<T> Sealed for super::Set<T> {}
}

/// List of at least one element.
///
/// ```
/// use omen_types::builder::AtLeastOne;
///
/// assert_eq!(AtLeastOne::from([1, 2]).into_vec(), [1, 2]);
/// assert_eq!(AtLeastOne::new(1, [2, 3]).into_vec(), [1, 2, 3]);
/// assert!(AtLeastOne::try_from(Vec::<u8>::new()).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtLeastOne<T>(Vec<T>);

impl<T> AtLeastOne<T> {
    /// Creates a list from a first element and any further ones.
    pub fn new(first: T, rest: impl IntoIterator<Item = T>) -> Self {
        let mut all = vec![first];
        all.extend(rest);
        Self(all)
    }

    /// Returns the elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

/// Error for an empty list that must have at least one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsEmpty(());

impl std::fmt::Display for IsEmpty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("expected at least 1 element, found 0")
    }
}

impl std::error::Error for IsEmpty {}

impl<T> TryFrom<Vec<T>> for AtLeastOne<T> {
    type Error = IsEmpty;

    fn try_from(list: Vec<T>) -> Result<Self, IsEmpty> {
        if list.is_empty() { Err(IsEmpty(())) } else { Ok(Self(list)) }
    }
}

impl<T> From<AtLeastOne<T>> for Vec<T> {
    fn from(list: AtLeastOne<T>) -> Self {
        list.0
    }
}

/// Implements conversions from arrays with at least one element; for longer lists, use `TryFrom`.
macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<T> From<[T; $length]> for AtLeastOne<T> {
            fn from(array: [T; $length]) -> Self {
                Self(array.into())
            }
        }
    )*};
}

arrays!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);

/// Source of packet ids and times. No builder reads a clock or generates an id by itself.
///
/// Also implemented by a pair of closures: `(|| next_id(), || now())`.
pub trait Stamp {
    /// Returns the id of the next packet, which must be unique within its episode (D21).
    ///
    /// # Errors
    /// If the source generates an invalid packet id.
    fn packet_id(&mut self) -> Result<PacketId, Invalid>;
    /// Returns the current time.
    fn created_at(&mut self) -> Timestamp;
}

impl<Ids: FnMut() -> Result<PacketId, Invalid>, Clock: FnMut() -> Timestamp> Stamp for (Ids, Clock) {
    fn packet_id(&mut self) -> Result<PacketId, Invalid> {
        (self.0)()
    }

    fn created_at(&mut self) -> Timestamp {
        (self.1)()
    }
}

impl<S: Stamp + ?Sized> Stamp for &mut S {
    fn packet_id(&mut self) -> Result<PacketId, Invalid> {
        (**self).packet_id()
    }

    fn created_at(&mut self) -> Timestamp {
        (**self).created_at()
    }
}

/// Origin of an agent's packets: the episode, a source of ids and times, and the layer that sends each packet (D63).
///
/// ```
/// use omen_types::builder::Origin;
/// use omen_types::{BeliefChange, BeliefUpdatePayload, McpEnvelope, PacketId, Rejected, Timestamp, layers};
///
/// fn two(envelope: &McpEnvelope, mut ids: impl FnMut() -> u32) -> Result<(), Box<dyn std::error::Error>> {
///     let now = || Timestamp::from(std::time::SystemTime::now());
///     let stamp = (move || PacketId::new(format!("pkt_{}", ids())), now);
///     let mut origin = Origin::new("corr_orders".parse()?, stamp);
///
///     let change = BeliefChange::builder().domain("db").key("pool").prior_value(().into()).new_value(20.into()).build();
///     let belief = BeliefUpdatePayload::new_belief().belief_changes([change]).build();
///     let packet = origin.packet(envelope.clone(), belief.clone())?;
///     assert_eq!(packet.header().correlation_id.as_str(), "corr_orders");
///     // Layer 3 may believe, too. It does not decide: a decision from it does not compile.
///     let modelled = origin.sent_by(layers::Layer3).packet(envelope.clone(), belief)?;
///     # drop(modelled);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Origin<S, L = Own> {
    correlation_id: CorrelationId,
    campaign_id: Option<CampaignId>,
    stamp: S,
    _layer: L,
}

/// Header fields of the next packet that an origin determines.
pub(crate) struct HeaderStamp {
    pub(crate) packet_id: PacketId,
    pub(crate) created_at: Timestamp,
    pub(crate) correlation_id: CorrelationId,
    pub(crate) layer_source: LayerSource,
    pub(crate) campaign_id: Option<CampaignId>,
}

impl<S: Stamp> Origin<S> {
    /// Creates the origin of the packets of an episode.
    pub fn new(correlation_id: CorrelationId, stamp: S) -> Self {
        Self { correlation_id, campaign_id: None, stamp, _layer: Own }
    }

    /// Sets the campaign that all packets state.
    #[must_use]
    pub fn campaign(mut self, campaign_id: CampaignId) -> Self {
        self.campaign_id = Some(campaign_id);
        self
    }
}

impl<S: Stamp, L: Copy> Origin<S, L> {
    /// Returns the same origin for packets of another layer, such as a decision of layer 1. Packets that this layer
    /// does not send do not compile.
    pub fn sent_by<M: Copy>(&mut self, layer: M) -> Origin<&mut S, M> {
        let (correlation_id, campaign_id) = (self.correlation_id.clone(), self.campaign_id.clone());
        Origin { correlation_id, campaign_id, stamp: &mut self.stamp, _layer: layer }
    }

    /// Creates a packet from an envelope and a payload. For a packet with more fields, such as `previous_packet_id`,
    /// pass the origin to its builder: `DecisionPacket::builder().origin(&mut origin)?`.
    ///
    /// # Errors
    /// If the id source generates an invalid packet id, or a reader would refuse the packet.
    pub fn packet<Y: PayloadParts>(
        &mut self,
        mcp: impl Into<McpEnvelope>,
        payload: Y,
    ) -> Result<Y::Packet, Box<Rejected>>
    where
        L: Sends<Y::Packet>,
    {
        let builder = PacketBuilder::<Y::Packet>::begin().origin(self).map_err(|invalid| {
            let error = Diagnostic::error(Code::Schema, invalid.to_string()).at("/header/packet_id");
            Box::new(Rejected { errors: vec![error], claims: Claims::default() })
        })?;
        builder.mcp(mcp).payload(payload).build()
    }

    pub(crate) fn stamp_of<P>(&mut self) -> Result<HeaderStamp, Invalid>
    where
        L: Sends<P>,
    {
        Ok(HeaderStamp {
            packet_id: self.stamp.packet_id()?,
            created_at: self.stamp.created_at(),
            correlation_id: self.correlation_id.clone(),
            layer_source: L::LAYER,
            campaign_id: self.campaign_id.clone(),
        })
    }
}

/// Returns a built value if it matches its schema.
pub(crate) fn built<T: Checked>(value: T) -> Result<T, Box<Rejected>> {
    match value.check() {
        Ok(()) => Ok(value),
        Err(errors) => Err(Box::new(Rejected { errors, claims: Claims::default() })),
    }
}

/// Returns a built packet if a reader would accept its line.
pub(crate) fn written<P: PacketParts>(packet: P) -> Result<P, Box<Rejected>> {
    let line = serde_json::to_string(&packet).map_err(|error| Box::new(unwritable(&error)))?;
    let read = PacketFacts::parse(&line).map(drop);
    read.map(|()| packet).map_err(|mut rejected| {
        // The caller has not seen the text, so offsets into it would mislead.
        rejected.errors.iter_mut().for_each(|error| error.span = None);
        rejected
    })
}

fn unwritable(error: &serde_json::Error) -> Rejected {
    let error = Diagnostic::error(Code::Json, format!("the packet cannot be written as JSON: {error}"));
    Rejected { errors: vec![error], claims: Claims::default() }
}
