//! Messages of the Model Context Protocol: their methods, those that pass only if the operator allows them, and refusals.

pub(crate) mod methods;
mod passage;
mod policy;
pub(crate) mod refusal;

pub use passage::{Passage, UnknownPassage};
pub(crate) use policy::Passages;
