//! The gate as a proxy: to its client a server of the Model Context Protocol, to the servers behind it a client.

#[cfg(unix)]
pub mod confirm;
