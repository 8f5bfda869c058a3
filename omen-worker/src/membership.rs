//! Membership: the live workers, the rules that all of them must share, and the partitions of each.

mod agreement;
mod members;

pub(crate) use self::agreement::Agreement;
pub(crate) use self::members::{BEAT, Members, owned};
