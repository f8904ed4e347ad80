//! The server of the creator platform.
