/// What an instrument said. Free-form values know from the packet down how deep they stand.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
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

impl Reading {
    /// Starts a `Reading`.
    ///
    /// `build()` compiles once `data` is set.
    pub fn builder() -> ReadingBuilder {
        ReadingBuilder {
            required: (Unset::NEW,),
            optional: ReadingOptional::default(),
        }
    }
}

/// Builds a `Reading`: see `Reading::builder`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct ReadingBuilder<A = Unset> {
    required: (A,),
    optional: ReadingOptional,
}

impl<A> ReadingBuilder<A> {
    /// The reading itself.
    pub fn data(
        self,
        value: ::serde_json::Map<String, ::serde_json::Value>,
    ) -> ReadingBuilder<Set<::serde_json::Map<String, ::serde_json::Value>>>
    where
        A: NotSet,
    {
        ReadingBuilder {
            required: (Set::new(value),),
            optional: self.optional,
        }
    }
    /// How the instrument was set.
    pub fn settings(
        mut self,
        value: ::serde_json::Map<String, ::serde_json::Value>,
    ) -> Self {
        self.optional.settings = Some(value);
        self
    }
    /// How the instrument was set.
    pub fn maybe_settings(
        mut self,
        value: Option<::serde_json::Map<String, ::serde_json::Value>>,
    ) -> Self {
        self.optional.settings = value;
        self
    }
    /// As it came.
    pub fn raw(mut self, value: ::serde_json::Value) -> Self {
        self.optional.raw = Some(value);
        self
    }
    /// As it came.
    pub fn maybe_raw(mut self, value: Option<::serde_json::Value>) -> Self {
        self.optional.raw = value;
        self
    }
}

impl<A> ReadingBuilder<A> {
    /// Returns the `Reading`.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// The errors of a reader, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Reading, Box<Rejected>>
    where
        A: needs::reading::SetData,
    {
        built(self.unchecked())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Reading
    where
        A: needs::reading::SetData,
    {
        let (data,) = self.required;
        let (data,) = (Given::given(data),);
        let ReadingOptional { settings, raw, .. } = self.optional;
        Reading { data, settings, raw }
    }
}

#[derive(Clone, Debug, Default)]
struct ReadingOptional {
    settings: Option<::serde_json::Map<String, ::serde_json::Value>>,
    raw: Option<::serde_json::Value>,
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

object!(Reading, READING_SHAPE);

/// What the builders require: each trait explains one missing or unexpected member.
#[doc(hidden)]
pub mod needs {
    use super::*;
    /// What the builders of `Reading` require.
    pub mod reading {
        use super::*;
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `data`; `Reading::builder()` requires it",
            label = "`data` is not set",
            note = "every `Reading` has the field `data`",
            note = "add `.data(..)` before `.build()`: the reading itself"
        )]
        pub trait SetData: Given<::serde_json::Map<String, ::serde_json::Value>> {}
        #[diagnostic::do_not_recommend]
        impl SetData for Set<::serde_json::Map<String, ::serde_json::Value>> {}
    }
}
