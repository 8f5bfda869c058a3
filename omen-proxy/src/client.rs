//! The client's side: how it is reached, messages to it, the names that it sees, and confirmation of calls by its user.

mod downstream;
mod elicit;
mod form;
pub(crate) mod names;
pub(crate) mod own_requests;
pub(crate) mod transport;
mod two_rounds;
mod user_turns;

pub(crate) use downstream::Downstream;
pub(crate) use elicit::{Chain, Elicitation};
pub use names::BadServers;
pub use transport::Transport;
pub(crate) use two_rounds::Rounds;
pub(crate) use user_turns::UserTurns;
