//! What comes from the server.

use std::ops::RangeInclusive;
use std::sync::Arc;

use omen_gate::mcp::{Broken, Lines, ServerProcess};
use omen_gate::{Fault, bounded};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::task::consume_budget;
use tracing::warn;

use crate::answer;
use crate::asked::Answered;
use crate::connection::{Output, Said};
use crate::end::Lost;
use crate::from_client::{INTERNAL_ERROR, Side, refused};
use crate::policy;
use crate::refusal;
use crate::relayed::{To, Unasked, What};
use crate::shared::Shared;
use crate::tools_call::input_requests;
use omen_mcp::Id;
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind};
use omen_mcp::json;

/// Reads to the end, and gives what is read to whom it is for. Then the connection is over.
pub(crate) async fn read(shared: Arc<Shared>, output: Output, process: Option<Arc<ServerProcess>>, limit: usize) {
    let lost = match output {
        Output::Lines(output) => lines(&shared, output, process.as_deref(), limit).await,
        Output::Messages(mut said) => {
            let lost = messages(&shared, &mut said).await;
            shared.upstream.end(lost);
            // The session ends at the server, too.
            said.close();
            while said.recv().await.is_some() {}
            return;
        }
    };
    if !matches!(lost, Lost::Closed(_)) {
        // Nobody listens to it any more.
        process.iter().for_each(|process| process.kill());
    }
    shared.upstream.end(lost);
}

async fn lines(shared: &Shared, output: impl AsyncRead + Unpin, process: Option<&ServerProcess>, limit: usize) -> Lost {
    let mut lines = Lines::new(output, limit);
    let mut last_long = None;
    loop {
        // However much the server says at once, others have their turn.
        consume_budget().await;
        match lines.next().await {
            Ok(Some(text)) if text.trim_ascii().is_empty() => {}
            Ok(Some(text)) => {
                if let Err(why) = line(shared, text, &mut last_long).await {
                    return Lost::Malformed(why);
                }
            }
            Ok(None) => {
                let how = match process {
                    Some(process) => process.exit_soon().await,
                    None => None,
                };
                return Lost::Closed(how.unwrap_or_else(|| "it closed its output".to_owned()));
            }
            Err(Broken::Io(error)) => return Lost::Closed(bounded(&error.to_string())),
            Err(Broken::Oversized) => return Lost::Oversized(u64::try_from(limit).unwrap_or(u64::MAX)),
        }
    }
}

async fn messages(shared: &Shared, said: &mut mpsc::Receiver<Said>) -> Lost {
    loop {
        consume_budget().await;
        match said.recv().await {
            Some(Said::Message(frame)) => {
                if let Err(why) = message(shared, frame).await {
                    return Lost::Malformed(why);
                }
            }
            Some(Said::Failed(id, fault)) => failed(shared, &id, fault).await,
            Some(Said::Note(note)) => warn!("{note}"),
            Some(Said::Lost(lost)) => return lost,
            None => return Lost::Closed("the connection was closed".to_owned()),
        }
    }
}

/// No answer comes to a request, and it is known to which.
async fn failed(shared: &Shared, id: &Id, fault: Fault) {
    if let Some(number) = id.ours() {
        return shared.upstream.failed(number, fault);
    }
    let To::Open(what) = shared.from_client.answered(id) else { return };
    if what == What::Initialize {
        shared.session.answered(false);
    }
    // Nobody waits for it.
    if fault != Fault::Cancelled {
        warn!("a request has no answer: {}", fault.unquoted());
        shared.downstream.send(refusal::error(&id.raw(), INTERNAL_ERROR, &fault.to_string())).await;
    }
}

/// Takes a line. The last long result is kept, for the list of tools comes again before each call.
async fn line(shared: &Shared, line: Vec<u8>, last_long: &mut Option<Frame>) -> Result<(), String> {
    let frame = match last_long.as_ref().and_then(|last| last.again(&line)) {
        Some(frame) => frame,
        None => Frame::read(line).map_err(|malformed| malformed.why)?,
    };
    if frame.kind == Kind::Result && LONG.contains(&frame.text().len()) {
        *last_long = Some(frame.clone());
    }
    message(shared, frame).await
}

/// A line of so many bytes takes longer to read than to compare, and may be kept.
const LONG: RangeInclusive<usize> = 1024..=256 * 1024;

async fn message(shared: &Shared, frame: Frame) -> Result<(), String> {
    match frame.kind.clone() {
        Kind::Request(method) => request(shared, frame, &method).await,
        Kind::Notification(method) => {
            match method.as_str() {
                "notifications/tools/list_changed" => shared.upstream.changed(),
                "notifications/cancelled" => frame.requested().iter().for_each(|id| shared.from_server.cancel(id)),
                _ => {}
            }
            shared.downstream.send(frame.text()).await;
            Ok(())
        }
        Kind::Result | Kind::Error | Kind::Unsure(_) => response(shared, frame).await,
    }
}

async fn request(shared: &Shared, frame: Frame, method: &str) -> Result<(), String> {
    let Some(id) = frame.id() else { return Ok(()) };
    if id.is_ours() {
        let why = format!("an id that begins with `{}` is reserved", omen_mcp::OURS);
        shared.upstream.send(refusal::error(frame.raw_id(), INVALID_REQUEST, &why)).await;
        return Ok(());
    }
    let params = || frame.body().map_or(Ok(serde_json::Map::new()), |body| json::object(frame.text(), body));
    let passes = shared.passages.judge(policy::of_server(method, params));
    if let Err(why) = passes {
        refused(shared, frame.raw_id(), why, Side::Server).await;
        return Ok(());
    }
    match shared.from_server.ask(id, What::Other) {
        Ok(()) => shared.downstream.send(frame.text()).await,
        Err(Unasked::InUse) => return Err(format!("the id `{id}` of its request is in use")),
        Err(Unasked::Full) => {
            let why = "the client has left too many requests unanswered";
            shared.upstream.send(refusal::error(frame.raw_id(), INTERNAL_ERROR, why)).await;
        }
    }
    Ok(())
}

async fn response(shared: &Shared, frame: Frame) -> Result<(), String> {
    let Some(id) = frame.id().cloned() else { return Ok(()) };
    let unknown = || Err(format!("a response to the unknown request `{id}`"));
    if id.is_ours() {
        return match shared.upstream.answered(frame) {
            Answered::Open => Ok(()),
            Answered::Late => {
                warn!("the server answered the request `{id}`, which is over");
                Ok(())
            }
            Answered::Nothing => unknown(),
        };
    }
    let what = match shared.from_client.answered(&id) {
        To::Open(what) => what,
        To::Forgotten => return Ok(()),
        To::Nothing => return unknown(),
    };
    if what == What::Initialize {
        shared.session.answered(frame.kind == Kind::Result);
    }
    let malformed = match &frame.kind {
        Kind::Unsure(why) => Some(why.clone()),
        Kind::Result => match answer::input_requests(&frame) {
            Ok(None) => None,
            Ok(Some(requests)) => match input_requests(&shared.passages, &requests) {
                Ok(()) => None,
                Err(why) => {
                    refused(shared, frame.raw_id(), why, Side::Client).await;
                    return Ok(());
                }
            },
            Err(why) => Some(why),
        },
        _ => None,
    };
    let line = match malformed {
        None => frame.text().as_bytes().to_vec(),
        Some(why) => {
            // What is wrong with it may quote what a call has said.
            warn!("the server sent an invalid response");
            refusal::error(frame.raw_id(), INTERNAL_ERROR, &format!("the server's response is malformed: {why}"))
        }
    };
    shared.downstream.send(line).await;
    Ok(())
}
