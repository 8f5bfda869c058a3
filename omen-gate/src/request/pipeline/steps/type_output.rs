//! PG-4: typing of the answer.

use serde::de::DeserializeOwned;

use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Typed, Untyped};

/// Converts the answer into a value of the type registered for the tool.
///
/// # Errors
/// PG-4 if the answer is an error, has no structured content, or does not match the schema of the tool or the type.
/// Returns the raw answer with the reason; it cannot be summarized.
pub(crate) async fn type_output<T: DeserializeOwned + 'static>(
    request: Request<Dispatched>,
) -> Result<Request<Typed<T>>, Request<Untyped>> {
    let Request { gate, context, state: Dispatched { listed, answer, .. } } = request;
    match gate.outputs().type_output::<T>(&listed, answer) {
        Ok(payload) => Ok(Request { gate, context, state: Typed { payload } }),
        Err(raw) => {
            // The refusal is returned even if it cannot be recorded: a broken log stops the next call.
            let _ = context.check::<()>(Err(raw.why().clone())).await;
            Err(Request { gate, context, state: Untyped { raw } })
        }
    }
}
