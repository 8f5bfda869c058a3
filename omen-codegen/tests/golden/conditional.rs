/// How a parcel went.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::bon::Builder)]
#[builder(on(::std::string::String, into), finish_fn(name = finish, vis = ""))]
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

impl<S: delivery_builder::State> DeliveryBuilder<S> {
    /// The `Delivery`, if it is as its schema says.
    ///
    /// Conditionals and bounds that no type carries are checked here. The builders of the branches, such as `Delivery::done`, ask for what the conditionals demand where it is missing, when the program is compiled.
    ///
    /// # Errors
    /// What a reader would report, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        S: delivery_builder::IsComplete,
    {
        built(self.finish())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Delivery
    where
        S: delivery_builder::IsComplete,
    {
        self.finish()
    }
}

impl Delivery {
    /// It arrived.
    ///
    /// `build()` compiles once `attempts` is set.
    pub fn done() -> DeliveryDoneBuilder<Unset> {
        DeliveryDoneBuilder {
            attempts: Unset::NEW,
        }
    }
}

/// Builds a `Delivery`: see `Delivery::done`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryDoneBuilder<A> {
    attempts: A,
}

impl<A> DeliveryDoneBuilder<A> {
    /// When it was tried.
    pub fn attempts(
        self,
        value: ::std::vec::Vec<::std::string::String>,
    ) -> DeliveryDoneBuilder<Set<::std::vec::Vec<::std::string::String>>>
    where
        A: NotSet,
    {
        DeliveryDoneBuilder {
            attempts: Set::new(value),
        }
    }
}

#[doc(hidden)]
impl<A> DeliveryDoneBuilder<A> {
    pub fn reason(self, _: Option<::std::string::String>) -> Self
    where
        for<'never> &'never Unset: delivery_needs::DoneReason,
    {
        self
    }
}

impl<A> DeliveryDoneBuilder<A> {
    /// The `Delivery`.
    ///
    /// # Errors
    /// If a bound is not kept that no type carries: what a reader would report.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: delivery_needs::DoneAttempts,
    {
        let Self { attempts } = self;
        let attempts = delivery_needs::DoneAttempts::given(attempts);
        built(Delivery {
            outcome: Outcome::Done,
            attempts,
            reason: None,
        })
    }
}

impl Delivery {
    /// It did not arrive, for a reason.
    ///
    /// `build()` compiles once `attempts` and `reason` are set.
    pub fn lost() -> DeliveryLostBuilder<Unset, Unset> {
        DeliveryLostBuilder {
            attempts: Unset::NEW,
            reason: Unset::NEW,
        }
    }
}

/// Builds a `Delivery`: see `Delivery::lost`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryLostBuilder<A, B> {
    attempts: A,
    reason: B,
}

