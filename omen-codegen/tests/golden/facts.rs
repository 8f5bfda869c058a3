/// An order.
#[non_exhaustive]
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Its identifier.
    pub id: OrderId,
    /// Who ordered.
    pub customer: String,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// What was ordered.
    pub lines: Vec<String>,
}

impl Order {
    /// Starts a `Order`.
    ///
    /// `build()` compiles once `id`, `customer`, `placed_at` and `lines` are set.
    pub fn builder() -> OrderBuilder {
        OrderBuilder {
            required: (Unset::NEW, Unset::NEW, Unset::NEW, Unset::NEW),
        }
    }
}

/// Builds a `Order`: see `Order::builder`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct OrderBuilder<A = Unset, B = Unset, C = Unset, D = Unset> {
    required: (A, B, C, D),
}

impl<A, B, C, D> OrderBuilder<A, B, C, D> {
    /// Its identifier.
    pub fn id(self, value: OrderId) -> OrderBuilder<Set<OrderId>, B, C, D>
    where
        A: needs::order::OnceId,
    {
        let (_, m1, m2, m3) = self.required;
        OrderBuilder {
            required: (Set::new(value), m1, m2, m3),
        }
    }
    /// Who ordered.
    pub fn customer(self, value: impl Into<String>) -> OrderBuilder<A, Set<String>, C, D>
    where
        B: needs::order::OnceCustomer,
    {
        let (m0, _, m2, m3) = self.required;
        OrderBuilder {
            required: (m0, Set::new(value.into()), m2, m3),
        }
    }
    /// When it was placed.
    pub fn placed_at(self, value: Timestamp) -> OrderBuilder<A, B, Set<Timestamp>, D>
    where
        C: needs::order::OncePlacedAt,
    {
        let (m0, m1, _, m3) = self.required;
        OrderBuilder {
            required: (m0, m1, Set::new(value), m3),
        }
    }
    /// What was ordered.
    pub fn lines(self, value: Vec<String>) -> OrderBuilder<A, B, C, Set<Vec<String>>>
    where
        D: needs::order::OnceLines,
    {
        let (m0, m1, m2, _) = self.required;
        OrderBuilder {
            required: (m0, m1, m2, Set::new(value)),
        }
    }
}

impl<A, B, C, D> OrderBuilder<A, B, C, D> {
    /// Returns the `Order`.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// The errors of a reader, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Order, Box<Rejected>>
    where
        A: needs::order::SetId,
        B: needs::order::SetCustomer,
        C: needs::order::SetPlacedAt,
        D: needs::order::SetLines,
    {
        built(self.unchecked())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Order
    where
        A: needs::order::SetId,
        B: needs::order::SetCustomer,
        C: needs::order::SetPlacedAt,
        D: needs::order::SetLines,
    {
        let (id, customer, placed_at, lines) = self.required;
        let (id, customer, placed_at, lines) = (
            Given::given(id),
            Given::given(customer),
            Given::given(placed_at),
            Given::given(lines),
        );
        Order {
            id,
            customer,
            placed_at,
            lines,
        }
    }
}

#[derive(Clone, Copy)]
enum OrderKey {
    Id,
    Customer,
    PlacedAt,
    Lines,
}

impl OrderKey {
    fn from_text(name: &str) -> Option<Self> {
        match name {
            "id" => Some(OrderKey::Id),
            "customer" => Some(OrderKey::Customer),
            "placed_at" => Some(OrderKey::PlacedAt),
            "lines" => Some(OrderKey::Lines),
            _ => None,
        }
    }
}

impl<'t> Parse<'t> for OrderKey {
    type Out = Self;
    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        static WORDS: Words<OrderKey, 4> = Words::new(
            16777215,
            6653367501949350309,
            [
                ("id", OrderKey::Id),
                ("customer", OrderKey::Customer),
                ("placed_at", OrderKey::PlacedAt),
                ("lines", OrderKey::Lines),
            ],
        );
        cursor.word(&WORDS, OrderKey::from_text)
    }
}

