//! Complete envelope, which carries the facts that later rules need as types.

use std::fmt;
use std::marker::PhantomData;

use super::sealed::FactSealed;

/// Complete envelope that satisfies INV-001, INV-004 and INV-012. Its stakes level, quality tier and tools state are
/// type parameters, which the rules on decisions check.
///
/// Created by [`OpenEnvelope::seal`](super::OpenEnvelope::seal). The setters for optional fields that no rule reads,
/// including future ones, are defined on this type.
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct Envelope<Level, Tier, Tools> {
    pub(super) mcp: omen_types::McpEnvelope,
    facts: PhantomData<EnvelopeFacts<Level, Tier, Tools>>,
}

/// Function type that keeps an envelope `Send`, `Sync` and `'static` for any facts.
type EnvelopeFacts<Level, Tier, Tools> = fn(Level, Tier, Tools) -> (Level, Tier, Tools);

impl<Level, Tier, Tools> Envelope<Level, Tier, Tools> {
    /// INVARIANT: the caller has checked that the facts match the envelope, and that the envelope satisfies the rules
    /// above.
    pub(super) fn trusted(mcp: omen_types::McpEnvelope) -> Self {
        Self { mcp, facts: PhantomData }
    }

    /// Shortens the envelope if a setter has made it too large for a packet.
    #[allow(dead_code, reason = "the schemas say whether it has generated setters")]
    pub(super) fn refit(self) -> Self {
        Self::trusted(omen_types::fit::envelope(self.mcp))
    }

    /// Returns the generated envelope.
    #[must_use]
    pub fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.mcp
    }
}

// Not derived, because a derived impl would add bounds to the facts.
impl<Level, Tier, Tools> Clone for Envelope<Level, Tier, Tools> {
    fn clone(&self) -> Self {
        Self::trusted(self.mcp.clone())
    }
}

impl<Level, Tier, Tools> fmt::Debug for Envelope<Level, Tier, Tools> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope").field("mcp", &self.mcp).finish_non_exhaustive()
    }
}

/// An [`Envelope`], or a [`DynEnvelope`](super::DynEnvelope) where no rule requires facts.
#[diagnostic::on_unimplemented(
    message = "INV-004: expected an `Envelope`, whose claims have evidence, found `{Self}`",
    label = "expected an `Envelope` or a `DynEnvelope`",
    note = "`mcp.seal()` makes an `Envelope`; `.verify_first(..)`, `.to_escalate(..)`, `.defer(..)` and `.cancel(..)` take a `Hypothesis`, too"
)]
pub trait AnyEnvelope: FactSealed {
    /// Returns the generated envelope.
    fn mcp(&self) -> &omen_types::McpEnvelope;
}

/// Envelope whose claims about the present may lack live evidence (INV-004, D31). Decisions to verify first, to
/// escalate, to defer or to cancel accept it, and the log shows a warning.
///
/// Created by [`OpenEnvelope::hypothesis`](super::OpenEnvelope::hypothesis).
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct Hypothesis<Level, Tier, Tools>(Envelope<Level, Tier, Tools>);

impl<Level, Tier, Tools> Hypothesis<Level, Tier, Tools> {
    /// INVARIANT: same as [`Envelope::trusted`], except for INV-004.
    pub(super) fn trusted(mcp: omen_types::McpEnvelope) -> Self {
        Self(Envelope::trusted(mcp))
    }

    /// Returns the generated envelope.
    #[must_use]
    pub fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.0.mcp
    }
}

impl<Level, Tier, Tools> Clone for Hypothesis<Level, Tier, Tools> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Level, Tier, Tools> fmt::Debug for Hypothesis<Level, Tier, Tools> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hypothesis").field(&self.0.mcp).finish()
    }
}

impl<Level, Tier, Tools> FactSealed for Hypothesis<Level, Tier, Tools> {}

/// Envelope with which to seek certainty (D31): one that satisfies INV-004, or a [`Hypothesis`].
pub trait MayAsk: FactSealed {
    /// Returns the generated envelope.
    fn mcp(&self) -> &omen_types::McpEnvelope;
}

#[diagnostic::do_not_recommend]
impl<Any: AnyEnvelope> MayAsk for Any {
    fn mcp(&self) -> &omen_types::McpEnvelope {
        AnyEnvelope::mcp(self)
    }
}

#[diagnostic::do_not_recommend]
impl<Level, Tier, Tools> MayAsk for Hypothesis<Level, Tier, Tools> {
    fn mcp(&self) -> &omen_types::McpEnvelope {
        self.mcp()
    }
}

impl<Level, Tier, Tools> FactSealed for Envelope<Level, Tier, Tools> {}

impl<Level, Tier, Tools> AnyEnvelope for Envelope<Level, Tier, Tools> {
    fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.mcp
    }
}

/// Conversion for packet builders: `.mcp(envelope)`.
impl<Level, Tier, Tools> From<Envelope<Level, Tier, Tools>> for omen_types::McpEnvelope {
    fn from(envelope: Envelope<Level, Tier, Tools>) -> Self {
        envelope.mcp
    }
}

impl<Level, Tier, Tools> From<&Envelope<Level, Tier, Tools>> for omen_types::McpEnvelope {
    fn from(envelope: &Envelope<Level, Tier, Tools>) -> Self {
        envelope.mcp.clone()
    }
}
