//! The codes of the gate.

use std::fmt;

macro_rules! codes {
    ($($variant:ident = $text:literal),* $(,)?) => {
        /// What a refusal, a failure or an entry of the audit log refers to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $text] $variant),* }

        impl Code {
            /// All codes, in the documents' order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code as it is written, such as `PG-3`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

codes! {
    Pg0 = "PG-0", Pg1 = "PG-1", Pg2 = "PG-2", Pg3 = "PG-3", Pg4 = "PG-4", Pg5 = "PG-5", Pg6 = "PG-6", PgT = "PG-T",
    G1 = "G1", G2 = "G2", G3 = "G3", G4 = "G4",
    A1 = "A1", A2 = "A2", A3 = "A3", A4 = "A4",
    R1 = "R1", R2 = "R2", R3 = "R3", R4 = "R4", R5 = "R5",
    C1 = "C1", T1 = "T1", V1 = "V1",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
