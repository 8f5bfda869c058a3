/// Something to be delivered.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::bon::Builder)]
#[builder(on(::std::string::String, into), finish_fn(name = finish, vis = ""))]
#[non_exhaustive]
pub struct Parcel {
    /// Its weight in kilograms.
    pub weight: Weight,
    /// What sort of parcel; the name is a keyword of Rust.
    pub r#type: ::std::string::String,
    /// What stands on it.
    pub labels: ::std::vec::Vec<Label>,
    /// Anything besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// Who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: ::std::option::Option<::std::string::String>,
    /// Whether it may break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragile: ::std::option::Option<bool>,
}

impl<S: parcel_builder::State> ParcelBuilder<S> {
    /// The `Parcel`, if it is as its schema says.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// What a reader would report, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Parcel, Box<Rejected>>
    where
        S: parcel_builder::IsComplete,
    {
        built(self.finish())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Parcel
    where
        S: parcel_builder::IsComplete,
    {
        self.finish()
    }
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

impl<'de> ::serde::Deserialize<'de> for Parcel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Self as Read<'de>>::read(deserializer)
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

impl HasShape for Parcel {
    fn shape() -> &'static Shape {
        &PARCEL_SHAPE
    }
}
