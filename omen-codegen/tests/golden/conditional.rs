/// How a parcel went.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::bon::Builder)]
#[builder(on(::std::string::String, into))]
#[non_exhaustive]
pub struct Delivery {
    /// What came of it.
    pub outcome: Outcome,
    /// When it was tried.
    pub attempts: ::std::vec::Vec<::std::string::String>,
    /// Why it failed, or was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Option<String>>,
}

impl Delivery {
    /// Whether `reason` is required where `outcome` has a value.
    #[must_use]
    pub const fn requires_reason(outcome: Outcome) -> bool {
        matches!(outcome, Outcome::Lost | Outcome::Refused)
    }
}

#[derive(Clone, Copy)]
enum DeliveryKey {
    Outcome,
    Attempts,
    Reason,
}

impl Key for DeliveryKey {
    const NAMES: &'static [&'static str] = &["outcome", "attempts", "reason"];
    const ALL: &'static [Self] = &[
        DeliveryKey::Outcome,
        DeliveryKey::Attempts,
        DeliveryKey::Reason,
    ];
    #[inline]
    fn of(name: &str) -> Option<Self> {
        match name {
            "outcome" => Some(DeliveryKey::Outcome),
            "attempts" => Some(DeliveryKey::Attempts),
            "reason" => Some(DeliveryKey::Reason),
            _ => None,
        }
    }
}

impl<'de> Read<'de> for Delivery {
    type Out = Delivery;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Delivery, D::Error> {
        deserializer.deserialize_map(Seed::<Delivery>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Delivery> {
    type Value = Delivery;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Delivery)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Delivery, A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_outcome: Option<Outcome> = None;
        let mut m_attempts: Option<(Vec<String>, usize)> = None;
        let mut m_reason: Option<Option<String>> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<DeliveryKey>::new(next))? {
            next = key as usize + 1;
            match key {
                DeliveryKey::Outcome => {
                    once(&mut seen, 1)?;
                    m_outcome = Some(map.next_value_seed(Seed::<Outcome>::new())?);
                }
                DeliveryKey::Attempts => {
                    once(&mut seen, 2)?;
                    m_attempts = Some(
                        map
                            .next_value_seed(
                                Seed::<Array<String, Vec<String>, 0, { usize::MAX }>>::new(),
                            )?,
                    );
                }
                DeliveryKey::Reason => {
                    once(&mut seen, 4)?;
                    m_reason = Some(
                        map.next_value_seed(Seed::<Nullable<String>>::new())?,
                    );
                }
            }
        }
        need(seen, 3, DeliveryKey::NAMES)?;
        if matches!(m_outcome, Some(Outcome::Lost | Outcome::Refused)) && seen & 4 == 0 {
            return Err(
                A::Error::custom("A delivery that failed has a reason, if only `null`."),
            );
        }
        if matches!(m_attempts, Some((_, 0)))
            && !m_reason
                .as_ref()
                .and_then(Option::as_ref)
                .is_some_and(NonEmpty::non_empty)
        {
            return Err(
                A::Error::custom("Without an attempt, a non-empty reason is required."),
            );
        }
        Ok(Delivery {
            outcome: must(m_outcome)?,
            attempts: must(m_attempts)?.0,
            reason: m_reason,
        })
    }
}

impl<'de> Read<'de> for Check<Delivery> {
    type Out = ();
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Seed::<Check<Delivery>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Check<Delivery>> {
    type Value = ();
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Delivery)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_outcome: Option<Outcome> = None;
        let mut m_attempts: Option<((), usize)> = None;
        let mut m_reason: Option<Option<bool>> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<DeliveryKey>::new(next))? {
            next = key as usize + 1;
            match key {
                DeliveryKey::Outcome => {
                    once(&mut seen, 1)?;
                    m_outcome = Some(map.next_value_seed(Seed::<Outcome>::new())?);
                }
                DeliveryKey::Attempts => {
                    once(&mut seen, 2)?;
                    m_attempts = Some(
                        map
                            .next_value_seed(
                                Seed::<Array<Check<String>, (), 0, { usize::MAX }>>::new(),
                            )?,
                    );
                }
                DeliveryKey::Reason => {
                    once(&mut seen, 4)?;
                    m_reason = Some(
                        map.next_value_seed(Seed::<Nullable<Check<String>>>::new())?,
                    );
                }
            }
        }
        need(seen, 3, DeliveryKey::NAMES)?;
        if matches!(m_outcome, Some(Outcome::Lost | Outcome::Refused)) && seen & 4 == 0 {
            return Err(
                A::Error::custom("A delivery that failed has a reason, if only `null`."),
            );
        }
        if matches!(m_attempts, Some((_, 0)))
            && !m_reason
                .as_ref()
                .and_then(Option::as_ref)
                .is_some_and(NonEmpty::non_empty)
        {
            return Err(
                A::Error::custom("Without an attempt, a non-empty reason is required."),
            );
        }
        Ok(())
    }
}

impl<'de> ::serde::Deserialize<'de> for Delivery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Self as Read<'de>>::read(deserializer)
    }
}

static DELIVERY_SHAPE: Shape = Shape {
    name: "Delivery",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "outcome",
                description: "What came of it.",
                required: true,
                rules: &[],
                shape: &OUTCOME_SHAPE,
            },
            FieldShape {
                name: "attempts",
                description: "When it was tried.",
                required: true,
                rules: &[],
                shape: &Shape {
                    name: "",
                    kind: ShapeKind::Array {
                        item: &PLAIN_TEXT,
                        min: 0,
                        max: None,
                    },
                },
            },
            FieldShape {
                name: "reason",
                description: "Why it failed, or was not tried.",
                required: false,
                rules: &[],
                shape: &NULLABLE_TEXT,
            },
        ],
        conditionals: &[
            ConditionalShape {
                description: "A delivery that failed has a reason, if only `null`.",
                subject: "outcome",
                when: WhenShape::OneOf(&["LOST", "REFUSED"]),
                requires: "reason",
                non_empty: false,
                rules: &[],
            },
            ConditionalShape {
                description: "Without an attempt, a non-empty reason is required.",
                subject: "attempts",
                when: WhenShape::Empty,
                requires: "reason",
                non_empty: true,
                rules: &[Code::Inv001],
            },
        ],
        metadata: false,
    }),
};

impl HasShape for Delivery {
    fn shape() -> &'static Shape {
        &DELIVERY_SHAPE
    }
}
