//! What a step out of turn would give.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that there is none of. It is what a step out of turn promises, so that after the one error that the
/// compiler gives for it, the rest of the program has its types.
#[derive(Debug)]
pub struct Never<Out>(Infallible, PhantomData<Out>);

impl<Out> Future for Never<Out> {
    type Output = Out;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Out> {
        match self.0 {}
    }
}
