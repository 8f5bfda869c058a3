//! Membership: the live workers, the rules that all of them must share, and the assignment of partitions.

mod agreement;
mod assignment;
mod members;

pub(crate) use self::agreement::Agreement;
pub(crate) use self::assignment::Assignment;
pub(crate) use self::members::{BEAT, LEASE, Members, owned};
