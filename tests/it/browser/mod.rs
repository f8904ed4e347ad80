//! Tests of the dashboard in a real browser, with styles and scripts.
//!
//! They need Chromium and its driver. `cargo xtask test --only browser` installs both and runs these tests. Tests of
//! the dashboard that need no browser are in the files `dashboard*.rs` beside this folder.

mod axe;
mod certified;
mod chromium;
mod keyboard;
mod keys;
mod portal;
mod prefix_proxy;
mod provider;
mod reference;
mod scene_data;
mod scenes;
mod scriptless;
mod second_factor;
mod sign_in;
mod tour;
mod webhooks;
mod window;
