//! A step without an error in its type cannot fail because of a value, however deep or large.

use omen::packet::{EpistemicStatus, PacketId, RefType};
use omen::*;
use omen_types::limits::{
    MAX_CHANGES_BYTES, MAX_ENVELOPE_BYTES, MAX_FIELDS_DEPTH, MAX_ID_BYTES, MAX_LINE_BYTES, MAX_VALUE_BYTES,
    MAX_VALUE_DEPTH,
};
use serde_json::Value;

use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling, ruling};

tool!(Get = "config.get", Read);
tool!(Put = "config.put", Write);
scope!(Change: tools [Put], operations [Modify]);

/// Longer than a line may be.
const TOO_LONG: usize = MAX_LINE_BYTES + 1;

fn nested(levels: u8) -> Value {
    (0..levels).fold(json!(1), |value, _| json!([value]))
}

/// Returns a text whose JSON has this many bytes.
fn quoted(bytes: usize) -> Value {
    Value::String("x".repeat(bytes - 2))
}

fn long() -> String {
    "x".repeat(TOO_LONG)
}

fn long_text() -> Text {
    Text::new(long()).unwrap()
}

#[track_caller]
fn is_clean(lines: &[String]) {
    let mut validator = Validator::new(ValidatorOptions::default());
    let mut findings: Vec<Finding> = Vec::new();
    for line in lines {
        assert!(line.len() <= MAX_LINE_BYTES, "a line of {} bytes", line.len());
        validator.feed(line.as_bytes(), &mut findings);
        validator.feed(b"\n", &mut findings);
    }
    let Ok(_) = validator.finish(&mut findings);
    findings.retain(|finding| finding.diagnostic.severity == Severity::Error);
    assert!(findings.is_empty(), "{findings:?}");
}

/// Checks that the step was written, that its log is legal, and whether the last packet reports that the previous one was
/// shortened.
#[track_caller]
fn written<S>(episode: &Episode<S>, is_shortened: bool) {
    assert!(episode.trouble().is_none(), "{:?}", episode.trouble());
    is_clean(episode.lines());
    let last = episode.lines().last().unwrap();
    assert_eq!(last.contains("exceeded the length of a line"), is_shortened, "{last:.400}");
}

#[test]
fn a_value_that_is_nested_too_deep_cannot_be_made() {
    assert!(Json::new(nested(MAX_VALUE_DEPTH)).is_ok());
    let deep = DoesNotFit::Deep { limit: MAX_VALUE_DEPTH };
    assert_eq!(Json::new(nested(MAX_VALUE_DEPTH + 1)), Err(deep.clone()));
    assert_eq!(Json::try_from(nested(200)), Err(deep.clone()));
    assert_eq!(Json::of(&nested(200)), Err(deep.clone()));
    assert_eq!(Belief::try_new("db", "pool", &nested(200)).err(), Some(deep.clone()));
    assert!(deep.to_string().contains("nested deeper than 48 levels"), "{deep}");

    assert!(Fields::try_new(json!({ "a": nested(MAX_FIELDS_DEPTH - 1) })).is_ok());
    let deep = DoesNotFit::Deep { limit: MAX_FIELDS_DEPTH };
    assert_eq!(Fields::try_new(json!({ "a": nested(MAX_FIELDS_DEPTH) })), Err(deep));
    assert!(Fields::new(json!({ "a": nested(200) })).is_none());
    assert_eq!(Fields::try_new(json!({})), Err(DoesNotFit::Empty));
    assert_eq!(Fields::try_new(json!([1])), Err(DoesNotFit::NotAnObject));
}

#[test]
fn a_value_that_is_too_large_cannot_be_made() {
    assert!(Json::new(quoted(MAX_VALUE_BYTES)).is_ok());
    let large = DoesNotFit::Large { bytes: MAX_VALUE_BYTES + 1, limit: MAX_VALUE_BYTES };
    assert_eq!(Json::new(quoted(MAX_VALUE_BYTES + 1)), Err(large.clone()));
    assert_eq!(Json::of(&quoted(MAX_VALUE_BYTES + 1)), Err(large.clone()));
    assert!(large.to_string().contains("exceeds 4194304 bytes of JSON (4194305 bytes)"), "{large}");
    // `{"a":` and `}` are 6 bytes.
    assert!(Fields::try_new(json!({ "a": quoted(MAX_VALUE_BYTES - 6) })).is_ok());
    assert_eq!(Fields::try_new(json!({ "a": quoted(MAX_VALUE_BYTES - 5) })), Err(large));
    // A key that is not a text cannot be written as JSON.
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert!(matches!(Json::of(&keys), Err(DoesNotFit::NotJson(_))));
}

