//! Arguments of `omen audit spans`.

use std::path::PathBuf;

use clap::Args;

use super::KeyArgs;

#[derive(Debug, Args)]
pub(crate) struct AuditSpansArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// Send the spans to the OTLP/HTTP endpoint of a collector, such as http://127.0.0.1:4318, instead of printing them
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// Keep printing as the log grows, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// The log, with all its files
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

pub(crate) const SPANS_HELP: &str = "\
Prints one span for each tool call, from its intent to its outcome, and one without duration for each refusal, \
     with the attributes of the GenAI semantic conventions 1.41.0. All spans of a turn form one trace. Ids are \
     hashes of what is in the log, so spans that are sent twice have the same ids.

Without an endpoint, each printed line is an OTLP request in JSON, as read by the `otlpjsonfile` receiver of \
     the OpenTelemetry Collector. Endpoints are reached without TLS: use a collector on this machine.

Examples:
  omen audit spans --key-file audit.key audit.jsonl > spans.jsonl
  omen audit spans --key-file audit.key --follow --endpoint http://127.0.0.1:4318 audit.jsonl

Exit codes:
  0  the log is sound
  1  the log is incomplete, tampered with or truncated
  2  usage error
  3  the log or the key could not be read, or the spans could not be written or sent";
