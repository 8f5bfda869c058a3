//! Cost of the order rules: decisions by the number of rules, in memory and with a synced log, and the memory of a session.
//!
//! A call of `read` needs an earlier `login` on some server; each premise names another server. A rule has up to 32 premises, so
//! 1,000 premises are 32 rules; the premise that holds is in the middle of its rule. Compared measures alternate within a round,
//! beside the time that the disk needs for a sync.

mod calls;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use omen_gate::prove::prove;
use omen_order::{Ask, Ended, Engine, Mode, Now, RuleSet, Secret, Tool, rules::neutral};
use serde::Serialize;
use serde_json::{Value, json};

use super::Samples;
use super::memory::resident;
use crate::Failure;
use calls::{START, callers, config, each, entry, gate, rule, sync};

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct OrderCounts {
    /// Number of rounds; the report shows medians.
    pub rounds: u32,
    /// Number of calls per round and measure, with the log in memory.
    pub calls: u32,
    /// Number of calls with a synced log per round and measure.
    pub synced: u32,
    /// Number of sessions whose memory is measured; a gate has at most 1,000.
    pub sessions: u32,
}

impl Default for OrderCounts {
    fn default() -> Self {
        Self { rounds: 5, calls: 1_000, synced: 100, sessions: 1_000 }
    }
}

/// Number of premises on the called tool.
const FEW: u32 = 10;
const MANY: u32 = 1_000;
/// Maximum time of a proof about many rules, of which one differs, in milliseconds.
const PROOF_MS: u32 = 2_000;
/// Pin of tools that are not called.
const ANY_PIN: &str = "v1:0000000000000000000000000000000000000000000000000000000000000000";
/// Number of calls made by each session when its memory is measured.
const CALLS_OF_SESSION: i64 = 10;

/// Placement of the rules' premises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PremisePlacement {
    /// A few on the called tool.
    Few,
    /// Many on the called tool.
    Many,
    /// A few on the called tool, and two on each of many others.
    Elsewhere,
}

impl PremisePlacement {
    const ALL: [Self; 3] = [Self::Few, Self::Many, Self::Elsewhere];

    fn on_tool(self) -> u32 {
        if self == Self::Many { MANY } else { FEW }
    }

    /// Returns the entries of other tools.
    fn further(self) -> String {
        if self == Self::Elsewhere { elsewhere("1h") } else { String::new() }
    }
}

/// Measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OrderMeasure {
    Decision(PremisePlacement),
    Watched(PremisePlacement),
    Synced(PremisePlacement),
    Callers(PremisePlacement),
    Sync,
    Proof,
}

/// Result: medians over the rounds. A ratio is the median of the ratios in each round.
#[derive(Clone, Debug, Serialize)]
pub struct OrderReport {
    /// Costs by placement of the premises: 10 on the tool, 1,000 on the tool, 1,000 on other tools besides 10.
    pub by_premises: Vec<Cost>,
    /// A write of 300 bytes and a sync of the file, in microseconds: the lower limit for any recorded decision.
    pub sync_us: f64,
    /// A decision with a synced log: 1,000 premises on one tool, divided by 10.
    pub synced_many_over_few: f64,
    /// The same with the log in memory.
    pub many_over_few: f64,
    /// With the log in memory: 1,000 premises on other tools, divided by none.
    pub elsewhere_over_few: f64,
    /// A proof about 1,000 rules on 500 tools, of which one differs, in milliseconds.
    pub proof_ms: f64,
    /// Size in bytes of an open session with ten calls that rules remember; `None` if the system does not report memory.
    pub session_bytes: Option<f64>,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Number of calls per round and measure.
    pub calls: u32,
    /// Number of synced calls per round and measure.
    pub synced: u32,
}

/// Cost of calls by placement of the premises.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Number of premises on the called tool.
    pub on_tool: u32,
    /// Number of premises on other tools.
    pub elsewhere: u32,
    /// A call that needs a premise, with the log in memory, in microseconds.
    pub decision_us: f64,
    /// A call that the premises name, with the log in memory, in microseconds.
    pub watched_us: f64,
    /// A call that needs a premise, with a synced log, in microseconds.
    pub synced_us: f64,
    /// Calls per second by 64 concurrent callers, with a synced log.
    pub callers_s: f64,
}

