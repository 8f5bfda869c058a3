//! What a step out of turn would give.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future without a value. A step out of turn returns it, so that after the one error that the
/// compiler gives for it, the rest of the program has its types.
#[derive(Debug)]
pub struct Never<Out>(Infallible, PhantomData<Out>);

impl<Out> Future for Never<Out> {
    type Output = Out;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Out> {
        match self.0 {}
    }
}
