//! What an operator chooses between.

/// What the proxy does where an episode is over its budgets without approval, or its model proposes to act and states that this
/// violates the constitution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnVeto {
    /// It halts the episode: a CRITICAL alert leads to safe mode.
    #[default]
    Halt,
    /// It refuses what the rules refuse, and nothing more.
    Refuse,
}

/// What a client reads behind the proxy where a server answers a call with an error (R3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerErrors {
    /// Its class, whether the tool ran, whether a retry makes sense, and the code of the protocol; the server's own words only
    /// where they are about the request, or the tool itself has answered.
    #[default]
    Typed,
    /// The server's bytes.
    Raw,
}
