//! PG-4, for an answer that is passed on as it is.

use crate::answer::output;
use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Untyped};

/// Holds the answer against the `outputSchema` that was listed for the tool when the call was checked.
///
/// # Errors
/// If it does not match (PG-4): the raw answer comes back with its mark.
pub(super) async fn as_promised(request: Request<Dispatched>) -> Result<Request<Dispatched>, Request<Untyped>> {
    let Request { gate, context, state: Dispatched { tool, listed, answer } } = request;
    match output::as_promised(&listed, answer) {
        Ok(answer) => Ok(Request { gate, context, state: Dispatched { tool, listed, answer } }),
        Err(raw) => {
            // As with a type: the answer is marked whether or not that can be recorded.
            let _ = context.check::<()>(Err(raw.why().clone())).await;
            Err(Request { gate, context, state: Untyped { raw } })
        }
    }
}
