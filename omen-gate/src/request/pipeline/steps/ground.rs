//! PG-5.

use crate::answer::{Summary, summary};
use crate::base::Blocked;
use crate::request::pipeline::Request;
use crate::request::state::{Grounded, Typed};

/// Looks every bullet's evidence up in the answer, verbatim.
///
/// # Errors
/// If one of them does not stand there (PG-5); or if that cannot be recorded (A1).
pub(crate) async fn ground<T>(request: Request<Typed<T>>, summary: Summary) -> Result<Request<Grounded<T>>, Blocked> {
    let verdict = summary::ground(&request.state.payload, summary);
    let summary = request.context.check(verdict).await?;
    Ok(request.at(|typed| Grounded { payload: typed.payload, summary }))
}
