//! Which workers there are, by which rules all of them judge, and which partitions each has.

mod agreement;
mod assignment;
mod members;

pub(crate) use self::agreement::Agreement;
pub(crate) use self::assignment::Assignment;
pub(crate) use self::members::{BEAT, LEASE, Members, owned};
