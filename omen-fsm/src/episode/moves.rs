//! Moves: one function for each, with the packets that it sends and the state that it leads to.
//!
//! The transition table determines in which states a move is legal, and the build script generates methods for those
//! states from the functions here. A function whose first parameter is `Episode<S>` applies to any state, one that
//! names a state only to that state, and `Next` is the state to which the table leads.

pub(crate) mod act;
pub(crate) mod alert;
pub(crate) mod answered;
pub(crate) mod authorize;
pub(crate) mod believe;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod clear;
pub(crate) mod close;
pub(crate) mod defer;
pub(crate) mod escalate;
pub(crate) mod execute;
pub(crate) mod halt;
pub(crate) mod observe;
pub(crate) mod remodel;
pub(crate) mod review;
pub(crate) mod settle;
pub(crate) mod to_escalate;
pub(crate) mod verify;
pub(crate) mod verify_first;