#[test]
fn a_belief_that_outgrows_a_packet_is_refused_where_it_grows() {
    let part = || Json::new(quoted(MAX_VALUE_BYTES / 2)).unwrap();
    let mut belief = Belief::new("db", "pool", part());
    let grown = loop {
        match belief.clone().and("db", "pool", (), part()) {
            Ok(larger) => belief = larger,
            Err(why) => break why,
        }
    };
    assert!(matches!(grown, DoesNotFit::Large { bytes, limit: MAX_CHANGES_BYTES } if bytes > MAX_CHANGES_BYTES));
    let id: PacketId = format!("pkt_{}", "1".repeat(MAX_ID_BYTES)).parse().unwrap();
    let ids = std::iter::repeat_n(id, MAX_CHANGES_BYTES / MAX_ID_BYTES);
    assert!(matches!(belief.clone().citing(ids), Err(DoesNotFit::Large { .. })));

    let episode = modelling(setup("corr_a", Hands::new())).believe(belief);
    written(&episode, false);
}

#[test]
fn the_largest_values_are_written_as_they_are() {
    let large = || Json::new(quoted(MAX_VALUE_BYTES)).unwrap();
    let deep = || Json::new(nested(MAX_VALUE_DEPTH)).unwrap();
    let fields = || Fields::try_new(json!({ "a": quoted(MAX_VALUE_BYTES - 6) })).unwrap();
    let deepest = || Fields::try_new(json!({ "a": nested(MAX_FIELDS_DEPTH - 1) })).unwrap();

    let seen = Observation::tool_output(Observed, "config.get", fields()).queried(fields());
    let episode = setup("corr_a", Hands::new()).start().unwrap().observe(seen);
    written(&episode, false);
    let episode = episode.observe(Observation::user_input(Observed, deepest()).queried(deepest()));
    written(&episode, false);
    let episode = episode.believe(Belief::revision("db", "pool", large(), large()));
    written(&episode, false);
    let episode = episode.believe(Belief::revision("db", "pool", deep(), deep()));
    written(&episode, false);

    // A directive has its parameters one level deeper.
    let envelope = envelope();
    let read = Directive::new(Get, op::Read, deepest()).ready();
    let (episode, [task]) = episode.act(ruling().to_act(), &envelope).unwrap().execute([read]).unwrap();
    let episode = episode.settle([task.success(1)]).unwrap().remodel(Belief::new("db", "pool", deep()));
    let (episode, [permit]) = episode
        .act(ruling().to_act(), &envelope)
        .unwrap()
        .authorize::<Change, 1>(TokenSpec::new(60, text!("ticket")).constrained(deepest()))
        .unwrap();
    drop(permit);
    written(&episode, false);
}

#[test]
fn an_object_that_is_written_out_holds_the_deepest_value() {
    let deep = Json::new(nested(MAX_VALUE_DEPTH)).unwrap();
    // Twelve levels, the most that compile.
    let fields = fields!({ "1": [[[[[[[[[[[deep]]]]]]]]]]] });
    let seen = Observation::tool_output(Observed, "config.get", fields);
    let episode = setup("corr_a", Hands::new()).start().unwrap().observe(seen);
    written(&episode, false);
    let line: Value = serde_json::from_str(episode.lines().last().unwrap()).unwrap();
    let mut at = &line["payload"]["data"]["1"];
    for _ in 0..MAX_FIELDS_DEPTH - 1 {
        at = &at[0];
    }
    assert_eq!(*at, json!(1), "nothing was flattened");
}

#[test]
fn what_the_macro_writes_is_what_json_writes() {
    let (n, word, none) = (7_u8, String::from("w"), None::<i64>);
    let list = Json::of(&[1, 2]).unwrap();
    const KEY: &str = "key";
    let fields = fields!({
        "n": n, "word": word, "none": none, KEY: -1, (format!("{n}")): [true, false, null, 1.5, "x", [], {}],
        "list": list, "sum": { "of": n + 1, "text": word.as_str(), },
    });
    let expected = json!({
        "n": 7, "word": "w", "none": null, "key": -1, "7": [true, false, null, 1.5, "x", [], {}],
        "list": [1, 2], "sum": { "of": 8, "text": "w" },
    });
    assert_eq!(Value::Object(fields.into_map()), expected);
    assert_eq!(word, "w", "the macro borrows");
}

