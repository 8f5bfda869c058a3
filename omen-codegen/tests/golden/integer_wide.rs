/// How many. Every `u32` is within the bounds, so that it converts without a check.
///
/// From 0 to 9007199254740991.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
pub struct Total(u64);

impl Total {
    /// Smallest value.
    pub const MIN: Self = Self(0u64);
    /// Largest value.
    pub const MAX: Self = Self(9007199254740991u64);
    /// Checks and takes a value.
    ///
    /// # Errors
    /// If it is out of bounds.
    pub fn new(value: u64) -> Result<Self, Invalid> {
        if (0u64..=9007199254740991u64).contains(&value) {
            Ok(Self(value))
        } else {
            Err(
                Invalid::new(
                    "Total",
                    "an integer from 0 to 9007199254740991",
                    value.to_string(),
                ),
            )
        }
    }
    /// A constant value; one that is out of bounds does not compile.
    #[must_use]
    pub const fn of<const VALUE: u64>() -> Self {
        const {
            assert!(
                VALUE <= 9007199254740991u64,
                "SCHEMA: a `Total` is an integer from 0 to 9007199254740991"
            )
        };
        Self(VALUE)
    }
    /// The value.
    #[must_use]
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl crate::scalar::sealed::Scalar for Total {}

impl IntegerScalar for Total {
    const MIN: u64 = 0u64;
    const MAX: u64 = 9007199254740991u64;
}

impl crate::scalar::Trusted<u64> for Total {
    #[inline]
    fn trusted(value: u64) -> Self {
        Self(value)
    }
}

impl From<u32> for Total {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

impl From<Total> for u64 {
    fn from(value: Total) -> u64 {
        value.0
    }
}

impl TryFrom<u64> for Total {
    type Error = Invalid;
    fn try_from(value: u64) -> Result<Self, Invalid> {
        Self::new(value)
    }
}

impl ::std::fmt::Display for Total {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> ::serde::Deserialize<'de> for Total {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Integer<Self> as Read<'de>>::read(deserializer)
    }
}

static TOTAL_SHAPE: Shape = Shape {
    name: "Total",
    kind: ShapeKind::Integer {
        min: 0u64,
        max: 9007199254740991u64,
    },
};
