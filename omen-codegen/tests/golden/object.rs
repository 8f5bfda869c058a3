/// Something to be delivered.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[non_exhaustive]
pub struct Parcel {
    /// Its weight in kilograms.
    pub weight: Weight,
    /// What sort of parcel; the name is a keyword of Rust.
    pub r#type: String,
    /// What stands on it.
    pub labels: Vec<Label>,
    /// Anything besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// Who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Whether it may break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragile: Option<bool>,
}

impl Parcel {
    /// Starts a `Parcel`.
    ///
    /// `build()` compiles once `weight`, `type` and `labels` are set.
    pub fn builder() -> ParcelBuilder {
        ParcelBuilder {
            required: (Unset::NEW, Unset::NEW, Unset::NEW),
            optional: ParcelOptional::default(),
        }
    }
}

/// Builds a `Parcel`: see `Parcel::builder`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct ParcelBuilder<A = Unset, B = Unset, C = Unset> {
    required: (A, B, C),
    optional: ParcelOptional,
}

impl<A, B, C> ParcelBuilder<A, B, C> {
    /// Its weight in kilograms.
    pub fn weight(self, value: Weight) -> ParcelBuilder<Set<Weight>, B, C>
    where
        A: NotSet,
    {
        let (_, m1, m2) = self.required;
        ParcelBuilder {
            required: (Set::new(value), m1, m2),
            optional: self.optional,
        }
    }
    /// What sort of parcel; the name is a keyword of Rust.
    pub fn r#type(self, value: impl Into<String>) -> ParcelBuilder<A, Set<String>, C>
    where
        B: NotSet,
    {
        let (m0, _, m2) = self.required;
        ParcelBuilder {
            required: (m0, Set::new(value.into()), m2),
            optional: self.optional,
        }
    }
    /// What stands on it.
    pub fn labels(self, value: Vec<Label>) -> ParcelBuilder<A, B, Set<Vec<Label>>>
    where
        C: NotSet,
    {
        let (m0, m1, _) = self.required;
        ParcelBuilder {
            required: (m0, m1, Set::new(value)),
            optional: self.optional,
        }
    }
    /// Anything besides.
    pub fn notes(mut self, value: Vec<String>) -> Self {
        self.optional.notes = Some(value);
        self
    }
    /// Anything besides.
    pub fn maybe_notes(mut self, value: Option<Vec<String>>) -> Self {
        self.optional.notes = value;
        self
    }
    /// Who sent it.
    pub fn sender(mut self, value: impl Into<String>) -> Self {
        self.optional.sender = Some(value.into());
        self
    }
    /// Who sent it.
    pub fn maybe_sender(mut self, value: Option<String>) -> Self {
        self.optional.sender = value;
        self
    }
    /// Whether it may break.
    pub fn fragile(mut self, value: bool) -> Self {
        self.optional.fragile = Some(value);
        self
    }
    /// Whether it may break.
    pub fn maybe_fragile(mut self, value: Option<bool>) -> Self {
        self.optional.fragile = value;
        self
    }
}

