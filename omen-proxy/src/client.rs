//! The client's side: messages to the client, and confirmation of calls by its user.

pub(crate) mod asked;
mod downstream;
mod elicit;
mod form;
mod two_rounds;
mod user_turns;

pub(crate) use downstream::Downstream;
pub(crate) use elicit::{Chain, Elicitation};
pub(crate) use two_rounds::Rounds;
pub(crate) use user_turns::UserTurns;
