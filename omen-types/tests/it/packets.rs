//! A packet of each type, made with the builders, and its line, for tests that change it.

use omen_types::{
    Adversariality, AlertSeverity, AlertType, AuthorizedScope, BeliefChange, BeliefUpdatePacket, BeliefUpdatePayload,
    Budgets, ConstraintsSatisfied, DecisionOutcome, DecisionPacket, DecisionPayload, DefinitionOfDone, EpistemicStatus,
    Epistemics, EscalationOption, EscalationPacket, EscalationPayload, EscalationTrigger, Evidence, EvidenceGap,
    EvidenceRef, ExecutionMethod, FreshnessClass, Impact, IntegrityAlertPacket, IntegrityAlertPayload, IntegrityLayer,
    Intent, IntentScope, Irreversibility, LayerNumber, LayerSource, MaxLoss, McpEnvelope, NextStep, ObservationPacket,
    ObservationPayload, ObservationType, OperationType, Packet, PacketHeader, PacketType, PositiveCount, Quality,
    QualityTier, QueueAction, QueueItem, QueueUpdatePacket, QueueUpdatePayload, RefType, RiskBudget, Routing, Stakes,
    StakesLevel, TaskClass, TaskDirectivePacket, TaskDirectivePayload, TaskResultPacket, TaskResultPayload, TaskType,
    Timestamp, ToolAuthorizationPayload, ToolAuthorizationToken, ToolsState, Uncertainty, UnitInterval,
    VerificationMethod, VerificationPlanPacket, VerificationPlanPayload, VerificationRequirement, VerificationTarget,
};
use serde_json::json;

pub(crate) fn header(packet_type: PacketType) -> PacketHeader {
    PacketHeader::builder()
        .packet_id("pkt_1".parse().unwrap())
        .packet_type(packet_type)
        .created_at("2026-03-01T10:00:00Z".parse().unwrap())
        .layer_source(LayerSource::LayerNumber(LayerNumber::new(5).unwrap()))
        .correlation_id("corr_1".parse().unwrap())
        .build()
}

pub(crate) fn mcp() -> McpEnvelope {
    let intent = Intent::builder()
        .summary("Resize the pool".parse().unwrap())
        .scope(IntentScope::ScopeText("pool-a".parse().unwrap()))
        .build();
    let stakes = Stakes::builder()
        .impact(Impact::Low)
        .irreversibility(Irreversibility::Reversible)
        .uncertainty(Uncertainty::Low)
        .adversariality(Adversariality::Benign)
        .stakes_level(StakesLevel::Low)
        .build();
    let done = DefinitionOfDone::builder()
        .text("It is done".parse().unwrap())
        .checks(vec!["pool.size == 8".to_owned()])
        .build()
        .unwrap();
    let quality = Quality::builder()
        .quality_tier(QualityTier::Par)
        .satisficing_mode(true)
        .definition_of_done(done)
        .verification_requirement(VerificationRequirement::VerifyOne)
        .build();
    let risk = RiskBudget::builder().envelope("low").max_loss(MaxLoss::Text("none".parse().unwrap())).build();
    let budgets = Budgets::builder()
        .token_budget(5000.into())
        .tool_call_budget(5.into())
        .time_budget_seconds(300.into())
        .risk_budget(risk)
        .build();
    let epistemics = Epistemics::builder()
        .status(EpistemicStatus::Observed)
        .confidence(UnitInterval::new(0.9).unwrap())
        .calibration_note("Seen just now".parse().unwrap())
        .freshness_class(FreshnessClass::Operational)
        .assumptions(vec!["The clock is right".to_owned()])
        .build();
    let reference = EvidenceRef::builder()
        .ref_type(RefType::ToolOutput)
        .ref_id("tool_1".parse().unwrap())
        .timestamp("2026-03-01T09:59:30Z".parse().unwrap())
        .build();
    McpEnvelope::builder()
        .intent(intent)
        .stakes(stakes)
        .quality(quality)
        .budgets(budgets)
        .epistemics(epistemics)
        .evidence(Evidence::present().evidence_refs([reference]).build())
        .routing(Routing::builder().task_class(TaskClass::Find).tools_state(ToolsState::ToolsOk).build())
        .build()
}

