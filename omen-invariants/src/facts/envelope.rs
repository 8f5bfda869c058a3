//! A complete envelope, with the facts that later rules need as types.

use std::fmt;
use std::marker::PhantomData;

use super::sealed::FactSealed;

/// A complete envelope that keeps INV-001, INV-004 and INV-012. Its level of stakes, its quality tier
/// and the state of its tools are types, which the rules for decisions check.
///
/// Made by [`OpenEnvelope::seal`](super::OpenEnvelope::seal). An optional member that the schemas gain, and no rule asks for, has its setter
/// here.
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct Envelope<Level, Tier, Tools> {
    pub(super) mcp: omen_types::McpEnvelope,
    facts: PhantomData<Facts<Level, Tier, Tools>>,
}

/// Keeps an envelope `Send`, `Sync` and `'static`, whatever the facts are.
type Facts<Level, Tier, Tools> = fn(Level, Tier, Tools) -> (Level, Tier, Tools);

impl<Level, Tier, Tools> Envelope<Level, Tier, Tools> {
    /// INVARIANT: the caller has checked that the facts are those of the envelope, and that it keeps the rules above.
    pub(super) fn trusted(mcp: omen_types::McpEnvelope) -> Self {
        Self { mcp, facts: PhantomData }
    }

    /// Shortened, should a setter have made it too large for a packet.
    #[allow(dead_code, reason = "the schemas say whether it has generated setters")]
    pub(super) fn refit(self) -> Self {
        Self::trusted(omen_types::fit::envelope(self.mcp))
    }

    /// The envelope as it is written.
    #[must_use]
    pub fn mcp(&self) -> &omen_types::McpEnvelope {
        &self.mcp
    }
}

// By hand, since a derived one would require the same of the facts.
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
    /// The envelope as it is written.
    fn mcp(&self) -> &omen_types::McpEnvelope;
}

/// An envelope whose claims about the present may lack live evidence (INV-004, D31). A decision to verify first, to
/// escalate, to defer or to cancel takes one, and the log shows a warning.
///
/// Made by [`OpenEnvelope::hypothesis`](super::OpenEnvelope::hypothesis).
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct Hypothesis<Level, Tier, Tools>(Envelope<Level, Tier, Tools>);

impl<Level, Tier, Tools> Hypothesis<Level, Tier, Tools> {
    /// INVARIANT: as [`Envelope::trusted`], but for INV-004.
    pub(super) fn trusted(mcp: omen_types::McpEnvelope) -> Self {
        Self(Envelope::trusted(mcp))
    }

    /// The envelope as it is written.
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

/// An envelope that may ask for certainty (D31): one that keeps INV-004, or a [`Hypothesis`].
pub trait MayAsk: FactSealed {
    /// The envelope as it is written.
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

/// For a packet that is made with a builder: `.mcp(envelope)`.
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
