/// Something to be delivered.
#[non_exhaustive]
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parcel {
    /// Its weight in kilograms.
    pub weight: Weight,
    /// What sort of parcel; the name is a keyword of Rust.
    pub r#type: String,
    /// What stands on it.
    pub labels: Vec<Label>,
    /// Anything besides.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub notes: Option<Vec<String>>,
    /// Who sent it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub sender: Option<String>,
    /// Whether it may break.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
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
        A: needs::parcel::OnceWeight,
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
        B: needs::parcel::OnceType,
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
        C: needs::parcel::OnceLabels,
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

impl ParcelKey {
    fn from_text(name: &str) -> Option<Self> {
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

impl<'t> Parse<'t> for ParcelKey {
    type Out = Self;
    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        static WORDS: Words<ParcelKey, 8> = Words::new(
            1099511627775,
            15998078693348208393,
            [
                ("weight", ParcelKey::Weight),
                ("type", ParcelKey::Type),
                ("labels", ParcelKey::Labels),
                ("notes", ParcelKey::Notes),
                ("sender", ParcelKey::Sender),
                ("fragile", ParcelKey::Fragile),
            ],
        );
        cursor.word(&WORDS, ParcelKey::from_text)
    }
}

impl<'t> Parse<'t> for Check<Parcel> {
    type Out = ();
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        let mut seen = 0_u64;
        'object: {
            let mut member = if cursor.predict(b"{\"weight\":", b"{\"weight\": ") {
                ParcelKey::Weight
            } else {
                match cursor.first_member::<ParcelKey>()? {
                    Some(member) => member,
                    None => break 'object,
                }
            };
            'members: loop {
                'm_fragile: {
                    'm_sender: {
                        'm_notes: {
                            'm_labels: {
                                'm_type: {
                                    'm_weight: {
                                        match member {
                                            ParcelKey::Weight => break 'm_weight,
                                            ParcelKey::Type => break 'm_type,
                                            ParcelKey::Labels => break 'm_labels,
                                            ParcelKey::Notes => break 'm_notes,
                                            ParcelKey::Sender => break 'm_sender,
                                            ParcelKey::Fragile => break 'm_fragile,
                                        }
                                    }
                                    once(&mut seen, 1)?;
                                    <Number<Weight> as Parse<'t>>::parse(cursor)?;
                                    if cursor.predict(b",\"type\":", b", \"type\": ") {} else {
                                        match cursor.next_member::<ParcelKey>()? {
                                            Some(other) => member = other,
                                            None => break 'object,
                                        }
                                        continue 'members;
                                    }
                                }
                                once(&mut seen, 2)?;
                                <Check<Plain> as Parse<'t>>::parse(cursor)?;
                                if cursor.predict(b",\"labels\":", b", \"labels\": ")
                                {} else {
                                    match cursor.next_member::<ParcelKey>()? {
                                        Some(other) => member = other,
                                        None => break 'object,
                                    }
                                    continue 'members;
                                }
                            }
                            once(&mut seen, 4)?;
                            <Array<
                                Check<NonEmptyText>,
                                (),
                                1,
                                3,
                            > as Parse<'t>>::parse(cursor)?;
                            if cursor.predict(b",\"notes\":", b", \"notes\": ")
                            {} else if cursor.predict(b",\"sender\":", b", \"sender\": ")
                            {
                                break 'm_sender;
                            } else if cursor
                                .predict(b",\"fragile\":", b", \"fragile\": ")
                            {
                                break 'm_fragile;
                            } else if cursor.eat(b"}") {
                                break 'object;
                            } else {
                                match cursor.next_member::<ParcelKey>()? {
                                    Some(other) => member = other,
                                    None => break 'object,
                                }
                                continue 'members;
                            }
                        }
                        once(&mut seen, 8)?;
                        <Array<
                            Check<Plain>,
                            (),
                            0,
                            { usize::MAX },
                        > as Parse<'t>>::parse(cursor)?;
                        if cursor.predict(b",\"sender\":", b", \"sender\": ")
                        {} else if cursor.predict(b",\"fragile\":", b", \"fragile\": ") {
                            break 'm_fragile;
                        } else if cursor.eat(b"}") {
                            break 'object;
                        } else {
                            match cursor.next_member::<ParcelKey>()? {
                                Some(other) => member = other,
                                None => break 'object,
                            }
                            continue 'members;
                        }
                    }
                    once(&mut seen, 16)?;
                    <Check<Plain> as Parse<'t>>::parse(cursor)?;
                    if cursor.predict(b",\"fragile\":", b", \"fragile\": ")
                    {} else if cursor.eat(b"}") {
                        break 'object;
                    } else {
                        match cursor.next_member::<ParcelKey>()? {
                            Some(other) => member = other,
                            None => break 'object,
                        }
                        continue 'members;
                    }
                }
                once(&mut seen, 32)?;
                <bool as Parse<'t>>::parse(cursor)?;
                if cursor.eat(b"}") {
                    break 'object;
                } else {
                    match cursor.next_member::<ParcelKey>()? {
                        Some(other) => member = other,
                        None => break 'object,
                    }
                    continue 'members;
                }
            }
        }
        need(seen, 7)?;
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
                example: None,
            },
            FieldShape {
                name: "type",
                description: "What sort of parcel; the name is a keyword of Rust.",
                required: true,
                rules: &[],
                shape: &PLAIN_TEXT,
                example: None,
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
                example: None,
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
                example: None,
            },
            FieldShape {
                name: "sender",
                description: "Who sent it.",
                required: false,
                rules: &[],
                shape: &PLAIN_TEXT,
                example: None,
            },
            FieldShape {
                name: "fragile",
                description: "Whether it may break.",
                required: false,
                rules: &[],
                shape: &BOOL,
                example: None,
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

object!(Parcel, PARCEL_SHAPE);

/// Requirements of the builders: each trait explains one missing or unexpected field.
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
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `weight`; it is set already",
            label = "`weight` is set twice",
            note = "set `weight` once"
        )]
        pub trait OnceWeight {}
        impl OnceWeight for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `type`; it is set already",
            label = "`type` is set twice",
            note = "set `type` once"
        )]
        pub trait OnceType {}
        impl OnceType for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `labels`; it is set already",
            label = "`labels` is set twice",
            note = "set `labels` once"
        )]
        pub trait OnceLabels {}
        impl OnceLabels for Unset {}
    }
}
