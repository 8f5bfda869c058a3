//! Content that agents write: phrases, and free-form data of any shape.

use fastrand::Rng;

use super::writer::Writer;

/// Returns a random item.
pub(super) fn pick<T: Copy + Default>(rng: &mut Rng, from: &[T]) -> T {
    rng.choice(from).copied().unwrap_or_default()
}

/// Returns true with a probability of `percent` in a hundred.
pub(super) fn chance(rng: &mut Rng, percent: u32) -> bool {
    rng.u32(0..100) < percent
}

/// Returns some words. One phrase in ten contains non-ASCII characters, one in twelve characters that must be escaped.
pub(super) fn phrase(rng: &mut Rng, words: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for index in 0..rng.usize(words) {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(pick(rng, WORDS));
    }
    if chance(rng, 10) {
        text.push(' ');
        text.push_str(pick(rng, FOREIGN));
    }
    if chance(rng, 8) {
        text.push(' ');
        text.push_str(pick(rng, ESCAPED));
    }
    text
}

/// Writes a phrase, sometimes with non-ASCII characters as escapes.
pub(super) fn write_phrase(w: &mut Writer, rng: &mut Rng, words: std::ops::Range<usize>) {
    let text = phrase(rng, words);
    w.string(&text, chance(rng, 10));
}

/// Writes a key and a phrase.
pub(super) fn say(w: &mut Writer, rng: &mut Rng, key: &str, words: std::ops::Range<usize>) {
    w.key(key);
    write_phrase(w, rng, words);
}

/// Writes an object with this many members and this depth of nesting.
pub(super) fn free_object(w: &mut Writer, rng: &mut Rng, members: std::ops::Range<usize>, depth: usize) {
    let count = rng.usize(members);
    let first = rng.usize(..KEYS.len());
    w.object(|w| {
        // Adjacent keys of the list, so that none is repeated.
        for key in KEYS.iter().cycle().skip(first).take(count.min(KEYS.len())) {
            w.key(key);
            free_value(w, rng, depth);
        }
    });
}

/// Writes a value with this depth of nesting.
pub(super) fn free_value(w: &mut Writer, rng: &mut Rng, depth: usize) {
    match rng.u32(0..if depth > 0 { 24 } else { 20 }) {
        0..=7 => write_phrase(w, rng, 1..6),
        8..=12 => w.raw(rng.u32(0..100_000) >> rng.u32(0..16)),
        13 => w.raw(rng.i32(-5_000..0)),
        14..=16 => w.raw(format_args!("{}.{:03}", rng.u32(0..500), rng.u32(0..1000))),
        17 | 18 => w.raw(rng.bool()),
        19 => w.raw("null"),
        20 | 21 => {
            let count = rng.usize(0..6);
            w.array(count, |w, _| free_value(w, rng, depth - 1));
        }
        _ => free_object(w, rng, 1..6, depth - 1),
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "for",
    "with",
    "before",
    "after",
    "within",
    "no",
    "every",
    "last",
    "next",
    "queue",
    "order",
    "invoice",
    "shipment",
    "database",
    "replica",
    "latency",
    "errors",
    "checkout",
    "payment",
    "customer",
    "region",
    "cluster",
    "node",
    "deploy",
    "rollback",
    "version",
    "build",
    "test",
    "backlog",
    "report",
    "crash",
    "memory",
    "limit",
    "pool",
    "connection",
    "timeout",
    "cache",
    "index",
    "schema",
    "migration",
    "batch",
    "nightly",
    "alarm",
    "threshold",
    "above",
    "below",
    "rises",
    "falls",
    "holds",
    "waits",
    "fails",
    "recovers",
    "confirmed",
    "unknown",
    "pending",
    "manual",
    "review",
    "approved",
    "rejected",
    "warehouse",
    "carrier",
    "route",
    "sensor",
    "humidity",
    "temperature",
    "pressure",
    "valve",
    "pump",
    "reading",
    "calibration",
    "drift",
    "contract",
    "clause",
    "renewal",
    "supplier",
    "price",
    "quote",
    "margin",
    "forecast",
    "inventory",
    "stock",
    "refund",
    "ticket",
    "response",
    "draft",
    "summary",
    "source",
    "archive",
    "snapshot",
    "backup",
    "restore",
    "certificate",
    "expires",
    "hours",
    "minutes",
];

const FOREIGN: &[&str] =
    &["Zürich", "naïve", "São Paulo", "東京駅", "– twice", "Ångström", "Łódź", "ok ✅", "Ελλάδα", "🙂", "5 µs"];

const ESCAPED: &[&str] =
    &["\"quoted\"", "C:\\logs\\agent", "first\nsecond", "left\tright", "\"a\\b\"", "one\n\ttwo\n\tthree"];

const KEYS: &[&str] = &[
    "id",
    "name",
    "value",
    "unit",
    "count",
    "state",
    "owner",
    "reason",
    "p50_ms",
    "p99_ms",
    "error_rate",
    "region",
    "replicas",
    "version",
    "size_bytes",
    "tags",
    "window",
    "previous",
    "limits",
    "labels",
    "query",
    "rows",
    "cursor",
    "source",
    "observed_by",
    "threshold",
    "service",
    "host",
    "port",
    "order_id",
    "amount",
    "currency",
    "items",
    "notes",
    "naïve_estimate",
    "last error",
];