impl<'t> Parse<'t> for Check<Order> {
    type Out = ();
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        let mut seen = 0_u64;
        'object: {
            let mut member = if cursor.predict(b"{\"id\":", b"{\"id\": ") {
                OrderKey::Id
            } else {
                match cursor.first_member::<OrderKey>()? {
                    Some(member) => member,
                    None => break 'object,
                }
            };
            'members: loop {
                'm_lines: {
                    'm_placed_at: {
                        'm_customer: {
                            'm_id: {
                                match member {
                                    OrderKey::Id => break 'm_id,
                                    OrderKey::Customer => break 'm_customer,
                                    OrderKey::PlacedAt => break 'm_placed_at,
                                    OrderKey::Lines => break 'm_lines,
                                }
                            }
                            once(&mut seen, 1)?;
                            <Check<Pattern<OrderId>> as Parse<'t>>::parse(cursor)?;
                            if cursor.predict(b",\"customer\":", b", \"customer\": ")
                            {} else {
                                match cursor.next_member::<OrderKey>()? {
                                    Some(other) => member = other,
                                    None => break 'object,
                                }
                                continue 'members;
                            }
                        }
                        once(&mut seen, 2)?;
                        <Check<Plain> as Parse<'t>>::parse(cursor)?;
                        if cursor.predict(b",\"placed_at\":", b", \"placed_at\": ")
                        {} else {
                            match cursor.next_member::<OrderKey>()? {
                                Some(other) => member = other,
                                None => break 'object,
                            }
                            continue 'members;
                        }
                    }
                    once(&mut seen, 4)?;
                    <Instant as Parse<'t>>::parse(cursor)?;
                    if cursor.predict(b",\"lines\":", b", \"lines\": ") {} else {
                        match cursor.next_member::<OrderKey>()? {
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
                    1,
                    { usize::MAX },
                > as Parse<'t>>::parse(cursor)?;
                if cursor.eat(b"}") {
                    break 'object;
                } else {
                    match cursor.next_member::<OrderKey>()? {
                        Some(other) => member = other,
                        None => break 'object,
                    }
                    continue 'members;
                }
            }
        }
        need(seen, 15)?;
        Ok(())
    }
}

static ORDER_SHAPE: Shape = Shape {
    name: "Order",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "id",
                description: "Its identifier.",
                required: true,
                rules: &[],
                shape: &ORDER_ID_SHAPE,
                example: None,
            },
            FieldShape {
                name: "customer",
                description: "Who ordered.",
                required: true,
                rules: &[],
                shape: &PLAIN_TEXT,
                example: None,
            },
            FieldShape {
                name: "placed_at",
                description: "When it was placed.",
                required: true,
                rules: &[],
                shape: &TIMESTAMP_SHAPE,
                example: None,
            },
            FieldShape {
                name: "lines",
                description: "What was ordered.",
                required: true,
                rules: &[],
                shape: &Shape {
                    name: "",
                    kind: ShapeKind::Array {
                        item: &PLAIN_TEXT,
                        min: 1,
                        max: None,
                    },
                },
                example: None,
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

object!(Order, ORDER_SHAPE);

/// Facts of objects: the fields that rules check.
#[doc(hidden)]
pub mod facts {
    use super::*;
    /// The members of `Order` that rules check.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct OrderFacts<'t> {
        /// Its identifier.
        pub id: Cow<'t, str>,
        /// When it was placed.
        pub placed_at: Instant,
        /// What was ordered.
        pub lines: crate::order::LineCount,
    }
    impl<'t> Parse<'t> for OrderFacts<'t> {
        type Out = OrderFacts<'t>;
        fn parse(cursor: &mut Cursor<'t>) -> ParseResult<OrderFacts<'t>> {
            let mut seen = 0_u64;
            let mut m_id: Option<Cow<'t, str>> = None;
            let mut m_placed_at: Option<Instant> = None;
            let mut m_lines: Option<(crate::order::LineCount, usize)> = None;
            'object: {
                let mut member = if cursor.predict(b"{\"id\":", b"{\"id\": ") {
                    OrderKey::Id
                } else {
                    match cursor.first_member::<OrderKey>()? {
                        Some(member) => member,
                        None => break 'object,
                    }
                };
                'members: loop {
                    'm_lines: {
                        'm_placed_at: {
                            'm_customer: {
                                'm_id: {
                                    match member {
                                        OrderKey::Id => break 'm_id,
                                        OrderKey::Customer => break 'm_customer,
                                        OrderKey::PlacedAt => break 'm_placed_at,
                                        OrderKey::Lines => break 'm_lines,
                                    }
                                }
                                once(&mut seen, 1)?;
                                m_id = Some(
                                    <Pattern<OrderId> as Parse<'t>>::parse(cursor)?,
                                );
                                if cursor.predict(b",\"customer\":", b", \"customer\": ")
                                {} else {
                                    match cursor.next_member::<OrderKey>()? {
                                        Some(other) => member = other,
                                        None => break 'object,
                                    }
                                    continue 'members;
                                }
                            }
                            once(&mut seen, 2)?;
                            <Check<Plain> as Parse<'t>>::parse(cursor)?;
                            if cursor.predict(b",\"placed_at\":", b", \"placed_at\": ")
                            {} else {
                                match cursor.next_member::<OrderKey>()? {
                                    Some(other) => member = other,
                                    None => break 'object,
                                }
                                continue 'members;
                            }
                        }
                        once(&mut seen, 4)?;
                        m_placed_at = Some(<Instant as Parse<'t>>::parse(cursor)?);
                        if cursor.predict(b",\"lines\":", b", \"lines\": ") {} else {
                            match cursor.next_member::<OrderKey>()? {
                                Some(other) => member = other,
                                None => break 'object,
                            }
                            continue 'members;
                        }
                    }
                    once(&mut seen, 8)?;
                    m_lines = Some(
                        <Array<
                            Plain,
                            crate::order::LineCount,
                            1,
                            { usize::MAX },
                        > as Parse<'t>>::parse(cursor)?,
                    );
                    if cursor.eat(b"}") {
                        break 'object;
                    } else {
                        match cursor.next_member::<OrderKey>()? {
                            Some(other) => member = other,
                            None => break 'object,
                        }
                        continue 'members;
                    }
                }
            }
            need(seen, 15)?;
            Ok(OrderFacts {
                id: m_id.ok_or(Refusal)?,
                placed_at: m_placed_at.ok_or(Refusal)?,
                lines: m_lines.ok_or(Refusal)?.0,
            })
        }
    }
}