pub(crate) fn observation() -> ObservationPacket {
    let data = json!({ "pool_size": 4 }).as_object().cloned().unwrap();
    let payload =
        ObservationPayload::builder().observation_type(ObservationType::ToolOutput).data(data).build().unwrap();
    ObservationPacket::builder().header(header(ObservationPacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

pub(crate) fn belief_update() -> BeliefUpdatePacket {
    let change =
        BeliefChange::builder().domain("pool").key("size").new_value(json!(4)).prior_value(json!(null)).build();
    let payload = BeliefUpdatePayload::new_belief().belief_changes([change]).build();
    BeliefUpdatePacket::builder().header(header(BeliefUpdatePacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

pub(crate) fn decision() -> DecisionPacket {
    let constraints =
        ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(true).build();
    let payload = DecisionPayload::builder()
        .decision_outcome(DecisionOutcome::Act)
        .decision_summary("Safety first".parse().unwrap())
        .constraints_satisfied(constraints)
        .build();
    DecisionPacket::builder().header(header(DecisionPacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

pub(crate) fn verification_plan() -> VerificationPlanPacket {
    let target = VerificationTarget::builder()
        .assumption("The pool has four machines".parse().unwrap())
        .method(VerificationMethod::Tool)
        .success_criteria("The tool says 4".parse().unwrap())
        .build();
    let plan = VerificationPlanPayload::builder().decision_packet_id("pkt_0".parse().unwrap());
    let payload = plan.targets(vec![target]).build().unwrap();
    VerificationPlanPacket::builder()
        .header(header(VerificationPlanPacket::TYPE))
        .mcp(mcp())
        .payload(payload)
        .build()
        .unwrap()
}

pub(crate) fn token() -> ToolAuthorizationToken {
    let scope = AuthorizedScope::builder()
        .tool_ids(vec!["pool.resize".to_owned()])
        .operation_types(vec![OperationType::Write])
        .build()
        .unwrap();
    let payload = ToolAuthorizationPayload::builder()
        .token_id("token_1".parse().unwrap())
        .authorized_scope(scope)
        .expiry(Timestamp::new("2026-03-01T11:00:00+01:00").unwrap())
        .max_usage_count(PositiveCount::new(1).unwrap())
        .issuer_layer(LayerSource::IntegrityLayer(IntegrityLayer::Integrity))
        .build();
    ToolAuthorizationToken::builder()
        .header(header(ToolAuthorizationToken::TYPE))
        .mcp(mcp())
        .payload(payload)
        .build()
        .unwrap()
}

pub(crate) fn directive() -> TaskDirectivePacket {
    let method = ExecutionMethod::tool().tool_id("pool.resize").build();
    let payload = TaskDirectivePayload::write()
        .task_id("task_1".parse().unwrap())
        .task_type(TaskType::ToolWrite)
        .execution_method(method)
        .authorization_token_id("token_1".parse().unwrap())
        .build();
    TaskDirectivePacket::builder()
        .header(header(TaskDirectivePacket::TYPE))
        .mcp(mcp())
        .payload(payload)
        .build()
        .unwrap()
}

pub(crate) fn result() -> TaskResultPacket {
    let payload = TaskResultPayload::success()
        .task_id("task_1".parse().unwrap())
        .directive_packet_id("pkt_0".parse().unwrap())
        .result_data(json!([1, { "size": 8 }]))
        .build();
    TaskResultPacket::builder().header(header(TaskResultPacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

pub(crate) fn option(id: &str) -> EscalationOption {
    EscalationOption::builder().option_id(id).description("wait").pros(vec![]).cons(vec![]).build()
}

pub(crate) fn escalation() -> EscalationPacket {
    let payload = EscalationPayload::builder()
        .escalation_trigger(EscalationTrigger::BudgetInsufficient)
        .top_options(vec![option("a"), option("b")])
        .evidence_gaps(vec![EvidenceGap::builder().gap("the load").impact_if_unknown("too few machines").build()])
        .recommended_next_step(NextStep::builder().step("ask").rationale("nobody knows").build())
        .build()
        .unwrap();
    EscalationPacket::builder().header(header(EscalationPacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

pub(crate) fn alert() -> IntegrityAlertPacket {
    let payload = IntegrityAlertPayload::builder()
        .alert_type(AlertType::Drift)
        .severity(AlertSeverity::Warning)
        .summary("The pool drifts".parse().unwrap())
        .build();
    IntegrityAlertPacket::builder()
        .header(header(IntegrityAlertPacket::TYPE))
        .mcp(mcp())
        .payload(payload)
        .build()
        .unwrap()
}

pub(crate) fn queue_update() -> QueueUpdatePacket {
    let item = QueueItem::builder().item_id("item".parse().unwrap()).priority(0.into()).build();
    let payload = QueueUpdatePayload::builder().queue_action(QueueAction::Enqueue).items(vec![item]).build().unwrap();
    QueueUpdatePacket::builder().header(header(QueueUpdatePacket::TYPE)).mcp(mcp()).payload(payload).build().unwrap()
}

/// Returns one packet of each type.
pub(crate) fn all() -> Vec<Packet> {
    vec![
        observation().into(),
        belief_update().into(),
        decision().into(),
        verification_plan().into(),
        token().into(),
        directive().into(),
        result().into(),
        escalation().into(),
        alert().into(),
        queue_update().into(),
    ]
}

/// Returns the line of a packet.
pub(crate) fn line(packet: impl Into<Packet>) -> String {
    serde_json::to_string(&packet.into()).unwrap()
}

/// Replaces pieces of a line; each must occur exactly once.
#[track_caller]
pub(crate) fn edited(line: &str, edits: &[(&str, &str)]) -> String {
    let mut text = line.to_owned();
    for (from, to) in edits {
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {text}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Checks that both readers accept the text.
#[track_caller]
pub(crate) fn accepted(text: &str) -> Packet {
    let packet = text.parse::<Packet>().unwrap_or_else(|rejected| panic!("{rejected}\n{text}"));
    let facts = omen_types::PacketFacts::parse(text).unwrap_or_else(|rejected| panic!("{rejected}\n{text}"));
    assert_eq!(facts.payload.packet_type(), packet.packet_type());
    packet
}

/// Checks that both readers refuse the text, with the same errors.
#[track_caller]
pub(crate) fn refused(text: &str) -> omen_types::Rejected {
    let rejected = match text.parse::<Packet>() {
        Ok(packet) => panic!("accepted: {packet:?}"),
        Err(rejected) => *rejected,
    };
    let other = match omen_types::PacketFacts::parse(text) {
        Ok(facts) => panic!("accepted: {facts:?}"),
        Err(rejected) => *rejected,
    };
    assert_eq!(rejected.errors, other.errors);
    assert_eq!(rejected.claims, other.claims);
    assert!(!rejected.errors.is_empty());
    rejected.errors.iter().for_each(says_what_to_do);
    rejected
}

/// Checks that an error has a help, and that the message of a schema error names its field.
#[track_caller]
pub(crate) fn says_what_to_do(error: &omen_types::Diagnostic) {
    assert!(error.help.is_some(), "{error}");
    let pointer = error.pointer.as_deref().unwrap_or_default();
    let field = pointer.rsplit('/').find(|step| !step.is_empty() && !step.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(field) = field.filter(|_| error.code == omen_types::Code::Schema) else { return };
    let shown: String = omen_types::pointer::unescape(field).chars().take(20).collect();
    let names_it = error.message.contains(&shown) || error.message.starts_with("missing field `");
    assert!(names_it || shown.chars().any(omen_types::scalar::invisible::is_invisible), "{error}");
}
