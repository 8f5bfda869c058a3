//! `omen publish`: a log into the stream of packets, in order, each line once.
//!
//! Lines are stored in atomic batches, so the lines of a log that are in the stream are always its beginning. How far it is stands in
//! the bucket, with the last message of the stream at that time. To go on, the headers of the messages after that one are read: a
//! line that was stored without an answer is found there, however long ago that was.

mod lines;
mod note;
mod options;
mod pace;
mod run;
mod stored;
mod target;

use std::io::Read;

use async_nats::jetstream::Context;

use self::lines::Lines;
pub use self::options::{Options, Published};
use self::run::Run;
use self::target::Target;
use crate::failure::Failure;
use crate::setup::Setup;

/// Publishes logs.
#[derive(Debug)]
pub struct Publisher(Target);

impl Publisher {
    /// Publishes to the stream of a set-up.
    ///
    /// # Errors
    /// If it cannot be used.
    pub async fn new(context: Context, setup: &Setup) -> Result<Self, Failure> {
        let max_payload = context.client().server_info().max_payload;
        let (packets, bucket) = (setup.packets(&context).await?, setup.bucket(&context).await?);
        Ok(Self(Target { context, packets, bucket, max_payload }))
    }

    /// Publishes a log, whose name is `source`, from where it was published up to.
    ///
    /// # Errors
    /// If the server fails: to publish the log once more goes on there. [`Failure::Refused`] if another log with this name was
    /// published, or a line is too long for the server.
    pub async fn log(&self, source: &str, log: impl Read, options: &Options) -> Result<Published, Failure> {
        let mut run = Run::begin(&self.0, source, options).await?;
        let mut lines = Lines::new(log);
        while let Some(line) = lines.next().map_err(|error| Failure::Log(format!("cannot read {source}: {error}")))? {
            let Some(line) = line else {
                return Err(Failure::Refused(format!(
                    "line {} of {source} exceeds 16 MiB; remove it: no packet is that long",
                    lines.number
                )));
            };
            run.line(lines.number, &line).await?;
        }
        run.finish().await
    }
}
