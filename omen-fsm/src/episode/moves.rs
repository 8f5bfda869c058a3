//! The moves, each written out once: what it sends, and where it leads.
//!
//! The transition table says in which states a move is legal; for each of them the build makes a
//! method of the function here. A function whose first parameter is `Episode<S>` is for any state, one
//! that names a state is for that alone, and `Next` is where the table leads.

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
