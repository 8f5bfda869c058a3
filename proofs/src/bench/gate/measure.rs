//! Measures of the gate, in this process.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    Call,
    CallFiles,
    Task,
    TaskFiles,
    Bare,
    Step(&'static str),
    Append,
    AppendFiles,
    AppendSynced,
    Write,
    WriteSynced,
    AppendBy(u32),
    WriteBy(u32),
    Verify,
    Skip,
}
