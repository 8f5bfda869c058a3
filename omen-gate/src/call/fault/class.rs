//! Fault classes and their consequences.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::call::fault::Fault;

macro_rules! classes {
    ($($Class:ident = $text:literal: $pattern:pat, $ran:ident, $sick:literal;)*) => {
        /// Fault class. The names are stable because logs contain them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultClass {
            $(
                #[doc = concat!("[`Fault::", stringify!($Class), "`], written `", $text, "`.")]
                $Class
            ),*
        }

        impl FaultClass {
            /// All classes.
            pub const ALL: &'static [Self] = &[$(Self::$Class),*];

            /// Returns the name of the class, such as `timeout`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Class => $text),* }
            }

            /// Returns whether the tool ran.
            #[must_use]
            pub fn ran(self) -> Ran {
                match self { $(Self::$Class => Ran::$ran),* }
            }

            /// Returns whether the tool or its server is at fault, so the breaker counts the fault (R1). A tool that reports its
            /// own failure still works. A cancelled call counts, because clients cancel calls that take too long.
            #[must_use]
            pub fn trips_breaker(self) -> bool {
                match self { $(Self::$Class => $sick),* }
            }
        }

        impl Fault {
            /// Returns the class of the fault, determined by the fault alone (R3).
            #[must_use]
            pub fn class(&self) -> FaultClass {
                match self { $($pattern => FaultClass::$Class),* }
            }
        }
    };
}

// Columns: description, name, whether the tool ran, and whether the breaker counts the fault.
classes! {
    Timeout = "timeout": Fault::Timeout { .. }, Unknown, true;
    Cancelled = "cancelled": Fault::Cancelled, Unknown, true;
    Unreachable = "unreachable": Fault::Unreachable { .. }, No, true;
    Died = "died": Fault::Died { .. }, Unknown, true;
    Panicked = "panicked": Fault::Panicked, Unknown, true;
    Oversized = "oversized": Fault::Oversized { .. }, Yes, true;
    Malformed = "malformed": Fault::Malformed { .. }, Unknown, true;
    Refused = "refused": Fault::Refused { .. }, Unknown, true;
    Tool = "tool": Fault::Tool { .. }, Yes, false;
}

/// Whether a tool ran, as far as the fault shows. Report `Unknown` as such: the effect may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    /// The tool did not run.
    No,
    /// The tool may have run.
    Unknown,
    /// The tool ran.
    Yes,
}

impl FaultClass {
    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Timeout | Self::Unreachable | Self::Died)
    }

    /// Returns whether a retry is safe and may help: the fault is transient, and the tool did not run. The gate itself
    /// never retries (PG-6); this is for planners.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        self.is_transient() && self.ran() == Ran::No
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FaultClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
