//! What the builders of branches and of packets share.
//!
//! The plain `builder()` of an object with conditionals or bounds that no type carries checks them when it builds, and
//! gives a [`Result`]. The builder of a branch, such as
//! [`TaskDirectivePayload::write`](crate::TaskDirectivePayload::write), carries in its type which members are set: what
//! the branch demands is required when the program is compiled, and building cannot fail.
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

use super::parse::{Checked, Claims, Rejected};
use super::{McpEnvelope, PacketHeader, PacketId, PacketType};
use crate::metadata::Metadata;
use crate::scalar::Invalid;
use crate::time::Timestamp;

/// A required member of a builder that is not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unset(());

impl Unset {
    pub(crate) const NEW: Self = Self(());
}

/// A required member of a builder that is set. Only setters make it.
#[derive(Clone, Copy, Debug)]
pub struct Set<T>(T);

impl<T> Set<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }
}

/// What a member that is set gives: the base of the generated traits, each of which explains one missing member.
#[doc(hidden)]
pub trait Given<T>: sealed::Sealed {
    fn given(self) -> T;
}

impl<T> Given<T> for Set<T> {
    fn given(self) -> T {
        self.0
    }
}

/// What the builder of packets needs of a type of packet. Implemented by generated types only.
#[doc(hidden)]
pub trait PacketParts: Sized {
    type Payload;
    const PACKET_TYPE: PacketType;

    fn from_parts(header: PacketHeader, mcp: McpEnvelope, payload: Self::Payload, metadata: Metadata) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Unset {}
    impl<T> Sealed for super::Set<T> {}
}

/// A member that a setter may set: one that is not set yet.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: duplicate field; this setter was called already",
    label = "set twice",
    note = "call each setter of a required field once"
)]
pub trait NotSet: sealed::Sealed {}

impl NotSet for Unset {}

/// A list of at least one element.
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
    /// The first element, and those that follow it.
    pub fn new(first: T, rest: impl IntoIterator<Item = T>) -> Self {
        let mut all = vec![first];
        all.extend(rest);
        Self(all)
    }

    /// The elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

/// A list without elements, where at least one is required.
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

/// Arrays of these lengths have at least one element; for a longer list there is `TryFrom`.
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

/// Where packets get their ids and times from. No builder reads a clock or makes an id by itself.
///
/// Two closures are one, too: `(|| next_id(), || now())`.
pub trait Stamp {
    /// The id of the next packet; unique within its episode (D21).
    ///
    /// # Errors
    /// If the source gives something that is not an id of a packet.
    fn packet_id(&mut self) -> Result<PacketId, Invalid>;
    /// The time now.
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

/// The value that a builder has made, if it matches its schema.
pub(crate) fn built<T: Checked>(value: T) -> Result<T, Box<Rejected>> {
    match value.check() {
        Ok(()) => Ok(value),
        Err(errors) => Err(Box::new(Rejected { errors, claims: Claims::default() })),
    }
}
