//! Stories of the dashboard in a real browser: what a reader sees, presses and hears, with styles and scripts at work.
//!
//! They need Chromium and its driver, and have a step of their own, `cargo xtask test --only browser`, which installs both.
//! What needs no browser is told in the files `dashboard*.rs` beside this folder.

mod axe;
mod chromium;
mod entrance;
mod keyboard;
mod keys;
mod scenes;
mod school;
mod scriptless;
mod tour;
mod webhooks;
mod window;