#[doc(hidden)]
pub use facts::*;

/// Requirements of the builders: each trait explains one missing or unexpected field.
#[doc(hidden)]
pub mod needs {
    use super::*;
    /// What the builders of `Order` require.
    pub mod order {
        use super::*;
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `id`; `Order::builder()` requires it",
            label = "`id` is not set",
            note = "every `Order` has the field `id`",
            note = "add `.id(..)` before `.build()`: its identifier"
        )]
        pub trait SetId: Given<OrderId> {}
        #[diagnostic::do_not_recommend]
        impl SetId for Set<OrderId> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `customer`; `Order::builder()` requires it",
            label = "`customer` is not set",
            note = "every `Order` has the field `customer`",
            note = "add `.customer(..)` before `.build()`: who ordered"
        )]
        pub trait SetCustomer: Given<String> {}
        #[diagnostic::do_not_recommend]
        impl SetCustomer for Set<String> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `placed_at`; `Order::builder()` requires it",
            label = "`placed_at` is not set",
            note = "every `Order` has the field `placed_at`",
            note = "add `.placed_at(..)` before `.build()`: when it was placed"
        )]
        pub trait SetPlacedAt: Given<Timestamp> {}
        #[diagnostic::do_not_recommend]
        impl SetPlacedAt for Set<Timestamp> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `lines`; `Order::builder()` requires it",
            label = "`lines` is not set",
            note = "every `Order` has the field `lines`",
            note = "add `.lines(..)` before `.build()`: what was ordered"
        )]
        pub trait SetLines: Given<Vec<String>> {}
        #[diagnostic::do_not_recommend]
        impl SetLines for Set<Vec<String>> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `id`; it is set already",
            label = "`id` is set twice",
            note = "set `id` once"
        )]
        pub trait OnceId {}
        impl OnceId for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `customer`; it is set already",
            label = "`customer` is set twice",
            note = "set `customer` once"
        )]
        pub trait OnceCustomer {}
        impl OnceCustomer for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `placed_at`; it is set already",
            label = "`placed_at` is set twice",
            note = "set `placed_at` once"
        )]
        pub trait OncePlacedAt {}
        impl OncePlacedAt for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `lines`; it is set already",
            label = "`lines` is set twice",
            note = "set `lines` once"
        )]
        pub trait OnceLines {}
        impl OnceLines for Unset {}
    }
}
