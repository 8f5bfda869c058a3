//! State shared by all sessions with a server.

use omen_gate::mcp::ServerLimits;

use super::client::Client;
use super::limits::RemoteLimits;
use super::room::Room;

pub(super) struct Inner {
    pub(super) client: Client,
    pub(super) server: ServerLimits,
    pub(super) limits: RemoteLimits,
    pub(super) room: Room,
}
