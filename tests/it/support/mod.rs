//! Helpers for tests: a running server, workspaces, keys, requests and responses.

mod app;
pub mod browser;
pub mod crawl;
mod database;
mod endpoint;
mod key;
pub mod mail;
mod mailbox;
mod raw;
mod receiver;
mod response;
mod rows;
mod subscription;
mod webhook;
mod workspace;

pub use app::{TestApp, http};
pub use browser::Browser;
pub use endpoint::Endpoint;
pub use key::{Key, invented_key, send};
pub use mailbox::{Mailbox, Security, SmtpReply};
pub use raw::RawExchange;
pub use receiver::{Receiver, request};
pub use response::TestResponse;
pub use subscription::in_transaction;
pub use webhook::TestSubscription;
pub use workspace::{Workspace, course};

/// The time at which every test starts.
pub const START: &str = "2026-03-02T10:00:30Z";
