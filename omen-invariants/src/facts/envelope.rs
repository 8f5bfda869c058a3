//! A complete envelope, with the facts that later rules need as types.

use std::fmt;
use std::marker::PhantomData;

use super::sealed::FactSealed;

/// A complete envelope that keeps INV-001, INV-004 and INV-012. Its level of stakes, its quality tier
/// and the state of its tools are types, which the rules for decisions look at.
///
/// Made by [`Mcp::seal`](super::Mcp::seal). An optional member that the schemas gain, and no rule asks for, has its setter
/// here.
#[must_use = "an envelope does nothing until a packet is sent in it"]
pub struct Envelope<Level, Tier, Tools> {
    pub(super) mcp: omen_types::Mcp,
    facts: PhantomData<Facts<Level, Tier, Tools>>,
}

/// What a value of no size says of an envelope: `Send`, `Sync` and `'static`, whatever the facts are.
type Facts<Level, Tier, Tools> = fn(Level, Tier, Tools) -> (Level, Tier, Tools);

impl<Level, Tier, Tools> Envelope<Level, Tier, Tools> {
    /// INVARIANT: whoever calls this has checked that the facts are those of the envelope, and that it
    /// keeps the rules above.
    pub(super) fn trusted(mcp: omen_types::Mcp) -> Self {
        Self { mcp, facts: PhantomData }
    }

    /// Shortened, should a setter have made it too large for a packet.
    #[allow(dead_code, reason = "the schemas say whether it has generated setters")]
    pub(super) fn refit(self) -> Self {
        Self::trusted(omen_types::fit::envelope(self.mcp))
    }

    /// The envelope as it is written.
    #[must_use]
    pub fn mcp(&self) -> &omen_types::Mcp {
        &self.mcp
    }
}

// By hand, for a derived one would ask the same of the facts.
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

/// An envelope of either sort: an [`Envelope`], or a [`DynEnvelope`](super::DynEnvelope) where no rule
/// asks for facts.
pub trait AnyEnvelope: FactSealed {
    /// The envelope as it is written.
    fn mcp(&self) -> &omen_types::Mcp;
}

impl<Level, Tier, Tools> FactSealed for Envelope<Level, Tier, Tools> {}

impl<Level, Tier, Tools> AnyEnvelope for Envelope<Level, Tier, Tools> {
    fn mcp(&self) -> &omen_types::Mcp {
        &self.mcp
    }
}
