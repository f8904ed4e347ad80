//! Client of the Creator Platform API.
#![doc = include_str!("../README.md")]

mod client;
mod error;
mod pages;
pub mod webhooks;

pub use client::{Options, connect};
pub use error::{ApiError, Error};
pub use generated::{Client, builder, types};
pub use pages::{List, paginate};

#[allow(clippy::all, rustdoc::all, missing_docs, mismatched_lifetime_syntaxes)]
mod generated {
    progenitor::generate_api!(
        spec = "openapi.json",
        interface = Builder,
        inner_type = crate::client::Options
    );
}
