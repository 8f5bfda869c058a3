//! The trait of all states, and the states with parameters.

use std::marker::PhantomData;

use crate::table::Node;

/// Prevents other crates from making states.
pub(crate) mod sealed {
    /// Implemented in this crate only.
    #[diagnostic::on_unimplemented(
        message = "FSM: expected a state of the transition table, found `{Self}`",
        label = "not a state of an episode",
        note = "store your own state beside the episode: `struct Agent<S> {{ episode: Episode<S>, .. }}`"
    )]
    pub trait EpisodeSealed {}
}

/// A type that stands for a state of an episode.
pub trait Typestate: sealed::EpisodeSealed {
    /// Its name, such as `Decide<Act>`.
    const NAME: &'static str;
    /// Its nodes in the transition table: more than one where the table leaves the state open (D11).
    const NODES: &'static [Node];
    /// Whether directives are open in it. False in `SafeMode`, where earlier directives stay open until the CLEAR
    /// cancels them (D13).
    const OPEN: bool;
}

/// A decision was made and not carried out yet; `O` is its outcome (D5, D6).
#[derive(Debug)]
pub struct Decide<O>(PhantomData<O>);

/// A verification loop runs (D22). `P` is its progress: [`Unplanned`], [`Planned`], [`Attempted`], [`Proven`] or
/// [`Complete`]. `O` is whether something was observed in it: [`Unseen`] or [`Seen`]. `T` is the tools state of the
/// envelope.
#[derive(Debug)]
pub struct Verify<P, O, T>(PhantomData<(P, O, T)>);

/// The state `S` with `N` open directives. Each needs a result before the episode may leave `S` (E6).
#[derive(Debug)]
pub struct Open<S, const N: usize>(PhantomData<S>);

/// The state `S` with open directives, whose number is known only at run time (E6).
#[derive(Debug)]
pub struct Many<S>(PhantomData<S>);

/// The loop has no plan yet.
#[derive(Debug)]
pub enum Unplanned {}
/// The loop has a plan, and no directive was sent yet.
#[derive(Debug)]
pub enum Planned {}
/// A READ directive of the loop was sent, and none has succeeded yet.
#[derive(Debug)]
pub enum Attempted {}
/// A READ directive of the loop has succeeded.
#[derive(Debug)]
pub enum Proven {}
/// The loop was checked to be complete at run time. In another envelope it must be checked again, because it may be
/// complete only by a waiver.
#[derive(Debug)]
pub enum Complete {}

/// Nothing with status OBSERVED was observed in the loop yet.
#[derive(Debug)]
pub enum Unseen {}
/// Something with status OBSERVED was observed in the loop.
#[derive(Debug)]
pub enum Seen {}
