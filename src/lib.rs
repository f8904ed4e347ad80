//! The server of the creator platform.

pub mod database;
