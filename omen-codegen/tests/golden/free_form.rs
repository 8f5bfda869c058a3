/// What an instrument said. Free-form values know from the packet down how deep they stand.
#[non_exhaustive]
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The reading itself.
    pub data: ::serde_json::Map<String, ::serde_json::Value>,
    /// How the instrument was set.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub settings: Option<::serde_json::Map<String, ::serde_json::Value>>,
    /// As it came.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
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
        A: needs::reading::OnceData,
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

impl ReadingKey {
    fn from_text(name: &str) -> Option<Self> {
        match name {
            "data" => Some(ReadingKey::Data),
            "settings" => Some(ReadingKey::Settings),
            "raw" => Some(ReadingKey::Raw),
            _ => None,
        }
    }
}

impl<'t> Parse<'t> for ReadingKey {
    type Out = Self;
    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        static WORDS: Words<ReadingKey, 4> = Words::new(
            4294967295,
            11400714819323198485,
            [
                ("data", ReadingKey::Data),
                ("settings", ReadingKey::Settings),
                ("raw", ReadingKey::Raw),
            ],
        );
        cursor.word(&WORDS, ReadingKey::from_text)
    }
}

impl<'t> Parse<'t> for Check<Reading> {
    type Out = ();
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        let mut seen = 0_u64;
        'object: {
            let mut member = if cursor.predict(b"{\"data\":", b"{\"data\": ") {
                ReadingKey::Data
            } else {
                match cursor.first_member::<ReadingKey>()? {
                    Some(member) => member,
                    None => break 'object,
                }
            };
            'members: loop {
                'm_raw: {
                    'm_settings: {
                        'm_data: {
                            match member {
                                ReadingKey::Data => break 'm_data,
                                ReadingKey::Settings => break 'm_settings,
                                ReadingKey::Raw => break 'm_raw,
                            }
                        }
                        once(&mut seen, 1)?;
                        <FreeObject<1, 1> as Parse<'t>>::parse(cursor)?;
                        if cursor.predict(b",\"settings\":", b", \"settings\": ")
                        {} else if cursor.predict(b",\"raw\":", b", \"raw\": ") {
                            break 'm_raw;
                        } else if cursor.eat(b"}") {
                            break 'object;
                        } else {
                            match cursor.next_member::<ReadingKey>()? {
                                Some(other) => member = other,
                                None => break 'object,
                            }
                            continue 'members;
                        }
                    }
                    once(&mut seen, 2)?;
                    <FreeObject<0, 1> as Parse<'t>>::parse(cursor)?;
                    if cursor.predict(b",\"raw\":", b", \"raw\": ")
                    {} else if cursor.eat(b"}") {
                        break 'object;
                    } else {
                        match cursor.next_member::<ReadingKey>()? {
                            Some(other) => member = other,
                            None => break 'object,
                        }
                        continue 'members;
                    }
                }
                once(&mut seen, 4)?;
                <AnyValue<1> as Parse<'t>>::parse(cursor)?;
                if cursor.eat(b"}") {
                    break 'object;
                } else {
                    match cursor.next_member::<ReadingKey>()? {
                        Some(other) => member = other,
                        None => break 'object,
                    }
                    continue 'members;
                }
            }
        }
        need(seen, 1)?;
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
                example: None,
            },
            FieldShape {
                name: "settings",
                description: "How the instrument was set.",
                required: false,
                rules: &[],
                shape: &JSON_OBJECT_SHAPE,
                example: None,
            },
            FieldShape {
                name: "raw",
                description: "As it came.",
                required: false,
                rules: &[],
                shape: &JSON_VALUE_SHAPE,
                example: None,
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

object!(Reading, READING_SHAPE);

/// Requirements of the builders: each trait explains one missing or unexpected field.
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
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `data`; it is set already",
            label = "`data` is set twice",
            note = "set `data` once"
        )]
        pub trait OnceData {}
        impl OnceData for Unset {}
    }
}
