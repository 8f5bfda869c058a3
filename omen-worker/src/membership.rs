//! Membership: the live workers, the rules that all of them must share, and the partitions of each.

mod agreement;
mod lease;
mod ownership;

pub(crate) use self::agreement::Agreement;
pub(crate) use self::lease::{BEAT, WorkerLease};
pub(crate) use self::ownership::owned;
