/// State of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// `S0_LOCKED`: Nobody comes through.
    Locked,
    /// `S1_OPEN`: Somebody may come through.
    Open,
}

impl State {
    /// All states, in order.
    pub const ALL: &'static [State] = &[State::Locked, State::Open];
    /// Returns the id of the state, such as `S3_DECIDE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            State::Locked => "S0_LOCKED",
            State::Open => "S1_OPEN",
        }
    }
    /// Returns one or two words that complete "the episode is …".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            State::Locked => "locked",
            State::Open => "open",
        }
    }
    /// Returns the meaning of the state.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            State::Locked => "Nobody comes through.",
            State::Open => "Somebody may come through.",
        }
    }
}

/// State without sub-states, or sub-state: source or target of a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Node {
    /// `S0_LOCKED`: Nobody comes through.
    Locked,
    /// `S1_OPEN/ONCE`: One turn is left.
    OpenOnce,
    /// `S1_OPEN/TWICE`: Two turns are left.
    OpenTwice,
}

impl Node {
    /// All nodes, in order.
    pub const ALL: &'static [Node] = &[Node::Locked, Node::OpenOnce, Node::OpenTwice];
    /// Node in which episodes start.
    pub const INITIAL: Node = Node::Locked;
    /// Returns the id of the node, such as `S3_DECIDE/ACT`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Node::Locked => "S0_LOCKED",
            Node::OpenOnce => "S1_OPEN/ONCE",
            Node::OpenTwice => "S1_OPEN/TWICE",
        }
    }
    /// Returns the state to which the node belongs.
    #[must_use]
    pub fn state(self) -> State {
        match self {
            Node::Locked => State::Locked,
            Node::OpenOnce => State::Open,
            Node::OpenTwice => State::Open,
        }
    }
}

/// Event in the life of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Event {
    /// `pay_silver`: a silver coin.
    PaySilver,
    /// `pay_gold`: a gold coin.
    PayGold,
    /// `push`: a push.
    Push,
    /// `close`: the end of the stream.
    Close,
}

impl Event {
    /// All events, in order.
    pub const ALL: &'static [Event] = &[
        Event::PaySilver,
        Event::PayGold,
        Event::Push,
        Event::Close,
    ];
    /// Returns the id of the event, such as `decide_act`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Event::PaySilver => "pay_silver",
            Event::PayGold => "pay_gold",
            Event::Push => "push",
            Event::Close => "close",
        }
    }
    /// Returns the description of the event.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Event::PaySilver => "a silver coin",
            Event::PayGold => "a gold coin",
            Event::Push => "a push",
            Event::Close => "the end of the stream",
        }
    }
    /// Returns the packet type of the event, or `None` for the end of the stream.
    #[must_use]
    pub fn packet_type(self) -> Option<PacketType> {
        match self {
            Event::PaySilver => Some(PacketType::CoinPacket),
            Event::PayGold => Some(PacketType::CoinPacket),
            Event::Push => Some(PacketType::PushPacket),
            Event::Close => None,
        }
    }
    /// Classifies a packet as an event.
    #[must_use]
    pub fn of(facts: &PacketFacts<'_>) -> Event {
        match &facts.payload {
            PayloadFacts::Coin(payload) => {
                if matches!(payload.metal, Metal::Silver) {
                    return Event::PaySilver;
                }
                Event::PayGold
            }
            PayloadFacts::Push { .. } => Event::Push,
        }
    }
}

/// Target nodes as bits, by node and event; 0 without a row.
pub(crate) static NEXT: [[u16; 4]; 3] = [[2, 6, 0, 1], [2, 2, 1, 2], [4, 4, 2, 4]];

/// Rows of the table, for documentation.
pub static ROWS: &[RowInfo] = &[
    RowInfo {
        from: &["S0_LOCKED"],
        events: &[Event::PaySilver],
        to: &["S1_OPEN/ONCE"],
        description: "Silver opens.",
        source: "the tariff",
    },
    RowInfo {
        from: &["S0_LOCKED"],
        events: &[Event::PayGold],
        to: &["S1_OPEN/ONCE", "S1_OPEN/TWICE"],
        description: "Gold opens, for as many turns as will be taken.",
        source: "the tariff",
    },
    RowInfo {
        from: &["S1_OPEN"],
        events: &[Event::PaySilver, Event::PayGold],
        to: &[],
        description: "What is open stays as it is.",
        source: "the tariff",
    },
    RowInfo {
        from: &["S1_OPEN/ONCE"],
        events: &[Event::Push],
        to: &["S0_LOCKED"],
        description: "The last turn locks.",
        source: "the tariff",
    },
    RowInfo {
        from: &["S1_OPEN/TWICE"],
        events: &[Event::Push],
        to: &["S1_OPEN/ONCE"],
        description: "One turn less.",
        source: "the tariff",
    },
    RowInfo {
        from: &["ANY"],
        events: &[Event::Close],
        to: &[],
        description: "It may end anywhere.",
        source: "the tariff",
    },
];
