/// How a parcel went.
#[non_exhaustive]
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// What came of it.
    pub outcome: Outcome,
    /// When it was tried.
    pub attempts: Vec<String>,
    /// Why it failed, or was not tried.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub reason: Option<Option<String>>,
}

impl Delivery {
    /// Starts a `Delivery`.
    ///
    /// `build()` compiles once `outcome` and `attempts` are set.
    pub fn builder() -> DeliveryBuilder {
        DeliveryBuilder {
            required: (Unset::NEW, Unset::NEW),
            optional: DeliveryOptional::default(),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::builder`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryBuilder<A = Unset, B = Unset> {
    required: (A, B),
    optional: DeliveryOptional,
}

impl<A, B> DeliveryBuilder<A, B> {
    /// What came of it.
    pub fn outcome(self, value: Outcome) -> DeliveryBuilder<Set<Outcome>, B>
    where
        A: needs::delivery::OnceOutcome,
    {
        let (_, m1) = self.required;
        DeliveryBuilder {
            required: (Set::new(value), m1),
            optional: self.optional,
        }
    }
    /// When it was tried.
    pub fn attempts(self, value: Vec<String>) -> DeliveryBuilder<A, Set<Vec<String>>>
    where
        B: needs::delivery::OnceAttempts,
    {
        let (m0, _) = self.required;
        DeliveryBuilder {
            required: (m0, Set::new(value)),
            optional: self.optional,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(mut self, value: Option<String>) -> Self {
        self.optional.reason = Some(value);
        self
    }
    /// Why it failed, or was not tried.
    pub fn maybe_reason(mut self, value: Option<Option<String>>) -> Self {
        self.optional.reason = value;
        self
    }
}

impl<A, B> DeliveryBuilder<A, B> {
    /// Returns the `Delivery`.
    ///
    /// Conditionals and bounds that no type carries are checked here. The builders of the branches, such as `Delivery::done`, report what the conditionals require at compile time.
    ///
    /// # Errors
    /// The errors of a reader, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: needs::delivery::SetOutcome,
        B: needs::delivery::SetAttempts,
    {
        built(self.unchecked())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Delivery
    where
        A: needs::delivery::SetOutcome,
        B: needs::delivery::SetAttempts,
    {
        let (outcome, attempts) = self.required;
        let (outcome, attempts) = (Given::given(outcome), Given::given(attempts));
        let DeliveryOptional { reason, .. } = self.optional;
        Delivery {
            outcome,
            attempts,
            reason,
        }
    }
}

impl Delivery {
    /// It arrived.
    ///
    /// `build()` compiles once `attempts` is set.
    pub fn done() -> DeliveryDoneBuilder {
        DeliveryDoneBuilder {
            required: (Unset::NEW,),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::done`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryDoneBuilder<A = Unset> {
    required: (A,),
}

impl<A> DeliveryDoneBuilder<A> {
    /// When it was tried.
    pub fn attempts(self, value: Vec<String>) -> DeliveryDoneBuilder<Set<Vec<String>>>
    where
        A: needs::delivery::OnceAttempts,
    {
        DeliveryDoneBuilder {
            required: (Set::new(value),),
        }
    }
}

#[doc(hidden)]
impl<A> DeliveryDoneBuilder<A> {
    pub fn reason(self, _: Option<String>) -> Self
    where
        for<'never> &'never Unset: needs::delivery::DoneReason,
    {
        self
    }
}

impl<A> DeliveryDoneBuilder<A> {
    /// Returns the `Delivery`.
    ///
    /// # Errors
    /// The errors of a reader, if a bound that no type expresses is violated.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: needs::delivery::DoneAttempts,
    {
        built({
            let (attempts,) = self.required;
            let (attempts,) = (Given::given(attempts),);
            Delivery {
                outcome: Outcome::Done,
                attempts,
                reason: None,
            }
        })
    }
}

impl Delivery {
    /// It did not arrive, for a reason.
    ///
    /// `build()` compiles once `attempts` and `reason` are set.
    pub fn lost() -> DeliveryLostBuilder {
        DeliveryLostBuilder {
            required: (Unset::NEW, Unset::NEW),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::lost`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryLostBuilder<A = Unset, B = Unset> {
    required: (A, B),
}

impl<A, B> DeliveryLostBuilder<A, B> {
    /// When it was tried.
    pub fn attempts(self, value: Vec<String>) -> DeliveryLostBuilder<Set<Vec<String>>, B>
    where
        A: needs::delivery::OnceAttempts,
    {
        let (_, m1) = self.required;
        DeliveryLostBuilder {
            required: (Set::new(value), m1),
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(
        self,
        value: Option<String>,
    ) -> DeliveryLostBuilder<A, Set<Option<String>>>
    where
        B: needs::delivery::OnceReason,
    {
        let (m0, _) = self.required;
        DeliveryLostBuilder {
            required: (m0, Set::new(value)),
        }
    }
}

impl<A, B> DeliveryLostBuilder<A, B> {
    /// Returns the `Delivery`.
    ///
    /// # Errors
    /// The errors of a reader, if a bound that no type expresses is violated.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: needs::delivery::LostAttempts,
        B: needs::delivery::LostReason,
    {
        built({
            let (attempts, reason) = self.required;
            let (attempts, reason) = (Given::given(attempts), Given::given(reason));
            Delivery {
                outcome: Outcome::Lost,
                attempts,
                reason: Some(reason),
            }
        })
    }
}

impl Delivery {
    /// Nobody took it, for a reason.
    ///
    /// `build()` compiles once `attempts` and `reason` are set.
    pub fn refused() -> DeliveryRefusedBuilder {
        DeliveryRefusedBuilder {
            required: (Unset::NEW, Unset::NEW),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::refused`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryRefusedBuilder<A = Unset, B = Unset> {
    required: (A, B),
}

impl<A, B> DeliveryRefusedBuilder<A, B> {
    /// When it was tried.
    pub fn attempts(
        self,
        value: Vec<String>,
    ) -> DeliveryRefusedBuilder<Set<Vec<String>>, B>
    where
        A: needs::delivery::OnceAttempts,
    {
        let (_, m1) = self.required;
        DeliveryRefusedBuilder {
            required: (Set::new(value), m1),
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(
        self,
        value: Option<String>,
    ) -> DeliveryRefusedBuilder<A, Set<Option<String>>>
    where
        B: needs::delivery::OnceReason,
    {
        let (m0, _) = self.required;
        DeliveryRefusedBuilder {
            required: (m0, Set::new(value)),
        }
    }
}

impl<A, B> DeliveryRefusedBuilder<A, B> {
    /// Returns the `Delivery`.
    ///
    /// # Errors
    /// The errors of a reader, if a bound that no type expresses is violated.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: needs::delivery::RefusedAttempts,
        B: needs::delivery::RefusedReason,
    {
        built({
            let (attempts, reason) = self.required;
            let (attempts, reason) = (Given::given(attempts), Given::given(reason));
            Delivery {
                outcome: Outcome::Refused,
                attempts,
                reason: Some(reason),
            }
        })
    }
}

impl Delivery {
    /// It was never tried, for a reason.
    ///
    /// `build()` compiles once `outcome` and `reason` are set.
    pub fn untried() -> DeliveryUntriedBuilder {
        DeliveryUntriedBuilder {
            required: (Unset::NEW, Unset::NEW),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::untried`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryUntriedBuilder<A = Unset, B = Unset> {
    required: (A, B),
}

impl<A, B> DeliveryUntriedBuilder<A, B> {
    /// What came of it.
    pub fn outcome(
        self,
        value: impl needs::delivery::UntriedOutcomeValues,
    ) -> DeliveryUntriedBuilder<Set<Outcome>, B>
    where
        A: needs::delivery::OnceOutcome,
    {
        let (_, m1) = self.required;
        DeliveryUntriedBuilder {
            required: (Set::new(needs::delivery::UntriedOutcomeValues::whole(value)), m1),
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(self, value: Text) -> DeliveryUntriedBuilder<A, Set<Text>>
    where
        B: needs::delivery::OnceReason,
    {
        let (m0, _) = self.required;
        DeliveryUntriedBuilder {
            required: (m0, Set::new(value)),
        }
    }
}

impl<A, B> DeliveryUntriedBuilder<A, B> {
    /// Returns the `Delivery`.
    #[must_use]
    pub fn build(self) -> Delivery
    where
        A: needs::delivery::UntriedOutcome,
        B: needs::delivery::UntriedReason,
    {
        let (outcome, reason) = self.required;
        let (outcome, reason) = (Given::given(outcome), Given::given(reason));
        Delivery {
            outcome,
            attempts: Vec::new(),
            reason: Some(Some(String::from(reason))),
        }
    }
}

impl Delivery {
    /// It was tried at least once.
    ///
    /// `build()` compiles once `outcome` and `attempts` are set.
    pub fn tried() -> DeliveryTriedBuilder {
        DeliveryTriedBuilder {
            required: (Unset::NEW, Unset::NEW),
            optional: DeliveryOptional::default(),
        }
    }
}

/// Builds a `Delivery`: see `Delivery::tried`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryTriedBuilder<A = Unset, B = Unset> {
    required: (A, B),
    optional: DeliveryOptional,
}

impl<A, B> DeliveryTriedBuilder<A, B> {
    /// What came of it.
    pub fn outcome(self, value: Outcome) -> DeliveryTriedBuilder<Set<Outcome>, B>
    where
        A: needs::delivery::OnceOutcome,
    {
        let (_, m1) = self.required;
        DeliveryTriedBuilder {
            required: (Set::new(value), m1),
            optional: self.optional,
        }
    }
    /// When it was tried.
    pub fn attempts(
        self,
        value: impl Into<AtLeastOne<String>>,
    ) -> DeliveryTriedBuilder<A, Set<AtLeastOne<String>>>
    where
        B: needs::delivery::OnceAttempts,
    {
        let (m0, _) = self.required;
        DeliveryTriedBuilder {
            required: (m0, Set::new(value.into())),
            optional: self.optional,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(mut self, value: Option<String>) -> Self {
        self.optional.reason = Some(value);
        self
    }
    /// Why it failed, or was not tried.
    pub fn maybe_reason(mut self, value: Option<Option<String>>) -> Self {
        self.optional.reason = value;
        self
    }
}

impl<A, B> DeliveryTriedBuilder<A, B> {
    /// Returns the `Delivery`.
    ///
    /// # Errors
    /// The errors of a reader, if a bound that no type expresses is violated.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: needs::delivery::TriedOutcome,
        B: needs::delivery::TriedAttempts,
    {
        built({
            let (outcome, attempts) = self.required;
            let (outcome, attempts) = (Given::given(outcome), Given::given(attempts));
            let DeliveryOptional { reason, .. } = self.optional;
            Delivery {
                outcome,
                attempts: attempts.into_vec(),
                reason,
            }
        })
    }
}

#[derive(Clone, Debug, Default)]
struct DeliveryOptional {
    reason: Option<Option<String>>,
}

/// What came of it. In \[`Delivery::untried`], it is not `DONE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntriedOutcome {
    /// It did not arrive.
    Lost,
    /// Nobody took it.
    Refused,
}

impl From<UntriedOutcome> for Outcome {
    fn from(value: UntriedOutcome) -> Self {
        match value {
            UntriedOutcome::Lost => Self::Lost,
            UntriedOutcome::Refused => Self::Refused,
        }
    }
}

impl TryFrom<Outcome> for UntriedOutcome {
    type Error = Invalid;
    fn try_from(value: Outcome) -> Result<Self, Invalid> {
        match value {
            Outcome::Lost => Ok(Self::Lost),
            Outcome::Refused => Ok(Self::Refused),
            other => {
                Err(
                    Invalid::new(
                        "UntriedOutcome",
                        "`LOST` or `REFUSED`",
                        other.to_string(),
                    ),
                )
            }
        }
    }
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

impl DeliveryKey {
    fn from_text(name: &str) -> Option<Self> {
        match name {
            "outcome" => Some(DeliveryKey::Outcome),
            "attempts" => Some(DeliveryKey::Attempts),
            "reason" => Some(DeliveryKey::Reason),
            _ => None,
        }
    }
}

impl<'t> Parse<'t> for DeliveryKey {
    type Out = Self;
    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        static WORDS: Words<DeliveryKey, 4> = Words::new(
            72057594037927935,
            1663341875487337577,
            [
                ("outcome", DeliveryKey::Outcome),
                ("attempts", DeliveryKey::Attempts),
                ("reason", DeliveryKey::Reason),
            ],
        );
        cursor.word(&WORDS, DeliveryKey::from_text)
    }
}

impl<'t> Parse<'t> for Check<Delivery> {
    type Out = ();
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        let mut seen = 0_u64;
        let mut m_outcome: Option<Outcome> = None;
        let mut m_attempts: Option<((), usize)> = None;
        let mut m_reason: Option<bool> = None;
        'object: {
            let mut member = if cursor.predict(b"{\"outcome\":", b"{\"outcome\": ") {
                DeliveryKey::Outcome
            } else {
                match cursor.first_member::<DeliveryKey>()? {
                    Some(member) => member,
                    None => break 'object,
                }
            };
            'members: loop {
                'm_reason: {
                    'm_attempts: {
                        'm_outcome: {
                            match member {
                                DeliveryKey::Outcome => break 'm_outcome,
                                DeliveryKey::Attempts => break 'm_attempts,
                                DeliveryKey::Reason => break 'm_reason,
                            }
                        }
                        once(&mut seen, 1)?;
                        m_outcome = Some(<Outcome as Parse<'t>>::parse(cursor)?);
                        if cursor.predict(b",\"attempts\":", b", \"attempts\": ")
                        {} else {
                            match cursor.next_member::<DeliveryKey>()? {
                                Some(other) => member = other,
                                None => break 'object,
                            }
                            continue 'members;
                        }
                    }
                    once(&mut seen, 2)?;
                    m_attempts = Some(
                        <Array<
                            Check<Plain>,
                            (),
                            0,
                            { usize::MAX },
                        > as Parse<'t>>::parse(cursor)?,
                    );
                    if cursor.predict(b",\"reason\":", b", \"reason\": ")
                    {} else if cursor.eat(b"}") {
                        break 'object;
                    } else {
                        match cursor.next_member::<DeliveryKey>()? {
                            Some(other) => member = other,
                            None => break 'object,
                        }
                        continue 'members;
                    }
                }
                once(&mut seen, 4)?;
                m_reason = Some(<Nullable as Parse<'t>>::parse(cursor)?);
                if cursor.eat(b"}") {
                    break 'object;
                } else {
                    match cursor.next_member::<DeliveryKey>()? {
                        Some(other) => member = other,
                        None => break 'object,
                    }
                    continue 'members;
                }
            }
        }
        need(seen, 3)?;
        if matches!(m_outcome, Some(Outcome::Lost | Outcome::Refused)) && seen & 4 == 0 {
            return Err(Refusal);
        }
        if matches!(m_attempts, Some((_, 0)))
            && !m_reason.as_ref().is_some_and(NonEmpty::non_empty)
        {
            return Err(Refusal);
        }
        Ok(())
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
                example: None,
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
                example: None,
            },
            FieldShape {
                name: "reason",
                description: "Why it failed, or was not tried.",
                required: false,
                rules: &[],
                shape: &NULLABLE_TEXT,
                example: None,
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

object!(Delivery, DELIVERY_SHAPE);

/// Requirements of the builders: each trait explains one missing or unexpected field.
#[doc(hidden)]
pub mod needs {
    use super::*;
    /// What the builders of `Delivery` require.
    pub mod delivery {
        use super::*;
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `outcome`; `Delivery::builder()` requires it",
            label = "`outcome` is not set",
            note = "every `Delivery` has the field `outcome`",
            note = "add `.outcome(..)` before `.build()`: what came of it"
        )]
        pub trait SetOutcome: Given<Outcome> {}
        #[diagnostic::do_not_recommend]
        impl SetOutcome for Set<Outcome> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `attempts`; `Delivery::builder()` requires it",
            label = "`attempts` is not set",
            note = "every `Delivery` has the field `attempts`",
            note = "add `.attempts(..)` before `.build()`: when it was tried"
        )]
        pub trait SetAttempts: Given<Vec<String>> {}
        #[diagnostic::do_not_recommend]
        impl SetAttempts for Set<Vec<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `attempts`; `Delivery::done()` requires it",
            label = "`attempts` is not set",
            note = "every `Delivery` has the field `attempts`",
            note = "add `.attempts(..)` before `.build()`: when it was tried"
        )]
        pub trait DoneAttempts: Given<Vec<String>> {}
        #[diagnostic::do_not_recommend]
        impl DoneAttempts for Set<Vec<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: unexpected field `reason`; `Delivery::done()` leaves it out",
            label = "`reason` cannot be set here",
            note = "nothing went wrong; begin with `lost()` or `refused()`"
        )]
        pub trait DoneReason {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `attempts`; `Delivery::lost()` requires it",
            label = "`attempts` is not set",
            note = "every `Delivery` has the field `attempts`",
            note = "add `.attempts(..)` before `.build()`: when it was tried"
        )]
        pub trait LostAttempts: Given<Vec<String>> {}
        #[diagnostic::do_not_recommend]
        impl LostAttempts for Set<Vec<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `reason`; `Delivery::lost()` requires it",
            label = "`reason` is not set",
            note = "A delivery that failed has a reason, if only `null`.",
            note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
        )]
        pub trait LostReason: Given<Option<String>> {}
        #[diagnostic::do_not_recommend]
        impl LostReason for Set<Option<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `attempts`; `Delivery::refused()` requires it",
            label = "`attempts` is not set",
            note = "every `Delivery` has the field `attempts`",
            note = "add `.attempts(..)` before `.build()`: when it was tried"
        )]
        pub trait RefusedAttempts: Given<Vec<String>> {}
        #[diagnostic::do_not_recommend]
        impl RefusedAttempts for Set<Vec<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `reason`; `Delivery::refused()` requires it",
            label = "`reason` is not set",
            note = "A delivery that failed has a reason, if only `null`.",
            note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
        )]
        pub trait RefusedReason: Given<Option<String>> {}
        #[diagnostic::do_not_recommend]
        impl RefusedReason for Set<Option<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `outcome`; `Delivery::untried()` requires it",
            label = "`outcome` is not set",
            note = "every `Delivery` has the field `outcome`",
            note = "add `.outcome(..)` before `.build()`: what came of it"
        )]
        pub trait UntriedOutcome: Given<Outcome> {}
        #[diagnostic::do_not_recommend]
        impl UntriedOutcome for Set<Outcome> {}
        #[diagnostic::on_unimplemented(
            message = "INV-001: missing field `reason`; `Delivery::untried()` requires it",
            label = "`reason` is not set",
            note = "Without an attempt, a non-empty reason is required.",
            note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
        )]
        pub trait UntriedReason: Given<Text> {}
        #[diagnostic::do_not_recommend]
        impl UntriedReason for Set<Text> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: `outcome` of `Delivery::untried()` cannot be `DONE`, which a `{Self}` may be",
            label = "not narrowed",
            note = "use `UntriedOutcome`, which has the other values",
            note = "what was never tried has not arrived; begin with `tried()`"
        )]
        pub trait UntriedOutcomeValues {
            fn whole(self) -> Outcome;
        }
        impl UntriedOutcomeValues for super::super::UntriedOutcome {
            fn whole(self) -> Outcome {
                self.into()
            }
        }
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `outcome`; `Delivery::tried()` requires it",
            label = "`outcome` is not set",
            note = "every `Delivery` has the field `outcome`",
            note = "add `.outcome(..)` before `.build()`: what came of it"
        )]
        pub trait TriedOutcome: Given<Outcome> {}
        #[diagnostic::do_not_recommend]
        impl TriedOutcome for Set<Outcome> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `attempts`; `Delivery::tried()` requires it",
            label = "`attempts` is not set",
            note = "every `Delivery` has the field `attempts`",
            note = "add `.attempts(..)` before `.build()`: when it was tried"
        )]
        pub trait TriedAttempts: Given<AtLeastOne<String>> {}
        #[diagnostic::do_not_recommend]
        impl TriedAttempts for Set<AtLeastOne<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `outcome`; it is set already",
            label = "`outcome` is set twice",
            note = "set `outcome` once"
        )]
        pub trait OnceOutcome {}
        impl OnceOutcome for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `attempts`; it is set already",
            label = "`attempts` is set twice",
            note = "set `attempts` once"
        )]
        pub trait OnceAttempts {}
        impl OnceAttempts for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `reason`; it is set already",
            label = "`reason` is set twice",
            note = "set `reason` once"
        )]
        pub trait OnceReason {}
        impl OnceReason for Unset {}
    }
}
