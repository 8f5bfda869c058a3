/// A part of a hundred.
///
/// From 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
pub struct Percentage(u64);

impl Percentage {
    /// Smallest value.
    pub const MIN: Self = Self(1u64);
    /// Largest value.
    pub const MAX: Self = Self(100u64);
    /// Checks and takes a value.
    ///
    /// # Errors
    /// If it is out of bounds.
    pub fn new(value: u64) -> Result<Self, Invalid> {
        if (1u64..=100u64).contains(&value) {
            Ok(Self(value))
        } else {
            Err(
                Invalid::new("Percentage", "an integer from 1 to 100", value.to_string()),
            )
        }
    }
    /// A constant value; one that is out of bounds does not compile.
    #[must_use]
    pub const fn of<const VALUE: u64>() -> Self {
        const {
            assert!(
                VALUE >= 1u64 && VALUE <= 100u64,
                "SCHEMA: a `Percentage` is an integer from 1 to 100"
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

impl crate::scalar::sealed::Scalar for Percentage {}

impl IntegerScalar for Percentage {
    const MIN: u64 = 1u64;
    const MAX: u64 = 100u64;
}

impl crate::scalar::Trusted<u64> for Percentage {
    #[inline]
    fn trusted(value: u64) -> Self {
        Self(value)
    }
}

impl From<Percentage> for u64 {
    fn from(value: Percentage) -> u64 {
        value.0
    }
}

impl TryFrom<u64> for Percentage {
    type Error = Invalid;
    fn try_from(value: u64) -> Result<Self, Invalid> {
        Self::new(value)
    }
}

impl ::std::fmt::Display for Percentage {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> ::serde::Deserialize<'de> for Percentage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Integer<Self> as Read<'de>>::read(deserializer)
    }
}

static PERCENTAGE_SHAPE: Shape = Shape {
    name: "Percentage",
    kind: ShapeKind::Integer {
        min: 1u64,
        max: 100u64,
    },
};
