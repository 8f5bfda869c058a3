//! What all states share, and the types of states that have parameters.

use std::marker::PhantomData;

use crate::table::Node;

/// Keeps other crates from making states.
pub(crate) mod sealed {
    /// Implemented here alone.
    #[diagnostic::on_unimplemented(
        message = "FSM: the states of an episode are those of the transition table, and `{Self}` is none of them",
        label = "not a type of the protocol",
        note = "keep your own state beside the episode, as in `struct Agent<S> {{ episode: Episode<S>, .. }}`"
    )]
    pub trait EpisodeSealed {}
}

/// A type that stands for a state of an episode.
pub trait Typestate: sealed::EpisodeSealed {
    /// As it is written, such as `Decide<Act>`.
    const NAME: &'static str;
    /// The nodes of the transition table that it stands for; more than one where the table leaves it
    /// open (D11).
    const NODES: &'static [Node];
    /// Whether directives are open in it. In `SafeMode`, which says no, those of before stay open until the CLEAR
    /// cancels them (D13).
    const OPEN: bool;
}

/// A decision rests; `O` is its outcome (D5, D6).
#[derive(Debug)]
pub struct Decide<O>(PhantomData<O>);

/// A verification loop runs (D22). `P` is its progress: [`Unplanned`], [`Planned`], [`Attempted`],
/// [`Proven`], or [`Complete`]; `O` says whether something was observed in it: [`Unseen`], [`Seen`]; `T` is the state of
/// the tools, as the envelope says it.
#[derive(Debug)]
pub struct Verify<P, O, T>(PhantomData<(P, O, T)>);

/// The state `S` with `N` directives open, each of which needs its result before `S` may be left (E6).
#[derive(Debug)]
pub struct Open<S, const N: usize>(PhantomData<S>);

/// The state `S` with directives open; how many is known at run time (E6).
#[derive(Debug)]
pub struct Many<S>(PhantomData<S>);

/// The loop has no plan yet.
#[derive(Debug)]
pub enum Unplanned {}
/// The loop has a plan, and no directive was sent.
#[derive(Debug)]
pub enum Planned {}
/// A READ directive of the loop was sent, and none has succeeded yet.
#[derive(Debug)]
pub enum Attempted {}
/// A READ directive of the loop has succeeded.
#[derive(Debug)]
pub enum Proven {}
/// The loop was found to be complete at run time. In another envelope it is looked at again, for a waiver may be
/// what completes it.
#[derive(Debug)]
pub enum Complete {}

/// Nothing with status OBSERVED was observed in the loop yet.
#[derive(Debug)]
pub enum Unseen {}
/// Something with status OBSERVED was observed in the loop.
#[derive(Debug)]
pub enum Seen {}