impl<A, B> DeliveryLostBuilder<A, B> {
    /// When it was tried.
    pub fn attempts(
        self,
        value: ::std::vec::Vec<::std::string::String>,
    ) -> DeliveryLostBuilder<Set<::std::vec::Vec<::std::string::String>>, B>
    where
        A: NotSet,
    {
        DeliveryLostBuilder {
            attempts: Set::new(value),
            reason: self.reason,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(
        self,
        value: Option<::std::string::String>,
    ) -> DeliveryLostBuilder<A, Set<Option<::std::string::String>>>
    where
        B: NotSet,
    {
        DeliveryLostBuilder {
            attempts: self.attempts,
            reason: Set::new(value),
        }
    }
}

impl<A, B> DeliveryLostBuilder<A, B> {
    /// The `Delivery`.
    ///
    /// # Errors
    /// If a bound is not kept that no type carries: what a reader would report.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: delivery_needs::LostAttempts,
        B: delivery_needs::LostReason,
    {
        let Self { attempts, reason } = self;
        let attempts = delivery_needs::LostAttempts::given(attempts);
        let reason = delivery_needs::LostReason::given(reason);
        built(Delivery {
            outcome: Outcome::Lost,
            attempts,
            reason: Some(reason),
        })
    }
}

impl Delivery {
    /// Nobody took it, for a reason.
    ///
    /// `build()` compiles once `attempts` and `reason` are set.
    pub fn refused() -> DeliveryRefusedBuilder<Unset, Unset> {
        DeliveryRefusedBuilder {
            attempts: Unset::NEW,
            reason: Unset::NEW,
        }
    }
}

/// Builds a `Delivery`: see `Delivery::refused`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryRefusedBuilder<A, B> {
    attempts: A,
    reason: B,
}

impl<A, B> DeliveryRefusedBuilder<A, B> {
    /// When it was tried.
    pub fn attempts(
        self,
        value: ::std::vec::Vec<::std::string::String>,
    ) -> DeliveryRefusedBuilder<Set<::std::vec::Vec<::std::string::String>>, B>
    where
        A: NotSet,
    {
        DeliveryRefusedBuilder {
            attempts: Set::new(value),
            reason: self.reason,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(
        self,
        value: Option<::std::string::String>,
    ) -> DeliveryRefusedBuilder<A, Set<Option<::std::string::String>>>
    where
        B: NotSet,
    {
        DeliveryRefusedBuilder {
            attempts: self.attempts,
            reason: Set::new(value),
        }
    }
}

impl<A, B> DeliveryRefusedBuilder<A, B> {
    /// The `Delivery`.
    ///
    /// # Errors
    /// If a bound is not kept that no type carries: what a reader would report.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: delivery_needs::RefusedAttempts,
        B: delivery_needs::RefusedReason,
    {
        let Self { attempts, reason } = self;
        let attempts = delivery_needs::RefusedAttempts::given(attempts);
        let reason = delivery_needs::RefusedReason::given(reason);
        built(Delivery {
            outcome: Outcome::Refused,
            attempts,
            reason: Some(reason),
        })
    }
}

impl Delivery {
    /// It was never tried, for a reason.
    ///
    /// `build()` compiles once `outcome` and `reason` are set.
    pub fn untried() -> DeliveryUntriedBuilder<Unset, Unset> {
        DeliveryUntriedBuilder {
            outcome: Unset::NEW,
            reason: Unset::NEW,
        }
    }
}

/// Builds a `Delivery`: see `Delivery::untried`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryUntriedBuilder<A, B> {
    outcome: A,
    reason: B,
}

impl<A, B> DeliveryUntriedBuilder<A, B> {
    /// What came of it.
    pub fn outcome(self, value: Outcome) -> DeliveryUntriedBuilder<Set<Outcome>, B>
    where
        A: NotSet,
    {
        DeliveryUntriedBuilder {
            outcome: Set::new(value),
            reason: self.reason,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(self, value: Text) -> DeliveryUntriedBuilder<A, Set<Text>>
    where
        B: NotSet,
    {
        DeliveryUntriedBuilder {
            outcome: self.outcome,
            reason: Set::new(value),
        }
    }
}

impl<A, B> DeliveryUntriedBuilder<A, B> {
    /// The `Delivery`.
    #[must_use]
    pub fn build(self) -> Delivery
    where
        A: delivery_needs::UntriedOutcome,
        B: delivery_needs::UntriedReason,
    {
        let Self { outcome, reason } = self;
        let outcome = delivery_needs::UntriedOutcome::given(outcome);
        let reason = delivery_needs::UntriedReason::given(reason);
        Delivery {
            outcome,
            attempts: ::std::vec::Vec::new(),
            reason: Some(Some(::std::string::String::from(reason))),
        }
    }
}

impl Delivery {
    /// It was tried at least once.
    ///
    /// `build()` compiles once `outcome` and `attempts` are set.
    pub fn tried() -> DeliveryTriedBuilder<Unset, Unset> {
        DeliveryTriedBuilder {
            outcome: Unset::NEW,
            attempts: Unset::NEW,
            reason: None,
        }
    }
}

/// Builds a `Delivery`: see `Delivery::tried`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct DeliveryTriedBuilder<A, B> {
    outcome: A,
    attempts: B,
    reason: ::std::option::Option<Option<::std::string::String>>,
}

impl<A, B> DeliveryTriedBuilder<A, B> {
    /// What came of it.
    pub fn outcome(self, value: Outcome) -> DeliveryTriedBuilder<Set<Outcome>, B>
    where
        A: NotSet,
    {
        DeliveryTriedBuilder {
            outcome: Set::new(value),
            attempts: self.attempts,
            reason: self.reason,
        }
    }
    /// When it was tried.
    pub fn attempts(
        self,
        value: impl Into<AtLeastOne<::std::string::String>>,
    ) -> DeliveryTriedBuilder<A, Set<AtLeastOne<::std::string::String>>>
    where
        B: NotSet,
    {
        DeliveryTriedBuilder {
            outcome: self.outcome,
            attempts: Set::new(value.into()),
            reason: self.reason,
        }
    }
    /// Why it failed, or was not tried.
    pub fn reason(mut self, value: Option<::std::string::String>) -> Self {
        self.reason = Some(value);
        self
    }
    /// Why it failed, or was not tried.
    pub fn maybe_reason(
        mut self,
        value: ::std::option::Option<Option<::std::string::String>>,
    ) -> Self {
        self.reason = value;
        self
    }
}

impl<A, B> DeliveryTriedBuilder<A, B> {
    /// The `Delivery`.
    ///
    /// # Errors
    /// If a bound is not kept that no type carries: what a reader would report.
    pub fn build(self) -> Result<Delivery, Box<Rejected>>
    where
        A: delivery_needs::TriedOutcome,
        B: delivery_needs::TriedAttempts,
    {
        let Self { outcome, attempts, reason } = self;
        let outcome = delivery_needs::TriedOutcome::given(outcome);
        let attempts = delivery_needs::TriedAttempts::given(attempts);
        built(Delivery {
            outcome,
            attempts: attempts.into_vec(),
            reason,
        })
    }
}

/// What the builders of `Delivery` ask for: each trait explains itself.
#[doc(hidden)]
pub mod delivery_needs {
    use super::*;
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `attempts`; `Delivery::done()` requires it",
        label = "`attempts` is not set",
        note = "every `Delivery` has the field `attempts`",
        note = "add `.attempts(..)` before `.build()`: when it was tried"
    )]
    pub trait DoneAttempts {
        #[allow(missing_docs)]
        fn given(self) -> ::std::vec::Vec<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl DoneAttempts for Set<::std::vec::Vec<::std::string::String>> {
        fn given(self) -> ::std::vec::Vec<::std::string::String> {
            self.into_value()
        }
    }
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
    pub trait LostAttempts {
        #[allow(missing_docs)]
        fn given(self) -> ::std::vec::Vec<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl LostAttempts for Set<::std::vec::Vec<::std::string::String>> {
        fn given(self) -> ::std::vec::Vec<::std::string::String> {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `reason`; `Delivery::lost()` requires it",
        label = "`reason` is not set",
        note = "A delivery that failed has a reason, if only `null`.",
        note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
    )]
    pub trait LostReason {
        #[allow(missing_docs)]
        fn given(self) -> Option<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl LostReason for Set<Option<::std::string::String>> {
        fn given(self) -> Option<::std::string::String> {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `attempts`; `Delivery::refused()` requires it",
        label = "`attempts` is not set",
        note = "every `Delivery` has the field `attempts`",
        note = "add `.attempts(..)` before `.build()`: when it was tried"
    )]
    pub trait RefusedAttempts {
        #[allow(missing_docs)]
        fn given(self) -> ::std::vec::Vec<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl RefusedAttempts for Set<::std::vec::Vec<::std::string::String>> {
        fn given(self) -> ::std::vec::Vec<::std::string::String> {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `reason`; `Delivery::refused()` requires it",
        label = "`reason` is not set",
        note = "A delivery that failed has a reason, if only `null`.",
        note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
    )]
    pub trait RefusedReason {
        #[allow(missing_docs)]
        fn given(self) -> Option<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl RefusedReason for Set<Option<::std::string::String>> {
        fn given(self) -> Option<::std::string::String> {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `outcome`; `Delivery::untried()` requires it",
        label = "`outcome` is not set",
        note = "every `Delivery` has the field `outcome`",
        note = "add `.outcome(..)` before `.build()`: what came of it"
    )]
    pub trait UntriedOutcome {
        #[allow(missing_docs)]
        fn given(self) -> Outcome;
    }
    #[diagnostic::do_not_recommend]
    impl UntriedOutcome for Set<Outcome> {
        fn given(self) -> Outcome {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "INV-001: missing field `reason`; `Delivery::untried()` requires it",
        label = "`reason` is not set",
        note = "Without an attempt, a non-empty reason is required.",
        note = "add `.reason(..)` before `.build()`: why it failed, or was not tried"
    )]
    pub trait UntriedReason {
        #[allow(missing_docs)]
        fn given(self) -> Text;
    }
    #[diagnostic::do_not_recommend]
    impl UntriedReason for Set<Text> {
        fn given(self) -> Text {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `outcome`; `Delivery::tried()` requires it",
        label = "`outcome` is not set",
        note = "every `Delivery` has the field `outcome`",
        note = "add `.outcome(..)` before `.build()`: what came of it"
    )]
    pub trait TriedOutcome {
        #[allow(missing_docs)]
        fn given(self) -> Outcome;
    }
    #[diagnostic::do_not_recommend]
    impl TriedOutcome for Set<Outcome> {
        fn given(self) -> Outcome {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `attempts`; `Delivery::tried()` requires it",
        label = "`attempts` is not set",
        note = "every `Delivery` has the field `attempts`",
        note = "add `.attempts(..)` before `.build()`: when it was tried"
    )]
    pub trait TriedAttempts {
        #[allow(missing_docs)]
        fn given(self) -> AtLeastOne<::std::string::String>;
    }
    #[diagnostic::do_not_recommend]
    impl TriedAttempts for Set<AtLeastOne<::std::string::String>> {
        fn given(self) -> AtLeastOne<::std::string::String> {
            self.into_value()
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
