//! Header and MCP envelope of every packet, consistent with its episode.

use std::fmt;

use fastrand::Rng;

use super::words::{chance, free_object, phrase, pick, say, write_phrase};
use super::writer::Writer;

/// Properties that stay the same throughout an episode.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) correlation_id: String,
    campaign_id: Option<String>,
    summary: String,
    scope: Option<String>,
    stakes: Stakes,
    definition: String,
    checks: Vec<String>,
    task_class: &'static str,
    tools_state: &'static str,
    budgets: [u64; 3],
    envelope: &'static str,
    max_loss: Option<u32>,
}

impl Setting {
    pub(super) fn new(rng: &mut Rng, number: u64, grave: bool) -> Self {
        let stakes = if grave { pick(rng, &GRAVE) } else { pick(rng, &SLIGHT) };
        Self {
            correlation_id: format!("corr_{}-{number}_{:08x}", pick(rng, ERRANDS), rng.u32(..)),
            campaign_id: chance(rng, 30).then(|| format!("camp_{}_{}", pick(rng, ERRANDS), rng.u32(0..40))),
            summary: phrase(rng, 3..8),
            scope: chance(rng, 40).then(|| phrase(rng, 3..8)),
            stakes,
            definition: phrase(rng, 3..9),
            checks: (0..rng.usize(1..3)).map(|_| phrase(rng, 2..5)).collect(),
            task_class: pick(rng, &["FIND", "LOOKUP", "SEARCH", "CREATE", "VERIFY", "COMPILE"]),
            // At higher stakes, degraded tools cause a finding (D34).
            tools_state: if stakes.level == "LOW" && chance(rng, 10) { "tools_partial" } else { "tools_ok" },
            budgets: [rng.u64(20_000..200_000), rng.u64(20..200), rng.u64(7_200..86_400)],
            envelope: pick(rng, &["read-only", "batch", "bounded", "one change at a time"]),
            max_loss: chance(rng, 50).then(|| rng.u32(0..10_000)),
        }
    }
}

/// Axes of stakes, with a level that fits them (D36).
#[derive(Clone, Copy, Debug, Default)]
struct Stakes {
    axes: [&'static str; 4],
    level: &'static str,
}

const SLIGHT: [Stakes; 4] = [
    Stakes { axes: ["LOW", "REVERSIBLE", "LOW", "BENIGN"], level: "LOW" },
    Stakes { axes: ["LOW", "REVERSIBLE", "MEDIUM", "BENIGN"], level: "LOW" },
    Stakes { axes: ["MEDIUM", "PARTIAL", "MEDIUM", "BENIGN"], level: "MEDIUM" },
    Stakes { axes: ["MEDIUM", "REVERSIBLE", "HIGH", "CONTESTED"], level: "MEDIUM" },
];

const GRAVE: [Stakes; 3] = [
    Stakes { axes: ["HIGH", "PARTIAL", "HIGH", "BENIGN"], level: "HIGH" },
    Stakes { axes: ["HIGH", "IRREVERSIBLE", "MEDIUM", "CONTESTED"], level: "HIGH" },
    Stakes { axes: ["CRITICAL", "PARTIAL", "MEDIUM", "BENIGN"], level: "CRITICAL" },
];

/// Header and envelope fields that depend on the packet.
#[derive(Debug)]
pub(super) struct Cover<'c> {
    pub(super) packet_type: &'static str,
    pub(super) packet_id: &'c str,
    pub(super) previous: Option<&'c str>,
    pub(super) layer: &'static str,
    /// Whether the packet reports a new observation.
    pub(super) observes: bool,
    pub(super) now: Moment,
}

pub(super) fn header(w: &mut Writer, rng: &mut Rng, setting: &Setting, cover: &Cover<'_>) {
    w.object(|w| {
        w.text("packet_id", cover.packet_id);
        w.text("packet_type", cover.packet_type);
        w.key("created_at");
        w.raw(cover.now.written(rng));
        w.plain("layer_source", cover.layer);
        w.text("correlation_id", &setting.correlation_id);
        if let Some(campaign_id) = &setting.campaign_id {
            w.text("campaign_id", campaign_id);
        }
        if let Some(previous) = cover.previous.filter(|_| chance(rng, 60)) {
            w.text("previous_packet_id", previous);
        }
    });
}

pub(super) fn mcp(w: &mut Writer, rng: &mut Rng, setting: &Setting, cover: &Cover<'_>) {
    w.object(|w| {
        w.group("intent", |w| {
            w.text("summary", &setting.summary);
            w.key("scope");
            match &setting.scope {
                Some(scope) => w.string(scope, false),
                None => free_object(w, rng, 1..4, 1),
            }
        });
        w.group("stakes", |w| {
            for (name, value) in
                ["impact", "irreversibility", "uncertainty", "adversariality"].iter().zip(setting.stakes.axes)
            {
                w.text(name, value);
            }
            w.text("stakes_level", setting.stakes.level);
        });
        w.group("quality", |w| quality(w, rng, setting));
        w.group("budgets", |w| {
            for (name, value) in ["token_budget", "tool_call_budget", "time_budget_seconds"].iter().zip(setting.budgets)
            {
                w.plain(name, value);
            }
            w.group("risk_budget", |w| {
                w.text("envelope", setting.envelope);
                match setting.max_loss {
                    Some(amount) => w.plain("max_loss", amount),
                    None => w.text("max_loss", "none"),
                }
            });
        });
        let statuses = if cover.observes { OBSERVED } else { pick(rng, &[DERIVED, DERIVED, DERIVED, GUESSED]) };
        w.group("epistemics", |w| epistemics(w, rng, statuses));
        w.group("evidence", |w| evidence(w, rng, statuses == GUESSED, cover.now));
        w.group("routing", |w| {
            w.text("task_class", setting.task_class);
            w.text("tools_state", setting.tools_state);
        });
    });
}

