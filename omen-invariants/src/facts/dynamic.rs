//! Envelopes whose facts are known only at run time, such as those that a model writes as JSON.

use std::collections::BTreeMap;
use std::str::FromStr;

use omen_types::limits::{MAX_ENVELOPE_BYTES, MAX_FIELDS_DEPTH};
use omen_types::{
    Checked as _, Code, DecisionOutcome, Diagnostic, IntentScope, LoadBearingAssumption, Severity, StakesLevel, fit,
    parse,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::{AnyEnvelope, Envelope, MayAsk};
use super::sealed::FactSealed;
use crate::rules::inv_012_stakes_consistent::Axes;
use crate::rules::{
    inv_002_subpar_never_acts, inv_003_high_stakes_verified, inv_004_live_evidence, inv_010_degraded_tools,
    inv_012_stakes_consistent,
};

/// Marker for a fact that the rules have checked and accepted at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged;

impl FactSealed for Judged {}

/// Complete envelope whose facts are known only at run time. Like an [`Envelope`], it matches the schema, satisfies
/// INV-004, and states no lower stakes than its axes justify (INV-012).
#[derive(Clone, Debug)]
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct DynEnvelope {
    mcp: omen_types::McpEnvelope,
}

impl DynEnvelope {
    /// Checks an envelope.
    ///
    /// # Errors
    /// Violations of the schema, INV-004 and INV-012, or a size too large for a packet (2 MiB), with JSON pointers into
    /// the packet.
    pub fn new(mcp: omen_types::McpEnvelope) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = mcp.check().err().unwrap_or_default();
        errors.iter_mut().for_each(into_packet);
        if !inv_004_live_evidence::is_borne_out(&mcp) {
            errors.push(inv_004_live_evidence::unsupported(mcp.epistemics.status, mcp.epistemics.freshness_class));
        }
        Self::without(errors, mcp)
    }

    /// Adds the errors that the rules find apart from INV-004, and returns the envelope if there are none.
    fn without(mut errors: Vec<Diagnostic>, mcp: omen_types::McpEnvelope) -> Result<Self, Vec<Diagnostic>> {
        errors.extend(inv_012_stakes_consistent::understated(&mcp.stakes));
        errors.extend(unfit(&mcp));
        if errors.is_empty() { Ok(Self { mcp }) } else { Err(errors) }
    }

    /// Parses an envelope from JSON as strictly as a packet. Only `stakes_level` may be omitted; it is then derived
    /// from the axes (D36).
    ///
    /// # Errors
    /// Invalid JSON, or violations of the schema, INV-004 and INV-012, with JSON pointers into the packet.
    pub fn from_json(text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::new(read(text)?)
    }

    /// Converts parsed JSON, like [`from_json`](Self::from_json).
    ///
    /// # Errors
    /// Same as [`from_json`](Self::from_json).
    pub fn from_value(value: &Value) -> Result<Self, Vec<Diagnostic>> {
        Self::from_json(&value.to_string())
    }

    /// Returns the generated envelope.
    #[must_use]
    pub fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.mcp
    }

    /// Judges whether a decision in this envelope may be ACT, by the rules on facts: INV-002, INV-003 and INV-010.
    /// `assumptions` are the decision's load-bearing ones, and `overridden` states whether layer 1 overrides INV-003
    /// (D30). Both must match the decision's packet, which the same rules judge again.
    ///
    /// # Errors
    /// Violations of these rules, with JSON pointers into the packet.
    pub fn judge_act(
        &self,
        assumptions: &[LoadBearingAssumption],
        overridden: bool,
    ) -> Result<Envelope<Judged, Judged, Judged>, Vec<Diagnostic>> {
        let (level, tier) = (self.mcp.stakes.stakes_level, self.mcp.quality.quality_tier);
        let assumptions = assumptions.iter().map(|assumption| (assumption.assumption.as_ref(), assumption.verified));
        let tools = self.mcp.routing.tools_state;
        let errors: Vec<_> = [
            inv_002_subpar_never_acts::acts_at(tier),
            inv_003_high_stakes_verified::acts_at(level, tier, assumptions, overridden),
            inv_010_degraded_tools::decides_at(level, tools, DecisionOutcome::Act),
        ]
        .into_iter()
        .flatten()
        // The warning about an override is intended for the log.
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
        if errors.is_empty() { Ok(Envelope::trusted(self.mcp.clone())) } else { Err(errors) }
    }
}

impl FactSealed for DynEnvelope {}

/// Conversion for packet builders: `.mcp(envelope)`.
impl From<DynEnvelope> for omen_types::McpEnvelope {
    fn from(envelope: DynEnvelope) -> Self {
        envelope.mcp
    }
}

