//! Calls requested by a client's message instead of a planner's text.

use std::sync::Arc;

use omen_mcp::CallToolRequest;

use super::{PlanLimits, ToolCall, form, text};
use crate::base::{Blocked, ServerName, ToolId};
use crate::request::gate::Gate;

impl Gate {
    /// Reads a call to a server's tool from a client's message, by the rules and limits that apply to the equivalent
    /// plan. [`with_call`](crate::Request::with_call) takes the result, including a refusal, which is recorded there.
    ///
    /// # Errors
    /// As for [`Plan::parse`](super::Plan::parse).
    pub fn read_call(&self, server: &ServerName, request: &Arc<CallToolRequest>) -> Result<ToolCall, Blocked> {
        read(server, request, &self.limits().plan())
    }
}

fn read(server: &ServerName, request: &Arc<CallToolRequest>, limits: &PlanLimits) -> Result<ToolCall, Blocked> {
    let (name, args) = (request.raw_name(), request.raw_arguments());
    text::within(AROUND.len() + server.as_str().len() + name.len() + args.len(), limits)?;
    let name = text::member(name, "tool", limits)?;
    let args = form::object_of(text::member(args, "args", limits)?)?;
    let tool = form::tool_name(name.as_str().unwrap_or_default())?;
    Ok(ToolCall::requested(ToolId { server: server.clone(), tool }, args, Arc::clone(request)))
}

/// Shortest plan of a call, without server, tool and arguments.
const AROUND: &str = r#"{"type":"call_tool","server":"","tool":,"args":}"#;
