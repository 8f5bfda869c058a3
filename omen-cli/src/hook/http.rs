//! Endpoint of `omen hook serve` on loopback, for agents whose hooks are HTTP requests.
//!
//! Port and token are in files beside the socket, and stay the same: the settings of the agent name them.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use omen_gate::audit::Key;
use omen_hook::MAX_EVENT_BYTES;
use omen_mcp::http::server::{LoopbackPosts, Token};
use tokio::net::TcpListener;

use crate::output::replace_private;

/// Listens at the port of the last time, or at a free one the first time.
pub(super) async fn bind(socket: &Path) -> Result<(TcpListener, LoopbackPosts), String> {
    let (url_file, token_file) = (socket.with_extension("url"), socket.with_extension("token"));
    if !token_file.exists() {
        Key::create(&token_file).map_err(|error| format!("{error}; {}", error.help()))?;
    }
    let token = Token::from_file(&token_file).map_err(|error| error.to_string())?;
    let port = match fs::read_to_string(&url_file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.to_string()),
        // Another port than the one in the settings of the agent would leave its hooks without an answer.
        Ok(url) => {
            url.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).ok_or("it names no port".to_owned())
        }
    };
    let port: u16 = port.map_err(|why| {
        let file = url_file.display();
        format!("cannot read the address of the hooks in {file}: {why}; delete the file, and install the hooks again")
    })?;
    let unusable = |error: io::Error| {
        let help = format!("free it, or delete `{}` and install the hooks again", url_file.display());
        format!("cannot listen on port {port} of the loopback interface: {error}; {help}")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    if port == 0 {
        let written = replace_private(&url_file, format!("http://{address}\n").as_bytes());
        written.map_err(|error| format!("cannot write {}: {error}", url_file.display()))?;
    }
    Ok((listener, LoopbackPosts::new(token, MAX_EVENT_BYTES)))
}
