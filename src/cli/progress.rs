//! Progress of long operations: a bar or a spinner on a terminal, otherwise a line every few seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;

/// The minimum time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Shows the progress of one operation on stderr.
pub(super) struct ProgressDisplay {
    label: &'static str,
    total: Option<u64>,
    display: DisplayKind,
}

enum DisplayKind {
    Bar(ProgressBar),
    /// Lines at intervals. `previous` is the time of the most recent line, or of the start.
    Lines {
        previous: Instant,
    },
}

impl ProgressDisplay {
    /// Starts the display. `total` has the same unit as the position of [`Self::update`]; `None` if it is not known.
    pub(super) fn start(label: &'static str, total: Option<u64>) -> Self {
        let display = if std::io::stderr().is_terminal() {
            DisplayKind::Bar(bar(label, total))
        } else {
            DisplayKind::Lines { previous: Instant::now() }
        };
        Self { label, total, display }
    }

    /// Shows the current position and a message. Without a bar, prints them only if [`LINE_INTERVAL`] has passed.
    pub(super) fn update(&mut self, position: u64, message: impl FnOnce() -> String) {
        match &mut self.display {
            DisplayKind::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(message());
            }
            DisplayKind::Lines { previous } if previous.elapsed() >= LINE_INTERVAL => {
                *previous = Instant::now();
                let percent =
                    self.total.filter(|total| *total > 0).map(|total| position.saturating_mul(100) / total);
                let percent = percent.map(|percent| format!(" {percent} %")).unwrap_or_default();
                output::eprint(format_args!("{}{percent}: {}", self.label, message()));
            }
            DisplayKind::Lines { .. } => {}
        }
    }

    /// Prints a message on stderr, above the bar.
    pub(super) fn print(&self, text: &str) {
        match &self.display {
            DisplayKind::Bar(bar) => bar.suspend(|| output::eprint(text)),
            DisplayKind::Lines { .. } => output::eprint(text),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        if let DisplayKind::Bar(bar) = self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(label: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{prefix} {wide_bar} {percent:>3} % {msg} {eta:>4}"),
        None => (ProgressBar::new_spinner(), "{prefix} {spinner} {msg} {elapsed}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(label)
}