impl From<&DynEnvelope> for omen_types::McpEnvelope {
    fn from(envelope: &DynEnvelope) -> Self {
        envelope.mcp.clone()
    }
}

impl AnyEnvelope for DynEnvelope {
    fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.mcp
    }
}

/// Envelope like a [`DynEnvelope`], whose claims about the present may lack live evidence (INV-004, D31). A decision to act in
/// it is refused; one that seeks certainty is accepted, and the log shows a warning.
#[derive(Clone, Debug)]
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct DynHypothesis(DynEnvelope);

impl DynHypothesis {
    /// Parses an envelope from JSON, like [`DynEnvelope::from_json`].
    ///
    /// # Errors
    /// As [`DynEnvelope::from_json`], without violations of INV-004.
    pub fn from_json(text: &str) -> Result<Self, Vec<Diagnostic>> {
        // What is read matches the schema.
        DynEnvelope::without(Vec::new(), read(text)?).map(Self)
    }
}

impl FactSealed for DynHypothesis {}

#[diagnostic::do_not_recommend]
impl MayAsk for DynHypothesis {
    fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.0.mcp
    }
}

/// Reads an envelope, whose level may be left out.
fn read(text: &str) -> Result<omen_types::McpEnvelope, Vec<Diagnostic>> {
    let read = match with_level(text) {
        Some(completed) => omen_types::McpEnvelope::parse(&completed).map_err(|mut errors| {
            // Spans in the completed text would mislead the author of the original.
            errors.iter_mut().for_each(|error| error.span = None);
            errors
        }),
        None => omen_types::McpEnvelope::parse(text),
    };
    read.map_err(|mut errors| {
        errors.iter_mut().for_each(into_packet);
        errors
    })
}

/// Returns the errors of an envelope that is nested too deep or too large for a packet.
fn unfit(mcp: &omen_types::McpEnvelope) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    if let IntentScope::JsonObject(scope) = &mcp.intent.scope
        && scope.values().any(|member| fit::is_deeper(member, MAX_FIELDS_DEPTH - 1))
    {
        let problem = format!("`scope` is nested deeper than {MAX_FIELDS_DEPTH} levels");
        errors.push(
            Diagnostic::error(Code::Json, problem).at("/mcp/intent/scope").help("flatten it, or describe it in words"),
        );
        return errors;
    }
    let bytes = fit::size(mcp);
    if bytes > MAX_ENVELOPE_BYTES {
        let problem = format!("the envelope exceeds {MAX_ENVELOPE_BYTES} bytes ({bytes} bytes)");
        errors.push(
            Diagnostic::error(Code::Json, problem).at("/mcp").help("store large parts elsewhere, and pass their URIs"),
        );
    }
    errors
}

/// Makes the pointer of a finding relative to the packet, like the pointers in all other findings of the rules.
fn into_packet(finding: &mut Diagnostic) {
    finding.pointer = Some(format!("/mcp{}", finding.pointer.as_deref().unwrap_or_default()));
}

/// Returns the text with a stakes level derived from the axes, or `None` if the text states a level or has no stakes.
///
/// The text is edited instead of reserialized, so that the parser still detects repeated keys (D42).
fn with_level(text: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let stakes: Members<'_> = serde_json::from_str(members.get("stakes")?.get()).ok()?;
    if stakes.contains_key("stakes_level") {
        return None;
    }
    // If no level can be derived, an axis is missing or invalid. Only that should be reported, so the strictest level
    // is filled in.
    let level = level_of(&stakes).unwrap_or(StakesLevel::Critical);
    let (before, after) = text.split_at_checked(parse::locate(text, "/stakes")?.start + 1)?;
    let comma = if stakes.is_empty() { "" } else { "," };
    Some(format!(r#"{before}"stakes_level":"{level}"{comma}{after}"#))
}

fn level_of(stakes: &Members<'_>) -> Option<StakesLevel> {
    let axes = Axes {
        impact: axis(stakes, "impact")?,
        irreversibility: axis(stakes, "irreversibility")?,
        uncertainty: axis(stakes, "uncertainty")?,
        adversariality: axis(stakes, "adversariality")?,
    };
    Some(axes.level())
}

fn axis<T: FromStr>(stakes: &Members<'_>, name: &str) -> Option<T> {
    serde_json::from_str::<String>(stakes.get(name)?.get()).ok()?.parse().ok()
}

/// Fields of a JSON object, as text.
type Members<'t> = BTreeMap<String, &'t RawValue>;
