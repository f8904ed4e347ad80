//! What stories are told with: a running server, workspaces, keys, requests and answers.

mod answer;
mod app;
mod database;
mod key;
mod raw;
mod subscription;
mod workspace;

pub use answer::Answer;
pub use app::TestApp;
pub use key::{Key, send};
pub use workspace::{Workspace, course};

/// The instant at which every story begins.
pub const START: &str = "2026-03-02T10:00:30Z";
