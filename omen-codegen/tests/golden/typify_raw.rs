///A union.
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum Amount {
    Count(Count),
    Label(Label),
}

impl ::std::convert::From<Count> for Amount {
    fn from(value: Count) -> Self {
        Self::Count(value)
    }
}

impl ::std::convert::From<Label> for Amount {
    fn from(value: Label) -> Self {
        Self::Label(value)
    }
}

///An integer.
#[derive(
    ::serde::Deserialize,
    ::serde::Serialize,
    Clone,
    Copy,
    Debug,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd
)]
#[serde(transparent)]
pub struct Count(pub u64);

impl ::std::ops::Deref for Count {
    type Target = u64;
    fn deref(&self) -> &u64 {
        &self.0
    }
}

impl ::std::convert::From<Count> for u64 {
    fn from(value: Count) -> Self {
        value.0
    }
}

impl ::std::convert::From<u64> for Count {
    fn from(value: u64) -> Self {
        Self(value)
    }
}

///A text with lengths.
#[derive(::serde::Serialize, Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[serde(transparent)]
pub struct Label(::std::string::String);

impl ::std::ops::Deref for Label {
    type Target = ::std::string::String;
    fn deref(&self) -> &::std::string::String {
        &self.0
    }
}

impl ::std::convert::From<Label> for ::std::string::String {
    fn from(value: Label) -> Self {
        value.0
    }
}

impl ::std::str::FromStr for Label {
    type Err = self::error::ConversionError;
    fn from_str(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        if value.chars().count() > 80usize {
            return Err("longer than 80 characters".into());
        }
        if value.chars().count() < 1usize {
            return Err("shorter than 1 characters".into());
        }
        Ok(Self(value.to_string()))
    }
}

impl ::std::convert::TryFrom<&str> for Label {
    type Error = self::error::ConversionError;
    fn try_from(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

impl ::std::convert::TryFrom<::std::string::String> for Label {
    type Error = self::error::ConversionError;
    fn try_from(
        value: ::std::string::String,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

impl<'de> ::serde::Deserialize<'de> for Label {
    fn deserialize<D>(deserializer: D) -> ::std::result::Result<Self, D::Error>
    where
        D: ::serde::Deserializer<'de>,
    {
        ::std::string::String::deserialize(deserializer)?
            .parse()
            .map_err(|e: self::error::ConversionError| {
                <D::Error as ::serde::de::Error>::custom(e.to_string())
            })
    }
}

///An enum.
#[derive(
    ::serde::Deserialize,
    ::serde::Serialize,
    Clone,
    Copy,
    Debug,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd
)]
pub enum Pace {
    ///Without haste.
    #[serde(rename = "SLOW_AND_STEADY")]
    SlowAndSteady,
    ///As fast as it goes.
    #[serde(rename = "fast")]
    Fast,
}

impl ::std::fmt::Display for Pace {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::SlowAndSteady => f.write_str("SLOW_AND_STEADY"),
            Self::Fast => f.write_str("fast"),
        }
    }
}

impl ::std::str::FromStr for Pace {
    type Err = self::error::ConversionError;
    fn from_str(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        match value {
            "SLOW_AND_STEADY" => Ok(Self::SlowAndSteady),
            "fast" => Ok(Self::Fast),
            _ => Err("invalid value".into()),
        }
    }
}