impl<A, B, C> ParcelBuilder<A, B, C> {
    /// Returns the `Parcel`.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// The errors of a reader, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Parcel, Box<Rejected>>
    where
        A: needs::parcel::SetWeight,
        B: needs::parcel::SetType,
        C: needs::parcel::SetLabels,
    {
        built(self.unchecked())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Parcel
    where
        A: needs::parcel::SetWeight,
        B: needs::parcel::SetType,
        C: needs::parcel::SetLabels,
    {
        let (weight, r#type, labels) = self.required;
        let (weight, r#type, labels) = (
            Given::given(weight),
            Given::given(r#type),
            Given::given(labels),
        );
        let ParcelOptional { notes, sender, fragile, .. } = self.optional;
        Parcel {
            weight,
            r#type,
            labels,
            notes,
            sender,
            fragile,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct ParcelOptional {
    notes: Option<Vec<String>>,
    sender: Option<String>,
    fragile: Option<bool>,
}

#[derive(Clone, Copy)]
enum ParcelKey {
    Weight,
    Type,
    Labels,
    Notes,
    Sender,
    Fragile,
}

impl Key for ParcelKey {
    const NAMES: &'static [&'static str] = &[
        "weight",
        "type",
        "labels",
        "notes",
        "sender",
        "fragile",
    ];
    const ALL: &'static [Self] = &[
        ParcelKey::Weight,
        ParcelKey::Type,
        ParcelKey::Labels,
        ParcelKey::Notes,
        ParcelKey::Sender,
        ParcelKey::Fragile,
    ];
    #[inline]
    fn of(name: &str) -> Option<Self> {
        match name {
            "weight" => Some(ParcelKey::Weight),
            "type" => Some(ParcelKey::Type),
            "labels" => Some(ParcelKey::Labels),
            "notes" => Some(ParcelKey::Notes),
            "sender" => Some(ParcelKey::Sender),
            "fragile" => Some(ParcelKey::Fragile),
            _ => None,
        }
    }
}

impl<'de> Read<'de> for Parcel {
    type Out = Parcel;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Parcel, D::Error> {
        deserializer.deserialize_map(Seed::<Parcel>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Parcel> {
    type Value = Parcel;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Parcel)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parcel, A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_weight: Option<Weight> = None;
        let mut m_type: Option<String> = None;
        let mut m_labels: Option<(Vec<Label>, usize)> = None;
        let mut m_notes: Option<(Vec<String>, usize)> = None;
        let mut m_sender: Option<String> = None;
        let mut m_fragile: Option<bool> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<ParcelKey>::new(next))? {
            next = key as usize + 1;
            match key {
                ParcelKey::Weight => {
                    once(&mut seen, 1)?;
                    m_weight = Some(map.next_value_seed(Seed::<Number<Weight>>::new())?);
                }
                ParcelKey::Type => {
                    once(&mut seen, 2)?;
                    m_type = Some(map.next_value_seed(Seed::<String>::new())?);
                }
                ParcelKey::Labels => {
                    once(&mut seen, 4)?;
                    m_labels = Some(
                        map
                            .next_value_seed(
                                Seed::<Array<OwnedText<Label>, Vec<Label>, 1, 3>>::new(),
                            )?,
                    );
                }
                ParcelKey::Notes => {
                    once(&mut seen, 8)?;
                    m_notes = Some(
                        map
                            .next_value_seed(
                                Seed::<Array<String, Vec<String>, 0, { usize::MAX }>>::new(),
                            )?,
                    );
                }
                ParcelKey::Sender => {
                    once(&mut seen, 16)?;
                    m_sender = Some(map.next_value_seed(Seed::<String>::new())?);
                }
                ParcelKey::Fragile => {
                    once(&mut seen, 32)?;
                    m_fragile = Some(map.next_value_seed(Seed::<bool>::new())?);
                }
            }
        }
        need(seen, 7, ParcelKey::NAMES)?;
        Ok(Parcel {
            weight: must(m_weight)?,
            r#type: must(m_type)?,
            labels: must(m_labels)?.0,
            notes: m_notes.map(|(all, _)| all),
            sender: m_sender,
            fragile: m_fragile,
        })
    }
}

impl<'de> Read<'de> for Check<Parcel> {
    type Out = ();
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Seed::<Check<Parcel>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Check<Parcel>> {
    type Value = ();
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Parcel)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        while let Some(key) = map.next_key_seed(KeySeed::<ParcelKey>::new(next))? {
            next = key as usize + 1;
            match key {
                ParcelKey::Weight => {
                    once(&mut seen, 1)?;
                    map.next_value_seed(Seed::<CheckNumber<Weight>>::new())?;
                }
                ParcelKey::Type => {
                    once(&mut seen, 2)?;
                    map.next_value_seed(Seed::<Check<String>>::new())?;
                }
                ParcelKey::Labels => {
                    once(&mut seen, 4)?;
                    map.next_value_seed(
                        Seed::<Array<CheckText<Label>, (), 1, 3>>::new(),
                    )?;
                }
                ParcelKey::Notes => {
                    once(&mut seen, 8)?;
                    map.next_value_seed(
                        Seed::<Array<Check<String>, (), 0, { usize::MAX }>>::new(),
                    )?;
                }
                ParcelKey::Sender => {
                    once(&mut seen, 16)?;
                    map.next_value_seed(Seed::<Check<String>>::new())?;
                }
                ParcelKey::Fragile => {
                    once(&mut seen, 32)?;
                    map.next_value_seed(Seed::<bool>::new())?;
                }
            }
        }
        need(seen, 7, ParcelKey::NAMES)?;
        Ok(())
    }
}

static PARCEL_SHAPE: Shape = Shape {
    name: "Parcel",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "weight",
                description: "Its weight in kilograms.",
                required: true,
                rules: &[],
                shape: &WEIGHT_SHAPE,
            },
            FieldShape {
                name: "type",
                description: "What sort of parcel; the name is a keyword of Rust.",
                required: true,
                rules: &[],
                shape: &PLAIN_TEXT,
            },
            FieldShape {
                name: "labels",
                description: "What stands on it.",
                required: true,
                rules: &[],
                shape: &Shape {
                    name: "",
                    kind: ShapeKind::Array {
                        item: &LABEL_SHAPE,
                        min: 1,
                        max: Some(3),
                    },
                },
            },
            FieldShape {
                name: "notes",
                description: "Anything besides.",
                required: false,
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
                name: "sender",
                description: "Who sent it.",
                required: false,
                rules: &[],
                shape: &PLAIN_TEXT,
            },
            FieldShape {
                name: "fragile",
                description: "Whether it may break.",
                required: false,
                rules: &[],
                shape: &BOOL,
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

object!(Parcel, PARCEL_SHAPE);

/// What the builders require: each trait explains one missing or unexpected member.
#[doc(hidden)]
pub mod needs {
    use super::*;
    /// What the builders of `Parcel` require.
    pub mod parcel {
        use super::*;
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `weight`; `Parcel::builder()` requires it",
            label = "`weight` is not set",
            note = "every `Parcel` has the field `weight`",
            note = "add `.weight(..)` before `.build()`: its weight in kilograms"
        )]
        pub trait SetWeight: Given<Weight> {}
        #[diagnostic::do_not_recommend]
        impl SetWeight for Set<Weight> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `type`; `Parcel::builder()` requires it",
            label = "`type` is not set",
            note = "every `Parcel` has the field `type`",
            note = "add `.type(..)` before `.build()`: what sort of parcel; the name is a keyword of Rust"
        )]
        pub trait SetType: Given<String> {}
        #[diagnostic::do_not_recommend]
        impl SetType for Set<String> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `labels`; `Parcel::builder()` requires it",
            label = "`labels` is not set",
            note = "every `Parcel` has the field `labels`",
            note = "add `.labels(..)` before `.build()`: what stands on it"
        )]
        pub trait SetLabels: Given<Vec<Label>> {}
        #[diagnostic::do_not_recommend]
        impl SetLabels for Set<Vec<Label>> {}
    }
}
