//! Capture of log output during a test.
//!
//! Tests of one process run in parallel, so each captures the output in its own span. Code that starts a task
//! outside its caller's span logs nowhere, and its test fails.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Span, Subscriber, info_span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The lines logged in a span, down to the level `INFO`, each with its enclosing spans: `partition 3: …`.
#[derive(Clone)]
pub struct Logs {
    span: Span,
    lines: Lines,
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().fmt(f)
    }
}

type Lines = Arc<Captured>;

struct Captured {
    lines: Mutex<Vec<String>>,
    each: Box<dyn Fn(&str) + Send + Sync>,
}

/// The lines of each test, by the number in its span, until that span is created.
static CAPTURED: Mutex<Option<HashMap<u64, Lines>>> = Mutex::new(None);

impl Logs {
    /// Starts capturing.
    ///
    /// # Panics
    /// If this process has another subscriber.
    #[must_use]
    pub fn capture() -> Self {
        Self::capture_each(|_| {})
    }

    /// Starts capturing, and calls a function with each line before the code that logs it continues.
    ///
    /// # Panics
    /// If this process has another subscriber.
    #[must_use]
    pub fn capture_each(each: impl Fn(&str) + Send + Sync + 'static) -> Self {
        static SUBSCRIBED: Once = Once::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SUBSCRIBED.call_once(|| {
            tracing::subscriber::set_global_default(Registry::default().with(Capture)).unwrap();
        });
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let lines = Arc::new(Captured { lines: Mutex::default(), each: Box::new(each) });
        let mut captured = CAPTURED.lock().unwrap_or_else(PoisonError::into_inner);
        captured.get_or_insert_default().insert(number, Arc::clone(&lines));
        drop(captured);
        Self { span: info_span!("captured", number), lines }
    }

    /// Returns the span in which the code under test must run.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span.clone()
    }

    /// Returns the lines logged so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the first line that contains all of `parts`.
    #[must_use]
    pub fn find(&self, parts: &[&str]) -> Option<String> {
        self.lines().into_iter().find(|line| parts.iter().all(|part| line.contains(part)))
    }
}

/// Forwards log output to the test whose span it was logged in.
struct Capture;

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let Some(span) = context.span(id) else { return };
        match fields.number {
            Some(number) if span.name() == "captured" => {
                let mut captured = CAPTURED.lock().unwrap_or_else(PoisonError::into_inner);
                let lines = captured.as_mut().and_then(|captured| captured.remove(&number));
                if let Some(lines) = lines {
                    span.extensions_mut().insert(lines);
                }
            }
            _ => span.extensions_mut().insert(fields),
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if *event.metadata().level() > Level::INFO {
            return;
        }
        let mut line = String::new();
        let Some(scope) = context.event_scope(event) else { return };
        let mut lines = None;
        for span in scope.from_root() {
            if let Some(found) = span.extensions().get::<Lines>() {
                lines = Some(Arc::clone(found));
            } else if let Some(Fields { values, .. }) = span.extensions().get() {
                let _ = write!(line, "{}{values}: ", span.name());
            }
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        line.push_str(&fields.message);
        if let Some(lines) = lines {
            (lines.each)(&line);
            lines.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }
}

/// The fields of a span or an event.
#[derive(Default)]
struct Fields {
    message: String,
    number: Option<u64>,
    /// The other fields, each preceded by a space.
    values: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "number" {
            self.number = Some(value);
        }
        self.record_debug(field, &value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            _ => write!(self.values, " {value:?}"),
        };
    }
}
