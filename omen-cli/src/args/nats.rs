//! Arguments of `omen worker`, `omen publish` and `omen tail`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::LevelArgs;
use crate::formats::{self, ReportFormat};
use crate::logs::LogArgs;

/// Connection to the servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct NatsArgs {
    /// The addresses of the servers, separated by commas [default: nats://127.0.0.1:4222]
    #[arg(long = "nats", value_name = "URL", hide_default_value = true)]
    pub(crate) url: Option<String>,

    /// A context of the `nats` command; options given here override it
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// A credentials file
    #[arg(long, value_name = "FILE")]
    pub(crate) creds: Option<PathBuf>,

    /// A file with the seed of an NKEY
    #[arg(long, value_name = "FILE")]
    pub(crate) nkey: Option<PathBuf>,

    /// CA certificates to trust in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_ca: Option<PathBuf>,

    /// The certificate of this client
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key for --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Start TLS before the server sends its first message
    #[arg(long)]
    pub(crate) tls_first: bool,

    #[command(flatten)]
    pub(crate) logs: LogArgs,
}

/// Streams and buckets on the server: name prefix, partitions and replicas.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Name prefix of all streams and buckets
    #[arg(long, value_name = "NAME", default_value = "PACKETS")]
    pub(crate) stream: String,

    /// Number of partitions, each with a stream of packets [default: that of the existing streams, or 4]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) partitions: Option<u16>,

    /// Number of servers that store a copy of each stream and bucket created here
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: u8,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) streams: StreamArgs,

    /// End episodes that receive no packet for this long, and report what is open in them
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) episode_ttl: Option<Duration>,

    /// How often to write a time mark into each stream with open episodes, for --episode-ttl; at most a quarter of it
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = seconds)]
    pub(crate) tick: Duration,

    /// Continue where packets were deleted from the stream before they were judged
    #[arg(long)]
    pub(crate) accept_gaps: bool,

    /// Judge the stream again with these rules and this --episode-ttl; workers with other settings stop. Set it once, on one worker
    #[arg(long)]
    pub(crate) rejudge: bool,

    /// Serve /metrics, /livez and /readyz at this address, such as 0.0.0.0:9464
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,

    /// The name of this worker, unique among all workers [default: generated]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    #[command(flatten)]
    pub(crate) nats: NatsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The logs, one after the other, also compressed with gzip or zstd; `-` is standard input
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) streams: StreamArgs,

    /// Publish at most this many lines per second
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,

    /// Name under which the progress of the log is recorded [default: the absolute path of the log]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// End a log's episodes after its last line, so that what is open in them is reported
    #[arg(long)]
    pub(crate) end: bool,

    /// Keep publishing lines as they are appended to the log, until a signal. It requires a single uncompressed log; a last line without a line ending waits
    #[arg(long, conflicts_with = "end")]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) nats: NatsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// Name prefix of all streams and buckets
    #[arg(long, value_name = "NAME", default_value = "PACKETS")]
    pub(crate) stream: String,

    /// Store on the server, under this name, how far findings were printed, and continue there next time
    #[arg(long, value_name = "NAME")]
    pub(crate) consumer: Option<String>,

    /// Start with the next finding instead of the first stored one
    #[arg(long)]
    pub(crate) new: bool,

    /// Stop after the last stored finding
    #[arg(long, conflicts_with = "new")]
    pub(crate) no_follow: bool,

    /// The format [default: human]
    #[arg(long, value_name = "FORMAT", value_parser = formats::parser())]
    pub(crate) format: Option<&'static ReportFormat>,

    #[command(flatten)]
    pub(crate) nats: NatsArgs,
}

/// Parses a duration in whole seconds, such as `90s`, `15m` or `2h`.
fn seconds(text: &str) -> Result<Duration, String> {
    let time =
        humantime::parse_duration(text).map_err(|error| format!("{error}; expected a time such as 90s or 2h"))?;
    if time.as_secs() == 0 { Err("expected at least one second".to_owned()) } else { Ok(time) }
}

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  done, or stopped by a signal after everything was committed
  2  usage error, or a stream on the server cannot be used
  3  an input could not be read, or the server failed";

pub(super) const TAIL_EXIT_CODES: &str = "\
Exit codes:
  0  no errors (there may be warnings)
  1  errors found
  2  usage error, or the stream of findings was recreated or restored
  3  the server failed, a message was not a finding, or the output could not be written";

pub(super) const WORKER_HELP: &str = "\
Exit codes:
  0  stopped by a signal after everything was committed
  2  usage error, or a stream on the server cannot be used
  3  the server failed

Examples:
  omen worker --nats nats://127.0.0.1:4222 --partitions 8
  omen worker --context production --episode-ttl 2h --listen 0.0.0.0:9464

Each worker has some of the partitions. They move within seconds when a worker joins, leaves or
dies, and no finding is lost or published twice. docs/scale.md explains why.";

pub(super) const PUBLISH_HELP: &str = "\
Exit codes:
  0  every line is in its stream
  2  usage error, or a stream on the server cannot be used
  3  a log could not be read, or the server failed; the same command continues where it stopped

Examples:
  omen publish episodes.jsonl
  omen publish old.jsonl.gz --rate 5000 --end
  ssh agents cat episodes.jsonl | omen publish - --source agents/episodes.jsonl";