/// Measures everything.
///
/// # Errors
/// If a call is refused, or if the files cannot be written.
pub fn run(counts: &OrderCounts) -> Result<OrderReport, Failure> {
    let session_bytes = session_bytes(counts.sessions)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut samples = Samples::default();
    let folder = tempfile::tempdir()?;
    for round in 0..counts.rounds {
        samples.add(OrderMeasure::Proof, runtime.block_on(proof())?);
        samples.add(OrderMeasure::Sync, sync(&folder.path().join(format!("bare_{round}")), counts.synced)?);
        for premises in PremisePlacement::ALL {
            let gate = runtime.block_on(gate(premises.on_tool(), &premises.further(), None))?;
            samples.add(OrderMeasure::Decision(premises), runtime.block_on(each(&gate, "read", counts.calls))?);
            samples.add(OrderMeasure::Watched(premises), runtime.block_on(each(&gate, "login", counts.calls))?);
        }
        for premises in PremisePlacement::ALL {
            let log = folder.path().join(format!("{round}_{premises:?}.jsonl"));
            let gate = runtime.block_on(gate(premises.on_tool(), &premises.further(), Some(&log)))?;
            samples.add(OrderMeasure::Synced(premises), runtime.block_on(each(&gate, "read", counts.synced))?);
            samples.add(OrderMeasure::Callers(premises), callers(&gate, (counts.synced / 4).max(2))?);
        }
    }
    let of = |measure| samples.median(measure);
    let over = |measure: fn(PremisePlacement) -> OrderMeasure, premises| {
        samples.ratio(measure(premises), measure(PremisePlacement::Few))
    };
    let cost = |premises: PremisePlacement| Cost {
        on_tool: premises.on_tool(),
        elsewhere: if premises == PremisePlacement::Elsewhere { MANY } else { 0 },
        decision_us: of(OrderMeasure::Decision(premises)),
        watched_us: of(OrderMeasure::Watched(premises)),
        synced_us: of(OrderMeasure::Synced(premises)),
        callers_s: of(OrderMeasure::Callers(premises)),
    };
    Ok(OrderReport {
        by_premises: PremisePlacement::ALL.map(cost).to_vec(),
        sync_us: of(OrderMeasure::Sync),
        synced_many_over_few: over(OrderMeasure::Synced, PremisePlacement::Many),
        many_over_few: over(OrderMeasure::Decision, PremisePlacement::Many),
        elsewhere_over_few: over(OrderMeasure::Decision, PremisePlacement::Elsewhere),
        proof_ms: of(OrderMeasure::Proof),
        session_bytes,
        rounds: counts.rounds,
        calls: counts.calls,
        synced: counts.synced,
    })
}

/// Returns entries of many tools with two rules each, because a server lists at most 1,000 tools. The first rule has the given
/// window.
fn elsewhere(first_window: &str) -> String {
    let entry = |number: u32| {
        let first = rule(&[number], if number == 0 { first_window } else { "1h" });
        let second = rule(&[number + 1], "1h");
        entry(&format!("tool{number}"), ANY_PIN, &format!("after = [{first}, {second}]"))
    };
    (0..MANY).step_by(2).map(entry).collect()
}

/// Returns the milliseconds of a proof about many rules, of which one differs.
async fn proof() -> Result<f64, Failure> {
    let side = |window| config(&[START, &entry("login", ANY_PIN, ""), &elsewhere(window)].concat());
    let (old, new) = (side("1h")?, side("2h")?);
    let begun = Instant::now();
    let proof = prove(&old, &new).await;
    let time = begun.elapsed().as_secs_f64() * 1e3;
    match (proof.differences.as_slice(), proof.outside.as_slice()) {
        ([difference], []) if difference.disagreement.is_none() => Ok(time),
        _ => Err(format!("expected one difference, found {proof:?}").into()),
    }
}

/// Returns the growth of this process per session.
fn session_bytes(sessions: u32) -> Result<Option<f64>, Failure> {
    let rules = json!({ "tools": {
        "store/login": {},
        "store/read": { "rules": [{
            "kind": "after",
            "any": [{ "tools": ["store/login"], "same": [{ "arg": "/server", "earlier": "/server" }] }],
        }] },
    } });
    let policy = neutral::policy(&rules, &|_: &Value| Err("there are no tests".to_owned()))?;
    let at = Now { mono: 0, wall: 0 };
    let mut engine = Engine::new(RuleSet::new(&policy), Secret::new(&[1; 32]), Mode::Enforce, at);
    let Some(before) = resident() else { return Ok(None) };
    for session in 0..sessions {
        for number in 0..CALLS_OF_SESSION {
            let id = engine.ask(
                at,
                Ask {
                    tool: Tool::new("store", "login"),
                    session: format!("session_{session}"),
                    turn: format!("turn_{number}"),
                    args: Some(Arc::new(json!({ "server": number }))),
                    must_confirm: false,
                    is_refused: false,
                },
            );
            engine.end(at, id, Ended::Ok, None);
        }
        engine.outputs().for_each(drop);
    }
    let growth = resident().unwrap_or(before).saturating_sub(before);
    drop(engine);
    Ok(Some(growth as f64 / f64::from(sessions)))
}

impl fmt::Display for OrderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, calls, synced, .. } = self;
        writeln!(
            f,
            "medians of {rounds} rounds; a round has {calls} calls, and {synced} synced ones, for each measure\n"
        )?;
        writeln!(
            f,
            "{:40}{:>14}{:>14}{:>14}{:>14}",
            "premises", "needs, µs", "needed, µs", "synced, µs", "64 callers, /s"
        )?;
        for Cost { on_tool, elsewhere, decision_us, watched_us, synced_us, callers_s } in &self.by_premises {
            let name = format!("{on_tool} on the tool, {elsewhere} on others");
            writeln!(f, "  {name:38}{decision_us:14.1}{watched_us:14.1}{synced_us:14.0}{callers_s:14.0}")?;
        }
        writeln!(f, "\n{:54}{:>14}", "a write of 300 bytes and its sync, µs", format!("{:.0}", self.sync_us))?;
        let rows = [
            ("1,000 on the tool over 10, log synced", self.synced_many_over_few),
            ("the same, log in memory", self.many_over_few),
            ("1,000 on other tools over none, log in memory", self.elsewhere_over_few),
        ];
        rows.iter().try_for_each(|(name, ratio)| writeln!(f, "{name:54}{ratio:14.2}"))?;
        let proof = "a proof about 1,000 rules, of which one differs, ms";
        writeln!(f, "{proof:54}{:14.0}  (at most {PROOF_MS})", self.proof_ms)?;
        match self.session_bytes {
            Some(bytes) => writeln!(f, "{:54}{bytes:14.0}", "bytes of a session with 10 calls"),
            None => Ok(()),
        }
    }
}
