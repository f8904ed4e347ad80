//! Tests of the dashboard in a real browser, with styles and scripts.
//!
//! They need Chromium and its driver, and have a step of their own, `cargo xtask test --only browser`, which installs both.
//! Tests that need no browser are in the files `dashboard*.rs` beside this folder.

mod axe;
mod chromium;
mod keyboard;
mod keys;
mod scenes;
mod school;
mod scriptless;
mod sign_in;
mod tour;
mod webhooks;
mod window;
