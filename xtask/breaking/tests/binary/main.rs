//! Runs `openapi-gate` in temporary folders: documents, configuration, waivers, formats, bad input, and the integrations
//! that `xtask/README.md` describes.

mod bad_input;
mod escaping;
mod formats;
mod git_diff;
mod guide;
mod hostile;
mod limits;
mod names;
mod places;
mod policies;
mod readme;
mod rules;
mod settings;
mod support;
mod usage;