#[test]
fn a_record_that_is_longer_than_a_line_is_shortened_and_the_log_says_so() {
    let start = |id| setup(id, Hands::new()).start().unwrap();
    let parts = || {
        let list = (0..1024).map(|n| json!([n, "x".repeat(2048)])).collect();
        Json::new(Value::Array(list)).unwrap()
    };

    // Each record has a text, or values that are too large together.
    let seen = Observation::tool_output(Observed, long(), fields!({ "a": long() })).queried(fields!({ "b": long() }));
    let episode = start("corr_a").observe(seen);
    written(&episode, true);
    let [a, b, c, d, e, f, g, h] = std::array::from_fn(|_| parts());
    let data = fields!({ "a": a, "b": b, "c": c, "d": [d, e], "f": { "f": f, "g": g }, "h": h, "few": 1 });
    let episode = episode.observe(Observation::user_input(Observed, data));
    written(&episode, true);
    let line: Value = serde_json::from_str(&episode.lines()[episode.lines().len() - 2]).unwrap();
    assert_eq!(line["payload"]["data"]["few"], json!(1), "what fits stays as it is");

    let episode = episode.believe(Belief::revision(long(), long(), long(), long()));
    written(&episode, true);
    let episode = episode.alert(Alert::warning(AlertType::Drift, long_text()));
    written(&episode, true);

    // A decision keeps the words at its end that INV-006 requires.
    let why = long_text();
    let left = Arbitration::of([long(), String::from("go")]).veto(|_| true).unwrap().feasible(|_| true).unwrap();
    let stopped = left.tradeoff(Tradeoff::SafetyFirst, &why).may_fail(long(), long()).risk_profile(long());
    let episode = episode.cancel(stopped, &envelope());
    written(&episode, true);
    assert!(episode.believe(Belief::new("a", "b", 1)).close().is_ok());

    let none = Arbitration::of((0..1_000_000).map(|n| format!("option {n}"))).veto(|_| false);
    let Err(none) = none else { panic!("none is allowed") };
    let stopped = none.instead(Tradeoff::MinRegret, &text!("none is allowed"));
    let episode = modelling(setup("corr_b", Hands::new())).defer(stopped, &envelope());
    written(&episode, true);
    let episode = episode.believe(Belief::new("a", "b", 1));
    written(&episode, false);
    assert!(episode.close().is_ok());
}

#[test]
fn an_escalation_and_its_answer_are_shortened_too() {
    let choice = |id: &str| Choice {
        id: id.into(),
        description: long(),
        pros: vec![String::from("pro"); 3_000_000],
        cons: vec![long()],
    };
    let question = Escalation {
        trigger: EscalationTrigger::BudgetInsufficient,
        options: [choice("wait"), choice("go")],
        gaps: std::array::from_fn::<_, 16, _>(|_| Gap { gap: "load".repeat(500_000), impact_if_unknown: "?".into() }),
        next_step: Recommendation { step: long_text(), rationale: long() },
    };
    let episode = modelling(setup("corr_a", Hands::new())).to_escalate(ruling(), &envelope()).escalate(question);
    written(&episode, true);
    let episode = episode.answered(Answer::text(&long_text()).source_tool(long()));
    written(&episode, true);
}

#[test]
fn a_halt_and_its_clearing_are_sent_however_long_their_reasons() {
    let halted = modelling(setup("corr_a", Hands::new())).halt(long_text());
    written(&halted, true);
    assert_eq!(halted.nodes().to_string(), "S9_SAFEMODE");
    let cleared = halted.clear(Layer1::assume().order(long_text()));
    written(&cleared, true);
    assert!(cleared.close().is_ok());
}

#[test]
fn an_alert_that_revokes_more_than_a_line_holds_revokes_all() {
    let tokens = (0..1_000_000).map(|n| format!("token_{n}_of_many_tokens").parse().unwrap());
    let episode = modelling(setup("corr_a", Hands::new()));
    let before = episode.lines().len();
    let episode = episode.alert(Alert::warning(AlertType::TokenRevocation, text!("stop")).revoking(tokens));
    written(&episode, false);
    let revoked: usize = episode.lines()[before..]
        .iter()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["payload"]["revoked_token_ids"].as_array().unwrap().len()
        })
        .sum();
    assert_eq!(revoked, 1_000_000);
}

#[test]
fn what_a_tool_acts_on_is_refused_and_never_shortened() {
    let episode = acting(setup("corr_a", Hands::new()), &envelope());
    let before = episode.lines().len();
    let read = Directive::new(Get, op::Read, fields!({ "content": long() })).ready();
    let refused = episode.execute([read]).expect_err("no line holds it");
    assert_eq!(refused.why.code(), Some(Code::Json));
    assert_eq!(refused.episode.lines().len(), before, "nothing was written");
}

