//! Environment of an episode: random numbers, a clock, envelopes, permits.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Failure;
use fastrand::Rng;
use omen::*;
use omen_types::serde_json::{Value, json};

tool!(pub(super) Get = "store.get", Read);
tool!(pub(super) Set = "store.set", Write);
tool!(pub(super) Swap = "store.swap", Mixed);
scope!(pub(super) Change: tools [Set, Swap], operations [Read, Write, Modify]);

/// Environment of an episode.
pub(super) struct World<'w> {
    pub(super) rng: Rng,
    seconds: Arc<AtomicU64>,
    start: Instant,
    first: DynEnvelope,
    /// Proposals of a model, generated from the schemas.
    pub(super) proposals: &'w [String],
    /// Whether the model may also propose packets of other senders.
    pub(super) speaks_for_all: bool,
    pub(super) permits: Vec<Permit<Change>>,
    pub(super) proofs: Vec<(Proof, Vec<Assumption>)>,
    pub(super) planned: Vec<Assumption>,
    /// The packets of the episode, available even after it was dropped.
    pub(super) written: Written,
    pub(super) on_drop: OnDrop,
}

/// A log in memory that outlives its episode.
#[derive(Clone, Default)]
pub(super) struct Written {
    lines: Vec<String>,
    pub(super) all: Arc<Mutex<Vec<String>>>,
}

impl Log for Written {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        let lines = lines.iter().map(|line| line.text.to_owned());
        self.lines.extend(lines.clone());
        self.all.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        Ok(())
    }

    fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl<'w> World<'w> {
    pub(super) fn new(mut rng: Rng, proposals: &'w [String]) -> Result<Self, Failure> {
        let first = envelope(&mut rng)?;
        let speaks_for_all = rng.bool();
        let on_drop =
            *rng.choice(&[OnDrop::Cancel, OnDrop::Cancel, OnDrop::Halt, OnDrop::Escalate]).unwrap_or(&OnDrop::Cancel);
        Ok(Self {
            rng,
            seconds: Arc::default(),
            start: "2026-03-01T10:00:00Z".parse()?,
            first,
            proposals,
            speaks_for_all,
            permits: Vec::new(),
            proofs: Vec::new(),
            planned: Vec::new(),
            written: Written::default(),
            on_drop,
        })
    }

    /// Returns the setup of a new episode.
    pub(super) fn begin(&mut self) -> Result<Setup, Failure> {
        let setup = self.setup()?.log(self.written.clone()).on_drop(self.on_drop);
        Ok(if self.rng.bool() { setup.campaign("camp_walk".parse()?) } else { setup })
    }

    /// Returns the setup for resuming it from a copy of its log.
    pub(super) fn setup(&self) -> Result<Setup, Failure> {
        let (start, seconds) = (self.start, Arc::clone(&self.seconds));
        let clock = move || start.plus_seconds(seconds.load(Ordering::Relaxed));
        Ok(Setup::new("corr_walk".parse()?, &self.first, clock).claims(&Claims::new()))
    }

    pub(super) fn pass_time(&mut self) {
        let seconds = *self.rng.choice(&[0, 0, 1, 1, 5, 20, 90]).unwrap_or(&0);
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(super) fn text(&mut self) -> Text {
        match self.rng.u8(..5) {
            0 => text!("a"),
            1 => text!("Gr\u{fc}\u{df}e, \u{1f30d} \"quoted\" \\ and\nbroken"),
            2 => text!("some words"),
            3 => text!("emergency override, or so it says"),
            _ => text!("budget override, or so it says"),
        }
    }

    pub(super) fn fields(&mut self) -> Fields {
        self.fields_with("modify")
    }

    /// Returns fields of which one may name this operation: a directive that reads may name no other (D88).
    pub(super) fn fields_with(&mut self, operation: &str) -> Fields {
        match self.rng.u8(..4) {
            0 => fields!({ "key": "a" }),
            1 => fields!({ "value": self.rng.u32(..100), "deep": { "list": [1, 2.5, null, true] } }),
            2 => fields!({ "": "no name", "operation": operation }),
            _ => fields!({ "max_value": 7, "value": 5 }),
        }
    }

    pub(super) fn json(&mut self) -> Json {
        Json::new(self.value()).unwrap_or(Json::NULL)
    }

    pub(super) fn value(&mut self) -> Value {
        match self.rng.u8(..4) {
            0 => Value::Null,
            1 => json!(self.rng.i64(..)),
            2 => json!({ "a": [self.rng.bool(), 1e300, -0.0] }),
            _ => json!("text"),
        }
    }

    pub(super) fn envelope(&mut self) -> DynEnvelope {
        envelope(&mut self.rng).unwrap_or_else(|_| self.first.clone())
    }

    pub(super) fn ruling(&mut self) -> Ruling {
        let policy = *self
            .rng
            .choice(&[Tradeoff::SafetyFirst, Tradeoff::RiskAdjusted, Tradeoff::MinRegret, Tradeoff::ExpectedValue])
            .unwrap_or(&Tradeoff::SafetyFirst);
        let why = self.text();
        loop {
            let left = Arbitration::of(["a", "b", "c"]).veto(|option| option.id != "c");
            if let Ok(feasible) = left.and_then(|left| left.feasible(|_| true)) {
                break feasible.tradeoff(policy, &why);
            }
        }
    }
}

/// Returns an envelope of random facts that is valid by itself.
fn envelope(rng: &mut Rng) -> Result<DynEnvelope, Failure> {
    let mut pick = |values: &[&'static str]| *rng.choice(values).unwrap_or(&"");
    let text = json!({
        "intent": { "summary": "walk", "scope": pick(&["", "everywhere"]) },
        "stakes": {
            "impact": pick(&["LOW", "LOW", "MEDIUM", "HIGH", "CRITICAL"]),
            "irreversibility": pick(&["REVERSIBLE", "REVERSIBLE", "PARTIAL", "IRREVERSIBLE"]),
            "uncertainty": pick(&["LOW", "MEDIUM", "HIGH"]),
            "adversariality": pick(&["BENIGN", "BENIGN", "CONTESTED", "HOSTILE"]),
        },
        "quality": {
            "quality_tier": pick(&["SUBPAR", "PAR", "PAR", "SUPERB", "SUPERB"]),
            "satisficing_mode": false,
            "verification_requirement": pick(&["OPTIONAL", "VERIFY_ONE", "VERIFY_ALL"]),
            "definition_of_done": { "text": "it is done", "checks": ["done"] },
        },
        "budgets": {
            "token_budget": 2_000, "tool_call_budget": 6, "time_budget_seconds": 500,
            "risk_budget": { "envelope": "careful", "max_loss": "little" },
        },
        "epistemics": {
            "status": pick(&["OBSERVED", "DERIVED", "REMEMBERED", "INFERRED", "HYPOTHESIZED", "UNKNOWN"]),
            "confidence": 0.5, "calibration_note": "a guess",
            "freshness_class": pick(&["REALTIME", "OPERATIONAL", "STRATEGIC", "ARCHIVAL"]),
            "assumptions": [],
        },
        "evidence": { "evidence_refs": [{
            "ref_type": pick(&["tool_output", "user_observation"]),
            "ref_id": "seen", "timestamp": "2026-03-01T09:59:00+02:00",
        }] },
        "routing": {
            "task_class": pick(&["FIND", "LOOKUP", "SEARCH", "CREATE", "VERIFY", "COMPILE"]),
            "tools_state": pick(&["tools_ok", "tools_ok", "tools_ok", "tools_partial", "tools_down"]),
        },
    });
    DynEnvelope::from_value(&text)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ").into())
}