fn quality(w: &mut Writer, rng: &mut Rng, setting: &Setting) {
    let is_grave = matches!(setting.stakes.level, "HIGH" | "CRITICAL");
    // At high stakes, only SUPERB may act (INV-003).
    w.text("quality_tier", if is_grave { "SUPERB" } else { pick(rng, &["PAR", "PAR", "SUPERB"]) });
    w.plain("satisficing_mode", !is_grave);
    w.group("definition_of_done", |w| {
        w.text("text", &setting.definition);
        w.list("checks", setting.checks.len(), |w, index| {
            w.string(setting.checks.get(index).map_or("", String::as_str), false);
        });
    });
    w.text("verification_requirement", pick(rng, &["OPTIONAL", "VERIFY_ONE", "VERIFY_ALL"]));
}

const OBSERVED: &[&str] = &["OBSERVED"];
const DERIVED: &[&str] = &["OBSERVED", "DERIVED", "DERIVED", "REMEMBERED"];
const GUESSED: &[&str] = &["INFERRED", "HYPOTHESIZED", "UNKNOWN"];

fn epistemics(w: &mut Writer, rng: &mut Rng, statuses: &[&'static str]) {
    w.text("status", pick(rng, statuses));
    w.plain("confidence", format_args!("0.{:02}", rng.u32(10..100)));
    say(w, rng, "calibration_note", 3..10);
    w.text("freshness_class", pick(rng, &["REALTIME", "OPERATIONAL", "OPERATIONAL", "STRATEGIC", "ARCHIVAL"]));
    if chance(rng, 40) {
        w.plain("stale_if_older_than_seconds", rng.u32(3_600..90_000));
    }
    let assumptions = if chance(rng, 40) { 0 } else { rng.usize(1..4) };
    w.list("assumptions", assumptions, |w, _| write_phrase(w, rng, 3..8));
}

fn evidence(w: &mut Writer, rng: &mut Rng, is_claim: bool, now: Moment) {
    // A claim about the state of the world must show live evidence (INV-004).
    let count = if is_claim { rng.usize(1..4) } else { rng.usize(0..3) };
    w.list("evidence_refs", count, |w, index| {
        let live = is_claim && index == 0;
        let kinds: &[&str] = if live {
            &["tool_output", "user_observation"]
        } else {
            &["tool_output", "user_observation", "memory_item", "derived_calc"]
        };
        w.object(|w| {
            let kind = pick(rng, kinds);
            w.text("ref_type", kind);
            w.text("ref_id", &format!("{kind}://{}/{:x}", pick(rng, ERRANDS), rng.u32(..)));
            w.key("timestamp");
            w.raw(now.earlier(rng.u32(1..900)).written(rng));
            if chance(rng, 30) {
                w.plain("reliability_score", format_args!("0.{}", rng.u32(1..1000)));
            }
        });
    });
    if count == 0 {
        say(w, rng, "evidence_absent_reason", 3..8);
    } else if chance(rng, 10) {
        w.plain("evidence_absent_reason", "null");
    }
}

/// A moment in UTC, on a day far enough from its ends for any offset used here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    date: (u32, u32, u32),
    /// Second within the day.
    second: u32,
}

impl Moment {
    /// Earliest and latest start of an episode, in seconds within the day.
    const BEGINNINGS: std::ops::Range<u32> = 22_000..58_000;

    pub(super) fn begin(rng: &mut Rng) -> Self {
        let date = (rng.u32(2024..2027), rng.u32(1..13), rng.u32(1..29));
        Self { date, second: rng.u32(Self::BEGINNINGS) }
    }

    pub(super) fn earlier(self, seconds: u32) -> Self {
        Self { second: self.second.saturating_sub(seconds), ..self }
    }

    pub(super) fn later(self, seconds: u32) -> Self {
        Self { second: self.second + seconds, ..self }
    }

    /// Returns the moment in one of its notations.
    pub(super) fn written(self, rng: &mut Rng) -> impl fmt::Display {
        let way = rng.u32(0..20);
        let milliseconds = rng.u32(0..1000);
        fmt::from_fn(move |f| {
            let (year, month, day) = self.date;
            let (shift, offset) = match way {
                0 => (7_200, "+02:00"),
                1 => (-18_000, "-05:00"),
                2 => (0, "+00:00"),
                _ => (0, "Z"),
            };
            let second = self.second.saturating_add_signed(shift);
            let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
            write!(f, "\"{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}")?;
            if way > 10 {
                write!(f, ".{milliseconds:03}")?;
            }
            write!(f, "{offset}\"")
        })
    }
}

const ERRANDS: &[&str] = &[
    "crash-sort",
    "db-pool",
    "refunds",
    "cold-chain",
    "nightly-build",
    "contract-renewal",
    "fraud-watch",
    "restock",
    "cert-rotation",
    "inbox",
    "price-check",
    "backup-drill",
];
