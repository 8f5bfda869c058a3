//! The classes of faults, and what follows from each.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::call::fault::Fault;

macro_rules! classes {
    ($($Class:ident = $text:literal: $pattern:pat, $ran:ident, $sick:literal;)*) => {
        /// What kind of fault it is. The texts are stable: they stand in logs.
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

            /// The class as it is written, such as `timeout`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Class => $text),* }
            }

            /// Whether the tool ran.
            #[must_use]
            pub fn ran(self) -> Ran {
                match self { $(Self::$Class => Ran::$ran),* }
            }

            /// Whether it speaks against the tool or its server, so that the breaker counts it (R1). A tool that
            /// answers in good order that it could not do something is well. A call that was cancelled counts,
            /// for who waits in vain for a tool cancels.
            #[must_use]
            pub fn trips_breaker(self) -> bool {
                match self { $(Self::$Class => $sick),* }
            }
        }

        impl Fault {
            /// Its class. It depends on nothing but the fault (R3).
            #[must_use]
            pub fn class(&self) -> FaultClass {
                match self { $($pattern => FaultClass::$Class),* }
            }
        }
    };
}

// What went wrong, its text, whether the tool ran, and whether it speaks against the tool.
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

/// Whether a tool ran, as far as a fault shows. Report "unknown" as such: the effect may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    /// It did not.
    No,
    /// It may have.
    Unknown,
    /// It did.
    Yes,
}

impl FaultClass {
    /// Whether the same call may well succeed later.
    #[must_use]
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Timeout | Self::Unreachable | Self::Died)
    }

    /// Whether calling again is safe and may help: the fault passes, and the tool did not run. The gate never
    /// calls again by itself (PG-6); this is for who plans.
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
