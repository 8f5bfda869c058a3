/// Who sends what: one entry for each layer (D63).
pub static SENDERS: &[SenderInfo] = &[
    SenderInfo {
        layer: LayerSource::LayerNumber(LayerNumber::of::<1>()),
        sends: &[PacketType::IntegrityAlertPacket],
        description: "The first.",
    },
    SenderInfo {
        layer: LayerSource::LayerNumber(LayerNumber::of::<2>()),
        sends: &[PacketType::ObservationPacket],
        description: "The second.",
    },
    SenderInfo {
        layer: LayerSource::IntegrityLayer(IntegrityLayer::Integrity),
        sends: &[PacketType::IntegrityAlertPacket],
        description: "The overlay.",
    },
];

impl Event {
    /// The layers that send packets of this kind; none if any layer may, or if that is not judged (D63).
    #[must_use]
    pub fn senders(self) -> Option<&'static [LayerSource]> {
        match self {
            Event::Observe => {
                Some(const { &[LayerSource::LayerNumber(LayerNumber::of::<2>())] })
            }
            Event::ObserveUser => None,
            Event::Alert => {
                Some(const {
                    &[
                        LayerSource::LayerNumber(LayerNumber::of::<1>()),
                        LayerSource::IntegrityLayer(IntegrityLayer::Integrity),
                    ]
                })
            }
            Event::Enqueue => None,
            Event::Close => None,
        }
    }
}

/// The layer from which the typed API sends packets of a type (D63).
#[must_use]
pub fn sender(packet_type: PacketType) -> LayerSource {
    match packet_type {
        PacketType::ObservationPacket => LayerSource::LayerNumber(LayerNumber::of::<2>()),
        PacketType::IntegrityAlertPacket => {
            LayerSource::IntegrityLayer(IntegrityLayer::Integrity)
        }
        PacketType::QueueUpdatePacket => LayerSource::LayerNumber(LayerNumber::of::<2>()),
    }
}

/// The layers that may issue tokens in the name of another layer.
pub(crate) static ISSUES_FOR_OTHERS: &[LayerSource] = &[
    LayerSource::LayerNumber(LayerNumber::of::<1>()),
];

/// Somebody other than the agent, for whose word a packet stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A human.
    Human,
    /// A guard.
    Guard,
}

impl Word {
    /// Whose word an event is; the agent's own, if none.
    pub(crate) fn of(event: Event) -> Option<Self> {
        match event {
            Event::Observe => None,
            Event::ObserveUser => Some(Word::Human),
            Event::Alert => Some(Word::Guard),
            Event::Enqueue => None,
            Event::Close => None,
        }
    }
}
