//! `omen publish`: publishes a log to the streams of packets, in order, each line once.
//!
//! A line goes into the stream of its episode, or into all streams if it names no episode. The lines for a stream are stored in
//! atomic batches. The last message of each batch is a *note* that states how many messages of the log are in this stream, and
//! expects the previous note. So a stream always contains the first lines of those that belong there. A publisher that resumes
//! reads the notes, and one of two processes that publish the same log is refused.

mod lines;
pub(crate) mod publication;

use std::io::{ErrorKind, Read};
use std::time::Duration;

use async_nats::jetstream::Context;
use tokio::time::sleep;

use self::lines::Lines;
use self::publication::Publication;
pub use self::publication::{Options, Published};
use crate::connect::Server;
use crate::failure::Failure;
use crate::names::Names;
use crate::setup::Setup;
use crate::stream::JetStream;

/// Publisher of logs to the streams of packets.
#[derive(Debug)]
pub struct Publisher {
    broker: JetStream,
    names: Names,
    partitions: u16,
}

impl Publisher {
    /// Creates a publisher for the streams of a set-up.
    ///
    /// # Errors
    /// If the streams are missing or unsuitable.
    pub async fn new(context: Context, setup: &Setup) -> Result<Self, Failure> {
        let partitions = setup.packets(&context).await?;
        // The publisher writes no keys of buckets, so the domain does not matter.
        Ok(Self { broker: Server::default().broker(context), names: setup.names.clone(), partitions })
    }

    /// Publishes a log under the name `source`, from the line after the last one published. If reading fails with
    /// [`ErrorKind::WouldBlock`], the lines so far are stored, and the log is read again after a moment.
    ///
    /// # Errors
    /// If the server fails; a repeated call resumes. [`Failure::Refused`] if another log with this name was published, or a line
    /// is too long for the server.
    pub async fn log(&self, source: &str, log: impl Read, options: &Options) -> Result<Published, Failure> {
        let mut run = Publication::begin(&self.broker, &self.names, self.partitions, source, options).await?;
        let mut lines = Lines::new(log);
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return run.finish().await,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    run.flush().await?;
                    sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return Err(Failure::Log(format!("cannot read {source}: {error}"))),
            };
            let Some(line) = line else {
                return Err(Failure::Refused(format!(
                    "line {} of {source} exceeds 16 MiB; remove it: no packet is that long",
                    lines.number
                )));
            };
            run.line(lines.number, &line).await?;
        }
    }
}

/// Pause before a log that may grow is read again.
const PAUSE: Duration = Duration::from_millis(200);
