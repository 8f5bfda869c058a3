//! The gate's tests, one binary.
