//! The Platform API: tokens, imports, the event feed, and sign-in links.

mod address;
mod changes;
mod coverage;
mod cut_imports;
mod event_feed;
mod guide;
mod sign_in_links;
mod tokens;
