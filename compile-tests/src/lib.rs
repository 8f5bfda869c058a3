//! Illegal programs, with the error that rustc reports for each: one mistake a program, in `tests/ui`.
//!
//! They are apart from the packages whose rules they break, because `trybuild` compiles a program with everything that its package
//! and the tests of its package depend on.
