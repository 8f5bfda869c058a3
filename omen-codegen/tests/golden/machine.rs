/// A state of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// `S0_LOCKED`: Nobody comes through.
    Locked,
    /// `S1_OPEN`: Somebody may come through.
    Open,
}

impl State {
    /// Every state, in order.
    pub const ALL: &'static [State] = &[State::Locked, State::Open];
    /// The state's id, such as `S3_DECIDE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            State::Locked => "S0_LOCKED",
            State::Open => "S1_OPEN",
        }
    }
    /// A word or two that complete "the episode is …".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            State::Locked => "locked",
            State::Open => "open",
        }
    }
    /// What it means.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            State::Locked => "Nobody comes through.",
            State::Open => "Somebody may come through.",
        }
    }
}

/// A state without sub-states, or a sub-state: what the table's rows lead from and to.
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
    /// Every node, in order.
    pub const ALL: &'static [Node] = &[Node::Locked, Node::OpenOnce, Node::OpenTwice];
    /// Where episodes start.
    pub const INITIAL: Node = Node::Locked;
    /// The node's id, such as `S3_DECIDE/ACT`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Node::Locked => "S0_LOCKED",
            Node::OpenOnce => "S1_OPEN/ONCE",
            Node::OpenTwice => "S1_OPEN/TWICE",
        }
    }
    /// The state that it belongs to.
    #[must_use]
    pub fn state(self) -> State {
        match self {
            Node::Locked => State::Locked,
            Node::OpenOnce => State::Open,
            Node::OpenTwice => State::Open,
        }
    }
}

/// What can happen to an episode.
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
    /// Every event, in order.
    pub const ALL: &'static [Event] = &[
        Event::PaySilver,
        Event::PayGold,
        Event::Push,
        Event::Close,
    ];
    /// The event's id, such as `decide_act`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Event::PaySilver => "pay_silver",
            Event::PayGold => "pay_gold",
            Event::Push => "push",
            Event::Close => "close",
        }
    }
    /// What it is, in words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Event::PaySilver => "a silver coin",
            Event::PayGold => "a gold coin",
            Event::Push => "a push",
            Event::Close => "the end of the stream",
        }
    }
    /// The type of packet that it is; none for the end of the stream.
    #[must_use]
    pub fn packet_type(self) -> Option<PacketType> {
        match self {
            Event::PaySilver => Some(PacketType::CoinPacket),
            Event::PayGold => Some(PacketType::CoinPacket),
            Event::Push => Some(PacketType::PushPacket),
            Event::Close => None,
        }
    }
    /// The event that a packet is.
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

/// By node and event: the bits of the nodes that it leads to; none if there is no row.
pub(crate) static NEXT: [[u16; 4]; 3] = [[2, 6, 0, 1], [2, 2, 1, 2], [4, 4, 2, 4]];

/// The rows of the table, as they are documented.
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
