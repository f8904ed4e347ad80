//! Mail: what is written to people, and how it leaves.
//!
//! [`message`] owns the texts, [`queue`] the way from a caller's transaction to a transport, [`transport`] the two
//! ways out: an SMTP server, or files in the data folder. Sent at least once: a repeat has the same `Message-ID`.
//! Nothing here decides when somebody is written to, and neither an address nor a text of mail is ever logged.

mod files;
mod letter;
pub mod message;
pub mod queue;
mod smtp;
pub mod transport;

pub use letter::is_recipient;
pub use message::Message;
pub use transport::Transport;
