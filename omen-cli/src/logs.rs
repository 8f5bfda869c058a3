//! Logging of long-running commands on standard error: lines for people, or JSON for programs (`--log-format json`).
//!
//! The libraries emit events; only this module decides where they go. `RUST_LOG` selects events; by default, those from this
//! workspace's crates are logged, from level `info` up.

use std::env::VarError;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::str::FromStr as _;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use omen::render::human::clean;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LogArgs {
    /// How to log on standard error. `RUST_LOG` selects events, as in `RUST_LOG=omen_worker=debug`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = EventFormat::Text, help_heading = "Logging")]
    pub(crate) log_format: EventFormat,
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// A line for people: `omen: partition 3: …`
    Text,
    /// One JSON object per line, with the time, the level and all fields
    Json,
}

/// Installs logging for the rest of the process. Errors are usage errors.
pub(crate) fn start(args: LogArgs) -> Result<(), String> {
    let selected = match std::env::var(SELECTED) {
        Ok(selected) if !selected.trim().is_empty() => Targets::from_str(&selected).map_err(|error| {
            format!("`{SELECTED}={}`: {error}; expected, for example, `info` or `omen_worker=debug`", clean(&selected))
        })?,
        Ok(_) | Err(VarError::NotPresent) => Targets::new().with_target(OURS, LevelFilter::INFO),
        Err(error) => return Err(format!("`{SELECTED}`: {error}")),
    };
    let is_json = args.log_format == EventFormat::Json;
    let json =
        tracing_subscriber::fmt::layer().json().with_span_list(true).with_current_span(false).with_writer(io::stderr);
    let registry =
        Registry::default().with(is_json.then_some(json)).with((!is_json).then_some(HumanLines)).with(selected);
    tracing::subscriber::set_global_default(registry).map_err(|error| format!("cannot log: {error}"))?;
    JSON.store(is_json, Ordering::Relaxed);
    Ok(())
}

/// Returns whether standard error is read by programs, so that nothing but JSON may be written to it.
pub(crate) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

static JSON: AtomicBool = AtomicBool::new(false);

/// Environment variable that selects events.
const SELECTED: &str = "RUST_LOG";

/// Name prefix of the crates that are logged by default.
const OURS: &str = "omen";

/// Formatter for people: a line per event, with the surrounding spans and the message, which contains all that people need.
struct HumanLines;

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for HumanLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut text = EventText::default();
        attributes.record(&mut text);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(text);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = String::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(EventText { values, .. }) = span.extensions().get() {
                let _ = write!(line, "{}{values}: ", span.name());
            }
        }
        let mut text = EventText::default();
        event.record(&mut text);
        line.push_str(&text.message);
        let metadata = event.metadata();
        // Events beyond the default selection are for debugging, where their origin matters.
        if *metadata.level() > Level::INFO || !metadata.target().starts_with(OURS) {
            let level = metadata.level().as_str().to_ascii_lowercase();
            line = format!("{level}: {}: {line}{}", metadata.target(), text.fields);
        }
        // If standard error fails, there is no other place to report that.
        let _ = writeln!(io::stderr(), "omen: {}", clean(&line));
    }
}

#[derive(Default)]
struct EventText {
    message: String,
    /// Values, each preceded by a space.
    values: String,
    /// Values with their names.
    fields: String,
}

impl Visit for EventText {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.values, " {value:?}").and_then(|()| write!(self.fields, " {name}={value:?}")),
        };
    }
}