impl ::std::convert::TryFrom<&str> for Pace {
    type Error = self::error::ConversionError;
    fn try_from(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

impl ::std::convert::TryFrom<::std::string::String> for Pace {
    type Error = self::error::ConversionError;
    fn try_from(
        value: ::std::string::String,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

///An object, with each form of member.
#[non_exhaustive]
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parcel {
    ///A free form.
    #[serde(skip_serializing_if = "::std::option::Option::is_none")]
    pub extra: ::std::option::Option<::serde_json::Map<String, ::serde_json::Value>>,
    ///A flag.
    #[serde(skip_serializing_if = "::std::option::Option::is_none")]
    pub fragile: ::std::option::Option<bool>,
    ///A reference.
    pub id: ParcelId,
    ///A list.
    pub labels: ::std::vec::Vec<Label>,
    ///A text that may be null.
    pub note: Option<String>,
    ///An optional reference with a default.
    #[serde(skip_serializing_if = "::std::option::Option::is_none")]
    pub pace: ::std::option::Option<Pace>,
    ///An optional list.
    #[serde(skip_serializing_if = "::std::option::Option::is_none")]
    pub stops: ::std::option::Option<::std::vec::Vec<::std::string::String>>,
    ///A keyword.
    #[serde(rename = "type")]
    pub type_: ::std::string::String,
}

///A text with a pattern.
#[derive(::serde::Serialize, Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[serde(transparent)]
pub struct ParcelId(::std::string::String);

impl ::std::ops::Deref for ParcelId {
    type Target = ::std::string::String;
    fn deref(&self) -> &::std::string::String {
        &self.0
    }
}

impl ::std::convert::From<ParcelId> for ::std::string::String {
    fn from(value: ParcelId) -> Self {
        value.0
    }
}

impl ::std::str::FromStr for ParcelId {
    type Err = self::error::ConversionError;
    fn from_str(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        static PATTERN: ::std::sync::LazyLock<::regress::Regex> = ::std::sync::LazyLock::new(||
        { ::regress::Regex::new("^pcl_[a-z0-9-]+$").unwrap() });
        if PATTERN.find(value).is_none() {
            return Err("doesn't match pattern \"^pcl_[a-z0-9-]+$\"".into());
        }
        Ok(Self(value.to_string()))
    }
}

impl ::std::convert::TryFrom<&str> for ParcelId {
    type Error = self::error::ConversionError;
    fn try_from(
        value: &str,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

impl ::std::convert::TryFrom<::std::string::String> for ParcelId {
    type Error = self::error::ConversionError;
    fn try_from(
        value: ::std::string::String,
    ) -> ::std::result::Result<Self, self::error::ConversionError> {
        value.parse()
    }
}

impl<'de> ::serde::Deserialize<'de> for ParcelId {
    fn deserialize<D>(deserializer: D) -> ::std::result::Result<Self, D::Error>
    where
        D: ::serde::Deserializer<'de>,
    {
        ::std::string::String::deserialize(deserializer)?
            .parse()
            .map_err(|e: self::error::ConversionError| {
                <D::Error as ::serde::de::Error>::custom(e.to_string())
            })
    }
}

///Any text.
#[derive(
    ::serde::Deserialize,
    ::serde::Serialize,
    Clone,
    Debug,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd
)]
#[serde(transparent)]
pub struct Remark(pub ::std::string::String);

impl ::std::ops::Deref for Remark {
    type Target = ::std::string::String;
    fn deref(&self) -> &::std::string::String {
        &self.0
    }
}

impl ::std::convert::From<Remark> for ::std::string::String {
    fn from(value: Remark) -> Self {
        value.0
    }
}

impl ::std::convert::From<::std::string::String> for Remark {
    fn from(value: ::std::string::String) -> Self {
        Self(value)
    }
}

impl ::std::fmt::Display for Remark {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        self.0.fmt(f)
    }
}

impl ::std::str::FromStr for Remark {
    type Err = ::std::convert::Infallible;
    fn from_str(value: &str) -> ::std::result::Result<Self, Self::Err> {
        Ok(Self(value.to_string()))
    }
}

///A number.
#[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, Eq, Hash, PartialEq)]
#[serde(transparent)]
pub struct Weight(pub ::serde_json::Number);

impl ::std::ops::Deref for Weight {
    type Target = ::serde_json::Number;
    fn deref(&self) -> &::serde_json::Number {
        &self.0
    }
}

impl ::std::convert::From<Weight> for ::serde_json::Number {
    fn from(value: Weight) -> Self {
        value.0
    }
}

impl ::std::convert::From<::serde_json::Number> for Weight {
    fn from(value: ::serde_json::Number) -> Self {
        Self(value)
    }
}

/// Error types.
pub mod error {
    /// Error from a `TryFrom` or `FromStr` implementation.
    pub struct ConversionError(::std::borrow::Cow<'static, str>);
    impl ::std::error::Error for ConversionError {}
    impl ::std::fmt::Display for ConversionError {
        fn fmt(
            &self,
            f: &mut ::std::fmt::Formatter<'_>,
        ) -> Result<(), ::std::fmt::Error> {
            ::std::fmt::Display::fmt(&self.0, f)
        }
    }
    impl ::std::fmt::Debug for ConversionError {
        fn fmt(
            &self,
            f: &mut ::std::fmt::Formatter<'_>,
        ) -> Result<(), ::std::fmt::Error> {
            ::std::fmt::Debug::fmt(&self.0, f)
        }
    }
    impl From<&'static str> for ConversionError {
        fn from(value: &'static str) -> Self {
            Self(value.into())
        }
    }
    impl From<String> for ConversionError {
        fn from(value: String) -> Self {
            Self(value.into())
        }
    }
}
