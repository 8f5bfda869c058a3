//! Step implementations, each in a file named after its method. The build generates the method for the state that
//! `gate.json` assigns to it.

pub(crate) mod authorize;
pub(crate) mod conform;
pub(crate) mod dispatch;
pub(crate) mod ground;
pub(crate) mod plan;
pub(crate) mod screen;
pub(crate) mod type_output;
