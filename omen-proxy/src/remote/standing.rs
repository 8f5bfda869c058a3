//! The stream for what belongs to no request (up to 2025-11-25).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use omen_gate::Fault;
use tokio::time::{Instant, sleep};

use super::body::message;
use super::exchange::event;
use super::legacy::{self, Unopened};
use super::link::Link;
use super::sse::Parser;
use crate::end::Lost;
use crate::server::Said;
use omen_mcp::frame::Kind;

/// A stream that was open for so long has worked.
const WORKS: Duration = Duration::from_secs(10);

/// Reads it, and opens it again when it ends, until the session does. Without it the server can still answer requests.
pub(super) async fn listen(link: Arc<Link>) {
    let remote = &link.remote;
    let mut parser = Parser::new(remote.server.line_bytes, remote.room.hold());
    let mut failures = 0;
    loop {
        let why = match legacy::open(&link, parser.last_id(), remote.limits.idle).await {
            Ok(body) => {
                parser.begin();
                let since = Instant::now();
                let mut has_news = false;
                match read(&link, &mut parser, body, &mut has_news).await {
                    Ok(()) => {}
                    Err(lost) => return link.say(Said::Lost(lost)).await,
                }
                if has_news || since.elapsed() >= WORKS {
                    failures = 0;
                }
                "it ends at once".to_owned()
            }
            Err(Unopened::NotHere) if parser.last_id().is_some() => {
                parser.forget();
                "it cannot be read on".to_owned()
            }
            Err(Unopened::NotHere) => return,
            Err(Unopened::Over(broken)) => {
                let lost = broken.lost.unwrap_or_else(|| Lost::Closed(broken.fault.unquoted()));
                return link.say(Said::Lost(lost)).await;
            }
            Err(Unopened::Failed(fault)) => fault.to_string(),
        };
        failures += 1;
        if failures > remote.limits.retries {
            let note = format!("gave up the stream for what the server says unasked: {why}");
            return link.say(Said::Note(note)).await;
        }
        sleep(legacy::wait(&link, &parser, failures)).await;
    }
}

/// Reads to the end of the stream. The session is lost over what is not a message, as it is where there is one stream for all.
async fn read(link: &Link, parser: &mut Parser, mut body: Incoming, has_news: &mut bool) -> Result<(), Lost> {
    let mut bytes = Bytes::new();
    loop {
        match event(parser, &mut body, &mut bytes, None).await {
            Ok(Some(data)) => {
                let said = message(data, &link.remote.client.secrets).map_err(lost)?;
                if !matches!(said.kind, Kind::Request(_) | Kind::Notification(_)) {
                    return Err(Lost::Malformed("a response on the stream of no request".to_owned()));
                }
                *has_news = true;
                link.say(Said::Message(said)).await;
            }
            Ok(None) | Err(Fault::Died { .. }) => return Ok(()),
            Err(fault) => return Err(lost(fault)),
        }
    }
}

fn lost(fault: Fault) -> Lost {
    match fault {
        Fault::Malformed { why } => Lost::Malformed(why),
        fault => Lost::Malformed(fault.to_string()),
    }
}
