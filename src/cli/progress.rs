//! Progress of long operations: a bar on a terminal, otherwise a line every few seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;

/// How often a line is written.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Shows the progress of one operation on stderr.
pub(super) struct ProgressDisplay {
    label: &'static str,
    total: Option<u64>,
    display: DisplayKind,
}

enum DisplayKind {
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl ProgressDisplay {
    /// Starts the display. `total` has the same unit as the position of [`Self::update`].
    pub(super) fn start(label: &'static str, total: Option<u64>) -> Self {
        let display = if std::io::stderr().is_terminal() {
            DisplayKind::Bar(bar(label, total))
        } else {
            DisplayKind::Lines { last: Instant::now() }
        };
        Self { label, total, display }
    }

    /// Shows the current position, with a description in `message`.
    pub(super) fn update(&mut self, position: u64, message: impl FnOnce() -> String) {
        match &mut self.display {
            DisplayKind::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(message());
            }
            DisplayKind::Lines { last } if last.elapsed() >= LINE_INTERVAL => {
                *last = Instant::now();
                let share =
                    self.total.filter(|total| *total > 0).map(|total| position.saturating_mul(100) / total);
                let share = share.map(|percent| format!(" {percent} %")).unwrap_or_default();
                output::eprint(format_args!("{}{share}: {}", self.label, message()));
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