#[test]
fn a_tool_whose_answer_does_not_fit_has_failed_and_is_settled() {
    let read = || Directive::bare(Get, op::Read).ready();
    let episode = acting(setup("corr_a", Hands::new()), &envelope());
    let failed = episode.execute_with(read(), |_| Ok::<_, String>(nested(200)));
    let Err(ExecuteError::Failed(failed)) = failed else { panic!("the answer does not fit") };
    assert_eq!(failed.error, TaskError::DoesNotFit(DoesNotFit::Deep { limit: MAX_VALUE_DEPTH }));
    written(&failed.episode, false);
    let failed = failed.episode.execute_with(read(), |_| Err::<(), _>(long()));
    let Err(ExecuteError::Failed(failed)) = failed else { panic!("the tool has failed") };
    written(&failed.episode, false);
}

#[test]
fn an_envelope_leaves_its_packets_room() {
    let mut evidence = Evidence::tool_output(text!("config.get#1"), "2026-03-01T09:59:00Z".parse().unwrap());
    let taken: Timestamp = "2026-03-01T09:58:00Z".parse().unwrap();
    for n in 0..50_000 {
        evidence = Evidence::and_derived_calc(evidence, Text::new(format!("calc#{n}")).unwrap(), taken.clone());
    }
    let mut epistemics = Epistemics::new(Observed, Realtime, unit!(0.9), long_text());
    for _ in 0..50_000 {
        epistemics = epistemics.assuming("the sun will rise again tomorrow, as it did today");
    }
    let Value::Object(scope) = json!({ "deep": nested(200) }) else { panic!("an object") };
    let large: Envelope<LowStakes, Par, ToolsOk> = OpenEnvelope {
        intent: Intent::new(long_text(), scope),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(long_text(), ["pool == 40"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 10, seconds: 600, risk: Risk::new(long_text(), long_text()) },
        epistemics,
        evidence,
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal();
    let mcp = large.mcp();
    let bytes = serde_json::to_string(mcp).unwrap().len();
    assert!(bytes <= MAX_ENVELOPE_BYTES, "{bytes}");
    assert_eq!(mcp.epistemics.status, EpistemicStatus::Observed);
    assert!(mcp.evidence.evidence_refs.iter().any(|piece| piece.ref_type == RefType::ToolOutput), "INV-004 holds on");

    let seen = Observation::user_input(Observed, Fields::try_new(json!({ "a": quoted(MAX_VALUE_BYTES - 6) })).unwrap());
    let episode = Setup::new("corr_a".parse().unwrap(), &large, Hands::new())
        .claims(&Claims::new())
        .start()
        .unwrap()
        .observe(seen)
        .believe(Belief::new("a", "b", 1))
        .cancel(ruling(), &large);
    written(&episode, false);

    // An envelope that is known only at run time is refused.
    let mut mcp = envelope().mcp().clone();
    mcp.epistemics.assumptions.push("x".repeat(MAX_ENVELOPE_BYTES));
    let errors = DynEnvelope::new(mcp.clone()).expect_err("too large");
    assert!(errors[0].message.contains("exceeds 2097152 bytes"), "{errors:?}");
    let rest = MAX_ENVELOPE_BYTES - serde_json::to_string(envelope().mcp()).unwrap().len();
    mcp.epistemics.assumptions = vec!["x".repeat(rest - 2)];
    let largest = DynEnvelope::new(mcp).unwrap();
    assert_eq!(serde_json::to_string(largest.mcp()).unwrap().len(), MAX_ENVELOPE_BYTES);
    let Value::Object(scope) = json!({ "deep": nested(MAX_FIELDS_DEPTH) }) else { panic!("an object") };
    let mut mcp = envelope().mcp().clone();
    mcp.intent.scope = scope.into();
    let errors = DynEnvelope::new(mcp).expect_err("too deep");
    assert_eq!(errors[0].pointer.as_deref(), Some("/mcp/intent/scope"));
}

#[test]
fn an_id_that_is_too_long_for_a_header_is_refused() {
    let id = |bytes: usize| format!("corr_{}", "1".repeat(bytes - 5));
    assert!(setup(&id(MAX_ID_BYTES), Hands::new()).start().is_ok());
    let refused = setup(&id(MAX_ID_BYTES + 1), Hands::new()).start().expect_err("too long");
    assert_eq!(refused, StartError::LongId { bytes: MAX_ID_BYTES + 1, limit: MAX_ID_BYTES });
}
