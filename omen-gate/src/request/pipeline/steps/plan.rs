//! PG-1 and PG-T: the planner's text.

use serde_json::json;

use crate::base::{Blocked, GateCode};
use crate::request::audit_queue::data;
use crate::request::pipeline::{Request, Way};
use crate::request::plan::Plan;
use crate::request::state::{Planned, Screened, Terminal};
use omen_audit::Kind;

/// Parses the planner's text, which must be exactly one JSON object.
///
/// # Errors
/// PG-1 if the text is anything else, PG-T if it is a final answer without a question, and A1 if the refusal cannot be
/// recorded.
pub(crate) async fn plan(
    request: Request<Screened>,
    output: &str,
) -> Result<Way<Request<Planned>, Request<Terminal>>, Blocked> {
    let plan = Plan::parse(output, &request.gate.limits().plan());
    match request.context.check(plan).await? {
        Plan::CallTool(call) => Ok(Way::Call(request.planning(call))),
        Plan::FinalAnswer(answer) => {
            // PG-T: the request ends here.
            let entry = json!({ "code": GateCode::PgT.as_str(), "outcome": "terminal" });
            request.context.record(Kind::Turn, data(entry)).await?;
            Ok(Way::Terminal(request.at(|_| Terminal { answer })))
        }
    }
}
