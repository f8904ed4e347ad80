//! What stories are told with: a running server, workspaces, keys, requests and answers.

mod answer;
mod app;
pub mod browser;
mod database;
mod endpoint;
mod key;
pub mod mail;
mod mailbox;
mod raw;
mod receiver;
mod rows;
mod subscription;
pub mod walk;
mod webhook;
mod workspace;

pub use answer::Answer;
pub use app::{TestApp, http};
pub use browser::Browser;
pub use endpoint::Endpoint;
pub use key::{Key, invented_key, send};
pub use mailbox::{Mailbox, Reply, Security};
pub use raw::Received;
pub use receiver::{Receiver, request};
pub use subscription::done;
pub use webhook::Subscribed;
pub use workspace::{Workspace, course};

/// The instant at which every story begins.
pub const START: &str = "2026-03-02T10:00:30Z";
