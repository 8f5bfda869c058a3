/// What an instrument said. Free-form values know from the packet down how deep they stand.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::bon::Builder)]
#[builder(on(::std::string::String, into), finish_fn(name = finish, vis = ""))]
#[non_exhaustive]
pub struct Reading {
    /// The reading itself.
    pub data: ::serde_json::Map<String, ::serde_json::Value>,
    /// How the instrument was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<::serde_json::Map<String, ::serde_json::Value>>,
    /// As it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<::serde_json::Value>,
}

impl<S: reading_builder::State> ReadingBuilder<S> {
    /// The `Reading`, if it is as its schema says.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// What a reader would report, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Reading, Box<Rejected>>
    where
        S: reading_builder::IsComplete,
    {
        built(self.finish())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Reading
    where
        S: reading_builder::IsComplete,
    {
        self.finish()
    }
}

#[derive(Clone, Copy)]
enum ReadingKey {
    Data,
    Settings,
    Raw,
}

impl Key for ReadingKey {
    const NAMES: &'static [&'static str] = &["data", "settings", "raw"];
    const ALL: &'static [Self] = &[
        ReadingKey::Data,
        ReadingKey::Settings,
        ReadingKey::Raw,
    ];
    #[inline]
    fn of(name: &str) -> Option<Self> {
        match name {
            "data" => Some(ReadingKey::Data),
            "settings" => Some(ReadingKey::Settings),
            "raw" => Some(ReadingKey::Raw),
            _ => None,
        }
    }
}

impl<'de> Read<'de> for Reading {
    type Out = Reading;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Reading, D::Error> {
        deserializer.deserialize_map(Seed::<Reading>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Reading> {
    type Value = Reading;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Reading)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reading, A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_data: Option<::serde_json::Map<String, ::serde_json::Value>> = None;
        let mut m_settings: Option<::serde_json::Map<String, ::serde_json::Value>> = None;
        let mut m_raw: Option<::serde_json::Value> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<ReadingKey>::new(next))? {
            next = key as usize + 1;
            match key {
                ReadingKey::Data => {
                    once(&mut seen, 1)?;
                    m_data = Some(
                        map.next_value_seed(Seed::<free::OwnedObject<1, 1>>::new())?,
                    );
                }
                ReadingKey::Settings => {
                    once(&mut seen, 2)?;
                    m_settings = Some(
                        map.next_value_seed(Seed::<free::OwnedObject<0, 1>>::new())?,
                    );
                }
                ReadingKey::Raw => {
                    once(&mut seen, 4)?;
                    m_raw = Some(
                        map.next_value_seed(Seed::<free::OwnedValue<1>>::new())?,
                    );
                }
            }
        }
        need(seen, 1, ReadingKey::NAMES)?;
        Ok(Reading {
            data: must(m_data)?,
            settings: m_settings,
            raw: m_raw,
        })
    }
}

impl<'de> Read<'de> for Check<Reading> {
    type Out = ();
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Seed::<Check<Reading>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Check<Reading>> {
    type Value = ();
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Reading)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        while let Some(key) = map.next_key_seed(KeySeed::<ReadingKey>::new(next))? {
            next = key as usize + 1;
            match key {
                ReadingKey::Data => {
                    once(&mut seen, 1)?;
                    map.next_value_seed(Seed::<free::CheckObject<1, 1>>::new())?;
                }
                ReadingKey::Settings => {
                    once(&mut seen, 2)?;
                    map.next_value_seed(Seed::<free::CheckObject<0, 1>>::new())?;
                }
                ReadingKey::Raw => {
                    once(&mut seen, 4)?;
                    map.next_value_seed(Seed::<free::CheckValue<1>>::new())?;
                }
            }
        }
        need(seen, 1, ReadingKey::NAMES)?;
        Ok(())
    }
}

impl<'de> ::serde::Deserialize<'de> for Reading {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Self as Read<'de>>::read(deserializer)
    }
}

static READING_SHAPE: Shape = Shape {
    name: "Reading",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "data",
                description: "The reading itself.",
                required: true,
                rules: &[],
                shape: &NON_EMPTY_JSON_OBJECT_SHAPE,
            },
            FieldShape {
                name: "settings",
                description: "How the instrument was set.",
                required: false,
                rules: &[],
                shape: &JSON_OBJECT_SHAPE,
            },
            FieldShape {
                name: "raw",
                description: "As it came.",
                required: false,
                rules: &[],
                shape: &JSON_VALUE_SHAPE,
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

impl HasShape for Reading {
    fn shape() -> &'static Shape {
        &READING_SHAPE
    }
}
