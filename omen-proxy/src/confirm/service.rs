//! The gate's side of the connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::confirm::Responder;
use omen_gate::mcp::Line;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::message::{Answer, Message, PROTOCOL};
use super::peer;
use super::questions::{News, Questions};

/// Maximum length of a line from a front end, in bytes.
pub const MAX_ANSWER: usize = 16_384;

/// Maximum number of front ends connected at once.
pub const MAX_FRONT_ENDS: usize = 64;

/// Time that a front end may take to read a line.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves front ends until dropped.
pub(super) async fn serve(listener: UnixListener, questions: Questions) {
    let room = Arc::new(Semaphore::new(MAX_FRONT_ENDS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let questions = questions.clone();
                connections.spawn(async move {
                    let _permit = permit;
                    // A front end that is gone needs no answer, and a question keeps waiting for another one.
                    let _ = attend(stream, &questions).await;
                });
            }
            // For example, too many files are open.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn attend(stream: UnixStream, questions: &Questions) -> io::Result<()> {
    let Some(responder) = peer::admitted(stream.peer_cred()?.uid()) else { return Ok(()) };
    let (read, mut write) = stream.into_split();
    let (waiting, mut news) = questions.join();
    send(&mut write, &Message::Hello { protocol: PROTOCOL, pid: std::process::id() }).await?;
    for asked in waiting {
        send(&mut write, &asked.message()).await?;
    }
    send(&mut write, &Message::Listed).await?;

    // Lines are read by a separate task: a partly read line must not be lost when something is sent.
    let (sender, mut lines) = mpsc::channel(1);
    let mut reader = JoinSet::new();
    reader.spawn(read_lines(read, sender));
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => send(&mut write, &answered(questions, &line, &responder)).await?,
                None => return Ok(()),
            },
            news = news.recv() => match news {
                Ok(News::Asked(asked)) => send(&mut write, &asked.message()).await?,
                Ok(News::Closed(closed)) => send(&mut write, &closed).await?,
                // The front end has fallen too far behind to receive the waiting questions. It receives them when it reconnects.
                Err(_) => return Ok(()),
            },
        }
    }
}

async fn read_lines(read: OwnedReadHalf, lines: mpsc::Sender<Vec<u8>>) {
    let mut reader = BufReader::new(read);
    while let Ok(Some(line)) = next_line(&mut reader, MAX_ANSWER).await {
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

fn answered(questions: &Questions, line: &[u8], responder: &Responder) -> Message {
    let answer: Answer = match serde_json::from_slice(line) {
        Ok(answer) => answer,
        Err(error) => return Message::Refused { id: None, why: format!("invalid answer: {error}") },
    };
    let id = answer.id;
    match questions.answer(answer, responder.clone()) {
        Ok(()) => Message::Accepted { id },
        Err(why) => Message::Refused { id: Some(id), why },
    }
}

async fn send(write: &mut OwnedWriteHalf, message: &Message) -> io::Result<()> {
    let line = Line::new(serde_json::to_vec(message)?);
    timeout(PATIENCE, line.write_to(write)).await?
}

/// Reads the next line, without its line feed; `None` at the end. Text after the last line feed is also a line.
///
/// # Errors
/// If the line cannot be read or exceeds the limit.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(limit).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    match line.len() > longest {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("the line exceeds {longest} bytes"))),
        false => Ok(Some(line)),
    }
}
