//! How far long work is: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;

/// How often a plain line is written.
const EVERY: Duration = Duration::from_secs(5);

/// The progress of one piece of work.
pub(super) struct Progress {
    what: &'static str,
    total: Option<u64>,
    show: Show,
}

enum Show {
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Progress {
    /// Begins; `total` is in the same unit as what [`Self::at`] is told.
    pub(super) fn start(what: &'static str, total: Option<u64>) -> Self {
        let show = if std::io::stderr().is_terminal() {
            Show::Bar(bar(what, total))
        } else {
            Show::Lines { last: Instant::now() }
        };
        Self { what, total, show }
    }

    /// The work is here; `note` says more about it.
    pub(super) fn at(&mut self, position: u64, note: impl FnOnce() -> String) {
        match &mut self.show {
            Show::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(note());
            }
            Show::Lines { last } if last.elapsed() >= EVERY => {
                *last = Instant::now();
                let share =
                    self.total.filter(|total| *total > 0).map(|total| position.saturating_mul(100) / total);
                let share = share.map(|percent| format!(" {percent} %")).unwrap_or_default();
                output::say(format_args!("{}{share}: {}", self.what, note()));
            }
            Show::Lines { .. } => {}
        }
    }

    /// Says something without breaking the bar.
    pub(super) fn say(&self, text: &str) {
        match &self.show {
            Show::Bar(bar) => bar.suspend(|| output::say(text)),
            Show::Lines { .. } => output::say(text),
        }
    }

    /// The work is over; the bar goes.
    pub(super) fn finish(self) {
        if let Show::Bar(bar) = self.show {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{prefix} {wide_bar} {percent:>3} % {msg} {eta:>4}"),
        None => (ProgressBar::new_spinner(), "{prefix} {spinner} {msg} {elapsed}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(what)
}
