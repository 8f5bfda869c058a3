//! Methods that a transport must recognize, and the member that assigns a notification to a request.

use crate::frame::{Frame, Kind};

/// Handshake, up to 2025-11-25.
pub const INITIALIZE: &str = "initialize";
/// Notification that the client has received the answer to its handshake.
pub const INITIALIZED: &str = "notifications/initialized";
/// Call of a tool.
pub const CALL: &str = "tools/call";
/// List of the tools.
pub const LIST_TOOLS: &str = "tools/list";
/// Request that stays open for notifications, since 2026-07-28.
pub const LISTEN: &str = "subscriptions/listen";
/// Notification that nobody waits for the answer to a request.
pub const CANCELLED: &str = "notifications/cancelled";
/// Notification about the progress of a request.
pub const PROGRESS: &str = "notifications/progress";
/// Member of `_meta` by which a client assigns a subscription's notification to one of its requests.
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Returns the method of a request or a notification.
pub fn method_of(frame: &Frame) -> Option<&str> {
    match &frame.kind {
        Kind::Request(method) | Kind::Notification(method) => Some(method),
        _ => None,
    }
}

/// Returns the parameter that the header `Mcp-Name` of a request must repeat.
pub fn required_name(method: Option<&str>) -> Option<&'static str> {
    match method? {
        CALL | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}
