/// Condition other than state and event on which a refusal can depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// `open`: somebody waits.
    Open,
}

impl Fact {
    /// Returns the id of the fact, such as `believed`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Fact::Open => "open",
        }
    }
}

/// Refusals that give each cell its code, the most specific first.
pub static REFUSALS: &[RefusalInfo] = &[
    RefusalInfo {
        code: Code::Fsm,
        within: NodeSet(7),
        events: &[Event::Push],
        without_row: false,
        fact: Some((Fact::Open, true)),
        typed: true,
        description: "Who waits goes first.",
        source: "good manners",
    },
    RefusalInfo {
        code: Code::Fsm,
        within: NodeSet(7),
        events: &[Event::PaySilver, Event::PayGold, Event::Push],
        without_row: true,
        fact: None,
        typed: false,
        description: "The table has no row.",
        source: "the tariff",
    },
];
