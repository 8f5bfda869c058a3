/// `E1`, coins first.
///
/// Nobody comes through for nothing.
///
/// Source: common sense.
#[diagnostic::on_unimplemented(
    message = "E1: `{Self}` does not pay for {N}",
    label = "here",
    note = "take another coin",
    note = "of `{Metal}`"
)]
pub trait Pays<const N: usize, Metal>: Coin {}

/// Nobody comes through.
#[derive(Debug)]
pub enum Locked {}

impl EpisodeSealed for Locked {}

impl Typestate for Locked {
    const NAME: &'static str = "Locked";
    const NODES: &'static [Node] = &[Node::Locked];
    const OPEN: bool = false;
}

/// One turn is left.
#[derive(Debug)]
pub enum Once {}

impl EpisodeSealed for Turns<Once> {}

impl Typestate for Turns<Once> {
    const NAME: &'static str = "Turns<Once>";
    const NODES: &'static [Node] = &[Node::OpenOnce];
    const OPEN: bool = false;
}

/// Two turns are left.
#[derive(Debug)]
pub enum Twice {}

impl EpisodeSealed for Turns<Twice> {}

impl Typestate for Turns<Twice> {
    const NAME: &'static str = "Turns<Twice>";
    const NODES: &'static [Node] = &[Node::OpenTwice];
    const OPEN: bool = false;
}

impl<const N: usize> EpisodeSealed for Queue<N> {}

impl<const N: usize> Typestate for Queue<N> {
    const NAME: &'static str = "Queue<N>";
    const NODES: &'static [Node] = &[Node::OpenOnce];
    const OPEN: bool = true;
}

/// Methods that are legal in every state.
impl<S> Episode<S> {
    /// Ends.
    pub fn close<R: Reason, const K: usize>(self) -> Closed {
        moves::close::close(self)
    }
}

/// Nobody comes through.
impl Episode<Locked> {
    /// Pays.
    ///
    /// # Errors
    /// If the coin is not taken.
    pub fn pay<C: Coin>(self, coin: C) -> Result<Episode<Turns<Once>>, Refused<Locked>>
    where
        C: Silver,
    {
        moves::pay::pay(self, coin)
    }
}

/// One turn is left.
impl Episode<Turns<Once>> {
    /// Goes through.
    pub fn push(self) -> Episode<Locked> {
        moves::push::push(self)
    }
}

/// Two turns are left.
impl Episode<Turns<Twice>> {
    /// Goes through.
    pub fn push(self) -> Episode<Turns<Once>> {
        moves::push::push(self)
    }
}

/// `N` people wait.
impl<const N: usize> Episode<Queue<N>> {
    /// Pays for those who wait.
    pub fn pay<C: Coin>(self, coin: C) -> Episode<Queue<N>> {
        moves::pay::for_all(self, coin)
    }
}

/// Traits that explain illegal calls. Their methods cannot be called successfully.
#[doc(hidden)]
pub mod explain {
    #[allow(clippy::wildcard_imports, reason = "the states are many")]
    use super::*;
    /// Anonymous imports of the traits: `use ..::in_scope::*` brings only their methods into scope.
    pub mod in_scope {
        pub use super::{PushHereFsm as _, PushHereFsm2 as _, PayHereFsm as _};
    }
    /// Maps an episode to its state.
    pub trait InState {
        type State;
    }
    impl<S> InState for Episode<S> {
        type State = S;
    }
    /// Types for which the traits are implemented. They are not states.
    pub enum Nowhere {}
    pub enum Elsewhere {}
    #[diagnostic::on_unimplemented(
        message = "FSM: cannot `push` in this state: it is locked",
        label = "illegal in the state `{S}`",
        note = "pay first: `.pay(coin)`"
    )]
    pub trait PushHereFsm<S>: Sized {
        type Out;
        fn out(episode: Self) -> Self::Out;
        fn push(self) -> <Self as PushHereFsm<S>>::Out
        where
            Self: InState<State = S>,
        {
            Self::out(self)
        }
    }
    pub trait InPushHereFsm {}
    impl InPushHereFsm for Locked {}
    #[diagnostic::do_not_recommend]
    impl<S: InPushHereFsm> PushHereFsm<Nowhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::do_not_recommend]
    impl<S: InPushHereFsm> PushHereFsm<Elsewhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::on_unimplemented(
        message = "FSM: cannot `push` in this state: people wait",
        label = "illegal in the state `{S}`",
        note = "let them through first"
    )]
    pub trait PushHereFsm2<S>: Sized {
        type Out;
        fn out(episode: Self) -> Self::Out;
        fn push(self) -> <Self as PushHereFsm2<S>>::Out
        where
            Self: InState<State = S>,
        {
            Self::out(self)
        }
    }
    pub trait InPushHereFsm2 {}
    impl<const N: usize> InPushHereFsm2 for Queue<N> {}
    #[diagnostic::do_not_recommend]
    impl<S: InPushHereFsm2> PushHereFsm2<Nowhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::do_not_recommend]
    impl<S: InPushHereFsm2> PushHereFsm2<Elsewhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::on_unimplemented(
        message = "FSM: cannot `pay` in this state: it takes no more coins",
        label = "illegal in the state `{S}`",
        note = "go through: `.push()`"
    )]
    pub trait PayHereFsm<S>: Sized {
        type Out;
        fn out(episode: Self) -> Self::Out;
        fn pay(self, _coin: impl Sized) -> <Self as PayHereFsm<S>>::Out
        where
            Self: InState<State = S>,
        {
            Self::out(self)
        }
    }
    pub trait InPayHereFsm {}
    impl InPayHereFsm for Turns<Once> {}
    impl InPayHereFsm for Turns<Twice> {}
    #[diagnostic::do_not_recommend]
    impl<S: InPayHereFsm> PayHereFsm<Nowhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::do_not_recommend]
    impl<S: InPayHereFsm> PayHereFsm<Elsewhere> for Episode<S> {
        type Out = Self;
        fn out(episode: Self) -> Self {
            episode
        }
    }
    #[diagnostic::on_unimplemented(
        message = "FSM: expected an episode by value, found a reference",
        label = "the episode is borrowed here",
        note = "pass the episode by value; store an episode in a field as an `Option`, and take it out with `.take()`"
    )]
    pub trait ByReference: Sized {
        type Out;
        fn out() -> Self::Out;
    }
}
