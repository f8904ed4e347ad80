//! Entities.

pub mod rollups;
