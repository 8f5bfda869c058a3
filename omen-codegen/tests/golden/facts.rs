/// An order.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::bon::Builder)]
#[builder(on(::std::string::String, into), finish_fn(name = finish, vis = ""))]
#[non_exhaustive]
pub struct Order {
    /// Its identifier.
    pub id: OrderId,
    /// Who ordered.
    pub customer: ::std::string::String,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// What was ordered.
    pub lines: ::std::vec::Vec<::std::string::String>,
}

impl<S: order_builder::State> OrderBuilder<S> {
    /// The `Order`, if it is as its schema says.
    ///
    /// Conditionals and bounds that no type carries are checked here.
    ///
    /// # Errors
    /// What a reader would report, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<Order, Box<Rejected>>
    where
        S: order_builder::IsComplete,
    {
        built(self.finish())
    }
    #[doc(hidden)]
    #[must_use]
    pub fn unchecked(self) -> Order
    where
        S: order_builder::IsComplete,
    {
        self.finish()
    }
}

#[derive(Clone, Copy)]
enum OrderKey {
    Id,
    Customer,
    PlacedAt,
    Lines,
}

impl Key for OrderKey {
    const NAMES: &'static [&'static str] = &["id", "customer", "placed_at", "lines"];
    const ALL: &'static [Self] = &[
        OrderKey::Id,
        OrderKey::Customer,
        OrderKey::PlacedAt,
        OrderKey::Lines,
    ];
    #[inline]
    fn of(name: &str) -> Option<Self> {
        match name {
            "id" => Some(OrderKey::Id),
            "customer" => Some(OrderKey::Customer),
            "placed_at" => Some(OrderKey::PlacedAt),
            "lines" => Some(OrderKey::Lines),
            _ => None,
        }
    }
}

impl<'de> Read<'de> for Order {
    type Out = Order;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Order, D::Error> {
        deserializer.deserialize_map(Seed::<Order>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Order> {
    type Value = Order;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Order)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Order, A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_id: Option<OrderId> = None;
        let mut m_customer: Option<String> = None;
        let mut m_placed_at: Option<Timestamp> = None;
        let mut m_lines: Option<(Vec<String>, usize)> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<OrderKey>::new(next))? {
            next = key as usize + 1;
            match key {
                OrderKey::Id => {
                    once(&mut seen, 1)?;
                    m_id = Some(map.next_value_seed(Seed::<OwnedText<OrderId>>::new())?);
                }
                OrderKey::Customer => {
                    once(&mut seen, 2)?;
                    m_customer = Some(map.next_value_seed(Seed::<String>::new())?);
                }
                OrderKey::PlacedAt => {
                    once(&mut seen, 4)?;
                    m_placed_at = Some(map.next_value_seed(Seed::<Timestamp>::new())?);
                }
                OrderKey::Lines => {
                    once(&mut seen, 8)?;
                    m_lines = Some(
                        map
                            .next_value_seed(
                                Seed::<Array<String, Vec<String>, 1, { usize::MAX }>>::new(),
                            )?,
                    );
                }
            }
        }
        need(seen, 15, OrderKey::NAMES)?;
        Ok(Order {
            id: must(m_id)?,
            customer: must(m_customer)?,
            placed_at: must(m_placed_at)?,
            lines: must(m_lines)?.0,
        })
    }
}

impl<'de> Read<'de> for Check<Order> {
    type Out = ();
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Seed::<Check<Order>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Check<Order>> {
    type Value = ();
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Order)")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        while let Some(key) = map.next_key_seed(KeySeed::<OrderKey>::new(next))? {
            next = key as usize + 1;
            match key {
                OrderKey::Id => {
                    once(&mut seen, 1)?;
                    map.next_value_seed(Seed::<CheckText<OrderId>>::new())?;
                }
                OrderKey::Customer => {
                    once(&mut seen, 2)?;
                    map.next_value_seed(Seed::<Check<String>>::new())?;
                }
                OrderKey::PlacedAt => {
                    once(&mut seen, 4)?;
                    map.next_value_seed(Seed::<Instant>::new())?;
                }
                OrderKey::Lines => {
                    once(&mut seen, 8)?;
                    map.next_value_seed(
                        Seed::<Array<Check<String>, (), 1, { usize::MAX }>>::new(),
                    )?;
                }
            }
        }
        need(seen, 15, OrderKey::NAMES)?;
        Ok(())
    }
}

impl<'de> ::serde::Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Self as Read<'de>>::read(deserializer)
    }
}

/// What rules look at in `Order`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OrderFacts<'de> {
    /// Its identifier.
    pub id: Cow<'de, str>,
    /// When it was placed.
    pub placed_at: Instant,
    /// What was ordered.
    pub lines: crate::order::LineCount,
}

impl<'de> Read<'de> for OrderFacts<'de> {
    type Out = OrderFacts<'de>;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<OrderFacts<'de>, D::Error> {
        deserializer.deserialize_map(Seed::<OrderFacts<'de>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<OrderFacts<'de>> {
    type Value = OrderFacts<'de>;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("an object (Order)")
    }
    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> Result<OrderFacts<'de>, A::Error> {
        let mut seen = 0_u64;
        let mut next = 0;
        let mut m_id: Option<Cow<'de, str>> = None;
        let mut m_placed_at: Option<Instant> = None;
        let mut m_lines: Option<(crate::order::LineCount, usize)> = None;
        while let Some(key) = map.next_key_seed(KeySeed::<OrderKey>::new(next))? {
            next = key as usize + 1;
            match key {
                OrderKey::Id => {
                    once(&mut seen, 1)?;
                    m_id = Some(
                        map.next_value_seed(Seed::<BorrowedText<OrderId>>::new())?,
                    );
                }
                OrderKey::Customer => {
                    once(&mut seen, 2)?;
                    map.next_value_seed(Seed::<Check<String>>::new())?;
                }
                OrderKey::PlacedAt => {
                    once(&mut seen, 4)?;
                    m_placed_at = Some(map.next_value_seed(Seed::<Instant>::new())?);
                }
                OrderKey::Lines => {
                    once(&mut seen, 8)?;
                    m_lines = Some(
                        map
                            .next_value_seed(
                                Seed::<
                                    Array<
                                        Borrowed<String>,
                                        crate::order::LineCount,
                                        1,
                                        { usize::MAX },
                                    >,
                                >::new(),
                            )?,
                    );
                }
            }
        }
        need(seen, 15, OrderKey::NAMES)?;
        Ok(OrderFacts {
            id: must(m_id)?,
            placed_at: must(m_placed_at)?,
            lines: must(m_lines)?.0,
        })
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
            },
            FieldShape {
                name: "customer",
                description: "Who ordered.",
                required: true,
                rules: &[],
                shape: &PLAIN_TEXT,
            },
            FieldShape {
                name: "placed_at",
                description: "When it was placed.",
                required: true,
                rules: &[],
                shape: &TIMESTAMP_SHAPE,
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
            },
        ],
        conditionals: &[],
        metadata: false,
    }),
};

impl HasShape for Order {
    fn shape() -> &'static Shape {
        &ORDER_SHAPE
    }
}
