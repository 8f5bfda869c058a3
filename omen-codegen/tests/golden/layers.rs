/// Senders: one entry for each layer (D63).
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
    /// Returns the layers that send packets of this kind; `None` if any layer may or if the layer is not judged (D63).
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

/// Returns the layer from which the typed API sends packets of a type (D63).
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

/// Layers that may issue tokens on behalf of another layer.
pub(crate) static ISSUES_FOR_OTHERS: &[LayerSource] = &[
    LayerSource::LayerNumber(LayerNumber::of::<1>()),
];

/// Principal, other than the agent, for whom a packet speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A human.
    Human,
    /// A guard.
    Guard,
}

impl Word {
    /// Returns the principal of an event; `None` for the agent itself.
    pub(crate) fn of_event(event: Event) -> Option<Self> {
        match event {
            Event::Observe => None,
            Event::ObserveUser => Some(Word::Human),
            Event::Alert => Some(Word::Guard),
            Event::Enqueue => None,
            Event::Close => None,
        }
    }
}
