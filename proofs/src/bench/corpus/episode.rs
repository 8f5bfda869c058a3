//! One legal episode, packet by packet.

use fastrand::Rng;

use super::envelope::{self, Cover, Moment, Setting};
use super::words::{chance, free_object, free_value, phrase, pick, say, write_phrase};
use super::writer::Writer;

/// Kind of the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Observe,
    Answer,
    Believe,
    Decide(&'static str),
    Plan,
    Read,
    Write,
    Settle,
    Authorize,
    Escalate,
    Alert(&'static str),
}

use Step::{Alert, Answer, Authorize, Believe, Decide, Escalate, Observe, Plan, Read, Settle, Write};

/// Paths through the state machine, and the percentage of episodes that take each.
pub(super) const WHOLE: &[(u32, &[Step])] = &[
    // Read only.
    (28, &[Observe, Believe, Decide("ACT"), Read, Settle, Believe]),
    (4, &[Observe, Believe, Alert("INFO"), Decide("ACT"), Read, Read, Settle, Observe, Settle, Believe, Believe]),
    // A write, directly or after the verification loop.
    (9, &[Observe, Observe, Believe, Decide("ACT"), Authorize, Write, Settle, Believe]),
    (
        8,
        &[
            Observe,
            Believe,
            Decide(VERIFY),
            Plan,
            Read,
            Settle,
            Observe,
            Believe,
            Decide("ACT"),
            Authorize,
            Write,
            Settle,
            Believe,
        ],
    ),
    // Escalation, and the user's answer.
    (6, &[Observe, Believe, Decide("ESCALATE"), Escalate, Answer, Decide("ACT"), Read, Settle, Believe]),
    (4, &[Observe, Believe, Decide("ESCALATE"), Escalate, Answer, Decide("DEFER"), Believe]),
    // Nothing is carried out.
    (30, &[Observe, Believe, Decide("DEFER"), Believe]),
    (4, &[Observe, Observe, Believe, Believe, Decide("CANCEL"), Believe, Observe, Believe]),
    // Safe mode, with or without leaving it.
    (4, &[Observe, Believe, Decide("ACT"), Read, Alert("CRITICAL"), Believe, Alert("CLEAR"), Believe]),
    (3, &[Observe, Believe, Decide("ACT"), Authorize, Write, Alert("WARNING"), Alert("CRITICAL"), Believe]),
];

/// Beginnings of episodes that are still open, as while an agent is at work.
pub(super) const OPEN: &[(u32, &[Step])] = &[
    (25, &[Observe, Believe]),
    (25, &[Observe, Believe, Decide("ACT")]),
    (25, &[Observe, Believe, Decide(VERIFY), Plan, Read]),
    (25, &[Observe, Believe, Decide(VERIFY), Plan, Read, Settle, Observe, Believe, Decide("ACT"), Authorize, Write]),
];

/// Episodes with nothing left to do: every directive has its result, and the last decision was carried out.
pub(super) const CLOSED: &[(u32, &[Step])] = &[
    (50, &[Observe, Believe, Decide("ACT"), Read, Settle, Believe]),
    (25, &[Observe, Observe, Believe, Decide("ACT"), Authorize, Write, Settle, Believe]),
    (25, &[Observe, Believe, Decide("DEFER"), Believe]),
];

const VERIFY: &str = "VERIFY_FIRST";

/// An episode that is being written.
#[derive(Debug)]
pub(super) struct Episode {
    rng: Rng,
    steps: std::slice::Iter<'static, Step>,
    setting: Setting,
    prefix: String,
    now: Moment,
    packets: usize,
    verified: bool,
    /// Indices of the directives without a result.
    open: Vec<usize>,
    /// Index of the latest decision packet, and of the latest result or observation.
    decision: usize,
    evidence: usize,
    tool: &'static str,
    resource: u32,
}

impl Episode {
    pub(super) fn new(seed: u64, number: u64, ways: &[(u32, &'static [Step])]) -> Self {
        let mut rng = Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut at = rng.u32(0..ways.iter().map(|(weight, _)| weight).sum());
        let mut steps: &[Step] = &[];
        for (weight, way) in ways {
            if at < *weight {
                steps = way;
                break;
            }
            at -= weight;
        }
        let grave = steps.contains(&Plan) && chance(&mut rng, 60);
        Self {
            setting: Setting::new(&mut rng, number, grave),
            steps: steps.iter(),
            prefix: format!("{:06x}_{number}", rng.u32(..1 << 24)),
            now: Moment::begin(&mut rng),
            packets: 0,
            verified: false,
            open: Vec::new(),
            decision: 0,
            evidence: 0,
            tool: pick(&mut rng, TOOLS),
            resource: rng.u32(1..100),
            rng,
        }
    }

    /// Writes the next packet as a line. Returns `false` if there is none.
    pub(super) fn write(&mut self, w: &mut Writer) -> bool {
        let Some(step) = self.steps.next().copied() else { return false };
        let mut rng = self.rng.fork();
        self.packets += 1;
        self.now = self.now.later(rng.u32(1..20));
        let (packet_id, previous) = (self.packet_id(self.packets), self.packet_id(self.packets - 1));
        let cover = Cover {
            packet_type: packet_type(step),
            packet_id: &packet_id,
            previous: (self.packets > 1).then_some(&*previous),
            layer: layer(step),
            observes: matches!(step, Observe | Answer),
            now: self.now,
        };
        w.object(|w| {
            w.key("header");
            envelope::header(w, &mut rng, &self.setting, &cover);
            w.key("mcp");
            envelope::mcp(w, &mut rng, &self.setting, &cover);
            w.group("payload", |w| self.payload(w, &mut rng, step));
            if chance(&mut rng, 5) {
                w.group("_trace", |w| {
                    w.text("span", &format!("{:016x}", rng.u64(..)));
                    w.plain("sampled", rng.bool());
                });
            }
        });
        w.line_end();
        true
    }

    fn packet_id(&self, number: usize) -> String {
        format!("pkt_{}_{number:03}", self.prefix)
    }

    fn task_id(&self, number: usize) -> String {
        format!("task_{}-{number}", self.prefix)
    }

    fn token_id(&self) -> String {
        format!("token_{}", self.prefix)
    }

    fn payload(&mut self, w: &mut Writer, rng: &mut Rng, step: Step) {
        match step {
            Observe => {
                let kind = pick(rng, OBSERVATIONS);
                self.observation(w, rng, kind);
            }
            Answer => self.observation(w, rng, "user_input"),
            Believe => self.belief(w, rng),
            Decide(outcome) => self.decide(w, rng, outcome),
            Plan => self.plan(w, rng),
            Read | Write => self.directive(w, rng, step == Write),
            Settle => self.result(w, rng),
            Authorize => self.token(w, rng),
            Escalate => self.escalation(w, rng),
            Alert(severity) => alert(w, rng, severity),
        }
    }

    fn observation(&mut self, w: &mut Writer, rng: &mut Rng, kind: &str) {
        self.evidence = self.packets;
        w.text("observation_type", kind);
        w.key("data");
        free_object(w, rng, 1..7, 2);
        if kind == "tool_output" {
            w.text("source_tool", self.tool);
            w.key("query_params");
            free_object(w, rng, 0..5, 1);
        }
        if chance(rng, 40) {
            w.group("reliability_metadata", |w| {
                w.plain("tool_success", true);
                w.plain("latency_ms", rng.u32(1..4_000));
                w.plain("partial_result", rng.bool());
            });
        }
    }

    fn belief(&mut self, w: &mut Writer, rng: &mut Rng) {
        let kind = pick(
            rng,
            &["new_belief", "revision", "contradiction_resolved", "confidence_adjustment", "staleness_refresh"],
        );
        w.text("update_type", kind);
        let count = rng.usize(1..3);
        w.list("belief_changes", count, |w, _| {
            w.object(|w| {
                say(w, rng, "domain", 1..3);
                say(w, rng, "key", 1..3);
                w.key("new_value");
                free_value(w, rng, 2);
                w.key("prior_value");
                // A new belief was not held before (D80).
                if kind == "new_belief" {
                    w.raw("null");
                } else {
                    free_value(w, rng, 1);
                }
                if chance(rng, 30) {
                    w.plain("epistemic_upgrade", rng.bool());
                }
            });
        });
        let evidence = self.packet_id(self.evidence);
        w.list("evidence_integration", 1, |w, _| w.string(&evidence, false));
        if kind == "contradiction_resolved" {
            w.group("contradiction_details", |w| {
                w.list("conflicting_packet_ids", 1, |w, _| w.string(&evidence, false));
                w.text(
                    "resolution_method",
                    pick(rng, &["prefer_fresh", "prefer_higher_reliability", "manual_override"]),
                );
            });
        }
    }

    fn decide(&mut self, w: &mut Writer, rng: &mut Rng, outcome: &str) {
        self.decision = self.packets;
        w.text("decision_outcome", outcome);
        let policy = pick(rng, &["Expected value", "Min-regret", "Safety before speed", "Risk-adjusted"]);
        w.text("decision_summary", &format!("{policy}: {}", phrase(rng, 6..16)));
        w.group("constraints_satisfied", |w| {
            for check in ["constitutional_check", "budget_check", "tier_check"] {
                w.plain(check, true);
            }
            if self.verified {
                w.plain("verification_check", true);
            }
        });
        if chance(rng, 40) {
            w.group("chosen_option", |w| {
                w.text("option_id", "a");
                say(w, rng, "description", 3..8);
                w.plain("expected_value", format_args!("{}.{}", rng.i32(-3..9), rng.u32(1..100)));
                say(w, rng, "risk_profile", 1..4);
            });
            let count = rng.usize(0..3);
            w.list("rejected_alternatives", count, |w, index| {
                w.object(|w| {
                    w.text("option_id", if index == 0 { "b" } else { "c" });
                    say(w, rng, "rejection_reason", 3..9);
                });
            });
        }
        let assumptions = rng.usize(0..3);
        let verified = outcome == "ACT";
        w.list("load_bearing_assumptions", assumptions, |w, _| {
            w.object(|w| {
                say(w, rng, "assumption", 4..9);
                w.plain("verified", verified);
                if verified {
                    w.text("verification_packet_id", &self.packet_id(self.evidence));
                }
            });
        });
        if chance(rng, 30) {
            let count = rng.usize(1..3);
            w.list("failure_modes", count, |w, _| {
                w.object(|w| {
                    say(w, rng, "mode", 3..7);
                    say(w, rng, "mitigation", 3..7);
                });
            });
        }
    }

    fn writing_tool(&self) -> String {
        format!("{}.change", self.tool)
    }

    fn plan(&mut self, w: &mut Writer, rng: &mut Rng) {
        self.verified = true;
        w.text("decision_packet_id", &self.packet_id(self.decision));
        let count = rng.usize(1..4);
        w.list("targets", count, |w, _| {
            w.object(|w| {
                say(w, rng, "assumption", 4..9);
                w.text("method", pick(rng, &["tool", "user", "calculation", "memory"]));
                say(w, rng, "success_criteria", 3..8);
                if chance(rng, 50) {
                    w.text("tool_id", self.tool);
                }
            });
        });
        w.plain("max_tool_calls", rng.u32(1..9));
        // Longer than any loop of the corpus takes.
        w.plain("time_budget_seconds", rng.u32(400..900));
        w.text("on_failure", pick(rng, &["escalate", "defer", "retry", "cancel"]));
    }

    fn directive(&mut self, w: &mut Writer, rng: &mut Rng, writes: bool) {
        self.open.push(self.packets);
        w.text("task_id", &self.task_id(self.packets));
        let kind = if writes {
            "tool_write"
        } else {
            pick(rng, &["tool_read", "verification", "memory_lookup", "computation"])
        };
        w.text("task_type", kind);
        w.group("execution_method", |w| {
            w.text("method", "tool");
            // A tool has one class (D88).
            w.text("tool_id", &if writes { self.writing_tool() } else { self.tool.to_owned() });
            w.group("tool_params", |w| {
                if writes {
                    w.text("operation", "modify");
                }
                w.plain("resource", self.resource);
                w.key("options");
                free_object(w, rng, 1..6, 2);
            });
        });
        w.text("tool_safety_class", if writes { pick(rng, &["WRITE", "MIXED"]) } else { "READ" });
        if writes {
            w.text("authorization_token_id", &self.token_id());
        }
        w.plain("timeout_seconds", rng.u32(120..1_800));
        if chance(rng, 40) {
            w.group("retry_policy", |w| {
                w.plain("max_retries", rng.u32(1..6));
                w.plain("backoff_multiplier", pick(rng, &["1", "1.5", "2", "2.0"]));
            });
        }
    }

    fn result(&mut self, w: &mut Writer, rng: &mut Rng) {
        let directive = self.open.pop().unwrap_or_default();
        self.evidence = self.packets;
        w.text("task_id", &self.task_id(directive));
        w.text("directive_packet_id", &self.packet_id(directive));
        // The verification loop requires a success (D22).
        let fails = !self.verified && chance(rng, 10);
        w.text("result_status", if fails { "FAILURE" } else { "SUCCESS" });
        if fails {
            w.group("error_details", |w| {
                w.text("error_code", pick(rng, &["E_TIMEOUT", "E_CONFLICT", "503"]));
                say(w, rng, "error_message", 3..9);
                w.plain("is_transient", rng.bool());
            });
        } else {
            w.key("result_data");
            free_object(w, rng, 1..6, 3);
        }
        w.group("execution_metadata", |w| {
            w.plain("execution_time_ms", format_args!("{}.{}", rng.u32(1..20_000), rng.u32(0..10)));
            w.plain("tokens_used", rng.u32(0..2_000));
            w.plain("tool_calls_used", rng.u32(0..4));
            w.plain("retry_count", rng.u32(0..2));
        });
    }

    fn token(&mut self, w: &mut Writer, rng: &mut Rng) {
        w.text("token_id", &self.token_id());
        w.group("authorized_scope", |w| {
            w.key("tool_ids");
            let tools = [&self.writing_tool(), "files.read", "search"];
            let count = rng.usize(1..=tools.len());
            w.array(count, |w, index| w.string(tools.get(index).copied().unwrap_or_default(), false));
            let operations = ["modify", "read", "write"];
            let count = rng.usize(1..=operations.len());
            w.list("operation_types", count, |w, index| {
                w.string(operations.get(index).copied().unwrap_or_default(), false)
            });
            if chance(rng, 60) {
                w.group("resource_constraints", |w| w.plain("max_resource", self.resource + rng.u32(0..50)));
            }
        });
        w.key("expiry");
        w.raw(self.now.later(rng.u32(600..3_600)).written(rng));
        w.plain("max_usage_count", rng.u32(1..5));
        w.text("issuer_layer", "Integrity");
        if chance(rng, 50) {
            w.plain("usage_count", 0);
            w.plain("revoked", false);
        }
        say(w, rng, "rationale", 4..10);
    }

    fn escalation(&mut self, w: &mut Writer, rng: &mut Rng) {
        w.text(
            "escalation_trigger",
            pick(rng, &["high_stakes_high_uncertainty", "user_override_required", "contradiction_unresolved"]),
        );
        let count = rng.usize(2..4);
        w.list("top_options", count, |w, index| {
            w.object(|w| {
                w.text("option_id", &format!("option-{index}"));
                say(w, rng, "description", 4..10);
                for side in ["pros", "cons"] {
                    let count = rng.usize(1..3);
                    w.list(side, count, |w, _| write_phrase(w, rng, 2..7));
                }
                if chance(rng, 50) {
                    say(w, rng, "risk_summary", 3..8);
                }
            });
        });
        let count = rng.usize(1..3);
        w.list("evidence_gaps", count, |w, _| {
            w.object(|w| {
                say(w, rng, "gap", 3..8);
                say(w, rng, "impact_if_unknown", 3..8);
                if chance(rng, 50) {
                    say(w, rng, "verification_method", 2..6);
                }
            });
        });
        w.group("recommended_next_step", |w| {
            say(w, rng, "step", 3..8);
            say(w, rng, "rationale", 4..10);
            w.group("estimated_cost", |w| {
                w.plain("time_seconds", rng.u32(1..7_200));
                w.plain("tokens", rng.u32(0..50_000));
                w.plain("tool_calls", rng.u32(0..20));
            });
        });
        w.text("blocking_decision_packet_id", &self.packet_id(self.decision));
    }
}

fn alert(w: &mut Writer, rng: &mut Rng, severity: &str) {
    let kinds: &[&str] = if severity == "CLEAR" {
        &["recovery"]
    } else {
        &["drift", "tool_failure", "timeout", "contradiction", "other"]
    };
    w.text("alert_type", pick(rng, kinds));
    w.text("severity", severity);
    say(w, rng, "summary", 4..12);
    if chance(rng, 60) {
        say(w, rng, "rationale", 4..12);
    }
}

fn packet_type(step: Step) -> &'static str {
    match step {
        Observe | Answer => "ObservationPacket",
        Believe => "BeliefUpdatePacket",
        Decide(_) => "DecisionPacket",
        Plan => "VerificationPlanPacket",
        Read | Write => "TaskDirectivePacket",
        Settle => "TaskResultPacket",
        Authorize => "ToolAuthorizationToken",
        Escalate => "EscalationPacket",
        Alert(_) => "IntegrityAlertPacket",
    }
}

/// Returns the layer that sends a packet, as JSON.
fn layer(step: Step) -> &'static str {
    match step {
        Answer | Believe => "4",
        Decide(_) | Plan | Escalate | Read | Write => "5",
        Observe | Settle => "6",
        Authorize | Alert(_) => "\"Integrity\"",
    }
}

const OBSERVATIONS: &[&str] =
    &["tool_output", "tool_output", "system_telemetry", "character_state", "market_signal", "intel_update"];

const TOOLS: &[&str] = &["pg.settings", "k8s.deployments", "mail.drafts", "stock.levels", "tickets", "files.write"];
