//! Renders, queues and sends mail to the users of workspaces.
//!
//! [`message`] renders messages, [`queue`] stores them in the caller's transaction and sends them later, and
//! [`transport`] delivers them to an SMTP server or writes them to files. A mail can be sent repeatedly, for example
//! after a lost connection, always with the same `Message-ID`. Email addresses and the content of mail are never
//! logged.

pub mod message;
pub mod queue;
pub mod transport;

pub use message::Message;
pub use transport::{Transport, is_recipient};
