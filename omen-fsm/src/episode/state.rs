//! Trait of all typestates, and the typestates with parameters.

use std::marker::PhantomData;

use crate::table::Node;

/// Prevents other crates from defining states.
pub(crate) mod sealed {
    /// Implemented only in this crate.
    #[diagnostic::on_unimplemented(
        message = "FSM: expected a state of the transition table, found `{Self}`",
        label = "not a state of an episode",
        note = "store your own state beside the episode: `struct Agent<S> {{ episode: Episode<S>, .. }}`"
    )]
    pub trait EpisodeSealed {}
}

/// Type that represents a state of an episode.
pub trait Typestate: sealed::EpisodeSealed {
    /// Name of the type, such as `Decide<Act>`.
    const NAME: &'static str;
    /// Nodes in the transition table: several where the table leaves the state open (D11).
    const NODES: &'static [Node];
    /// Whether directives are open in this state. False for `SafeMode`, where earlier directives stay open until
    /// the CLEAR cancels them (D13).
    const OPEN: bool;
}

/// Decision that has not been carried out yet; `O` is its outcome (D5, D6).
#[derive(Debug)]
pub struct Decide<O>(PhantomData<O>);

/// Running verification loop (D22). `P` is its progress: [`Unplanned`], [`Planned`], [`Attempted`], [`Proven`] or [`Complete`].
/// `O` states whether it has an observation: [`Unseen`] or [`Seen`]. `T` is the tools state of the envelope.
#[derive(Debug)]
pub struct Verify<P, O, T>(PhantomData<(P, O, T)>);

/// State `S` with `N` open directives. Each needs a result before the episode may leave `S` (E6).
#[derive(Debug)]
pub struct Open<S, const N: usize>(PhantomData<S>);

/// State `S` with open directives whose number is known only at run time (E6).
#[derive(Debug)]
pub struct Many<S>(PhantomData<S>);

/// Loop without a plan.
#[derive(Debug)]
pub enum Unplanned {}
/// Loop with a plan, but without a directive.
#[derive(Debug)]
pub enum Planned {}
/// Loop with a READ directive, none of which has succeeded yet.
#[derive(Debug)]
pub enum Attempted {}
/// Loop with a READ directive that has succeeded.
#[derive(Debug)]
pub enum Proven {}
/// Loop found complete by a check at run time. In another envelope, it must be checked again, because it may be
/// complete only because of a waiver.
#[derive(Debug)]
pub enum Complete {}

/// Loop without an observation of status OBSERVED.
#[derive(Debug)]
pub enum Unseen {}
/// Loop with an observation of status OBSERVED.
#[derive(Debug)]
pub enum Seen {}
