//! PG-5: check of a summary's evidence.

use crate::answer::{Summary, summary};
use crate::base::Blocked;
use crate::request::pipeline::Request;
use crate::request::state::{Grounded, Typed};

/// Checks that every bullet's evidence occurs verbatim in the answer.
///
/// # Errors
/// PG-5 if a piece of evidence does not occur in the answer; A1 if the refusal cannot be recorded.
pub(crate) async fn ground<T>(request: Request<Typed<T>>, summary: Summary) -> Result<Request<Grounded<T>>, Blocked> {
    let verdict = summary::ground(&request.state.payload, summary);
    let summary = request.context.check(verdict).await?;
    Ok(request.at(|typed| Grounded { payload: typed.payload, summary }))
}
