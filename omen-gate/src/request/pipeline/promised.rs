//! PG-4, for an answer that is passed on as it is.

use crate::answer::output;
use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Untyped};

impl Request<Dispatched> {
    /// Checks the answer against the tool's own `outputSchema`, for a program that passes it on as it is and knows no type
    /// for it. An answer that says `isError` passes, and so does any answer of a tool that lists no `outputSchema`.
    ///
    /// # Errors
    /// If it does not match (PG-4): the raw answer comes back with its mark, and should not be passed on as if it did. If that
    /// cannot be recorded, the reason is A1, and nothing of the answer should be passed on.
    pub async fn as_promised(self) -> Result<Self, Request<Untyped>> {
        let Request { gate, context, state: Dispatched { tool, listed, answer } } = self;
        match output::as_promised(&listed, answer) {
            Ok(answer) => Ok(Request { gate, context, state: Dispatched { tool, listed, answer } }),
            Err(raw) => {
                let raw = match context.check::<()>(Err(raw.why().clone())).await {
                    Err(why) => Box::new(raw.because(why)),
                    Ok(()) => raw,
                };
                Err(Request { gate, context, state: Untyped { raw } })
            }
        }
    }
}
