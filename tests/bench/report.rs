//! The rows of the table, as they are handed over.

use serde::Serialize;

use crate::measured::Measured;

/// One line of the table: a figure, what it stands beside, and the goal.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The scenario's name, as `--only` knows it.
    pub scenario: &'static str,
    /// What was measured.
    pub what: String,
    /// The figure.
    pub figure: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What stands beside it: the limit, or another figure of ours.
    pub beside: Option<Beside>,
    /// The figure by what stands beside it.
    pub ratio: Option<f64>,
    /// What is wanted, in words.
    pub goal: String,
    /// Whether it was reached; `None` when this run cannot say.
    pub met: Option<bool>,
    /// Latencies, processor time, sizes.
    pub detail: String,
}

/// What a figure is compared with.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// What it is.
    pub what: String,
    /// Its figure, in the row's unit.
    pub figure: f64,
}

/// What is wanted of a row.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// A ratio of at least this.
    AtLeast(f64),
    /// A ratio of at most this.
    AtMost(f64),
    /// A ratio of at most this, and a figure below that.
    AtMostAndBelow(f64, f64),
    /// A figure below this.
    Below(f64),
    /// None that is judged here, and why.
    Without(&'static str),
}

impl Row {
    /// A row, with its ratio and whether the goal was reached.
    pub fn new(
        scenario: &'static str,
        what: impl Into<String>,
        (figure, unit): (f64, &'static str),
        beside: Option<(&str, f64)>,
        goal: Goal,
    ) -> Self {
        let ratio = beside.filter(|(_, other)| *other > 0.0).map(|(_, other)| figure / other);
        Self {
            scenario,
            what: what.into(),
            figure,
            unit,
            beside: beside.map(|(what, figure)| Beside { what: what.to_owned(), figure }),
            ratio,
            goal: goal.words(unit),
            met: goal.met(figure, ratio),
            detail: String::new(),
        }
    }

    /// Adds what else was seen.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl Goal {
    fn words(self, unit: &str) -> String {
        match self {
            Self::AtLeast(ratio) => format!("at least {ratio} x"),
            Self::AtMost(ratio) => format!("at most {ratio} x"),
            Self::AtMostAndBelow(ratio, figure) => format!("at most {ratio} x, under {figure} {unit}"),
            Self::Below(figure) => format!("under {figure} {unit}"),
            Self::Without(words) => words.to_owned(),
        }
    }

    fn met(self, figure: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::AtLeast(goal) => ratio.map(|ratio| ratio >= goal),
            Self::AtMost(goal) => ratio.map(|ratio| ratio <= goal),
            Self::AtMostAndBelow(goal, limit) => ratio.map(|ratio| ratio <= goal && figure < limit),
            Self::Below(limit) => Some(figure < limit),
            Self::Without(_) => None,
        }
    }
}

/// Latencies and processor time of a load, and the limit's processor time beside it.
pub fn describe(measured: &Measured, limit: Option<&Measured>) -> String {
    let mut text = measured.latencies();
    if let Some(cpu) = measured.cpu_us() {
        text.push_str(&format!("; {cpu:.1} us of CPU each"));
        if let Some(limit) = limit.and_then(Measured::cpu_us) {
            text.push_str(&format!(" ({limit:.1} the limit's, {:.2} x)", cpu / limit));
        }
    }
    text
}
