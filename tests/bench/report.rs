//! The rows of the result table.

use serde::Serialize;

use crate::measurement::Measurement;

/// One row of the table: a figure, what it is compared with, and the goal.
#[derive(Debug, Clone, Serialize)]
pub struct ResultRow {
    /// The scenario's name, as used with `--only`.
    pub scenario: &'static str,
    /// The name of the figure.
    #[serde(rename = "what")]
    pub name: String,
    /// The figure.
    pub figure: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What the figure is compared with: a limit, a goal, another figure of the server, or a figure of another program.
    #[serde(rename = "beside")]
    pub compared_with: Option<ComparedFigure>,
    /// The figure divided by the figure that it is compared with. `None` if there is no such figure, or if it is 0.
    pub ratio: Option<f64>,
    /// The goal as text.
    pub goal: String,
    /// Whether the goal was met; `None` if this run cannot determine it.
    pub met: Option<bool>,
    /// Further details: latencies, processor time, sizes.
    pub detail: String,
}

/// What a figure is compared with.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedFigure {
    /// Its name.
    #[serde(rename = "what")]
    pub name: String,
    /// Its figure, in the row's unit.
    pub figure: f64,
}

/// The goal of a row.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// A ratio of at least this.
    AtLeast(f64),
    /// A ratio of at most this.
    AtMost(f64),
    /// A ratio of at most the first number, and a figure below the second.
    AtMostAndBelow(f64, f64),
    /// A figure below this.
    Below(f64),
    /// Not evaluated, for this reason.
    NotEvaluated(&'static str),
}

impl ResultRow {
    /// Creates a row. Computes the ratio, and whether the goal was met. The tuples are the figure with its unit, and
    /// the name of the compared figure with its value.
    pub fn new(
        scenario: &'static str,
        name: impl Into<String>,
        (figure, unit): (f64, &'static str),
        compared_with: Option<(&str, f64)>,
        goal: Goal,
    ) -> Self {
        let ratio =
            compared_with.filter(|(_, compared)| *compared > 0.0).map(|(_, compared)| figure / compared);
        Self {
            scenario,
            name: name.into(),
            figure,
            unit,
            compared_with: compared_with
                .map(|(name, figure)| ComparedFigure { name: name.to_owned(), figure }),
            ratio,
            goal: goal.description(unit),
            met: goal.met(figure, ratio),
            detail: String::new(),
        }
    }

    /// Adds details.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl Goal {
    fn description(self, unit: &str) -> String {
        match self {
            Self::AtLeast(ratio) => format!("at least {ratio} x"),
            Self::AtMost(ratio) => format!("at most {ratio} x"),
            Self::AtMostAndBelow(ratio, figure) => format!("at most {ratio} x, under {figure} {unit}"),
            Self::Below(figure) => format!("under {figure} {unit}"),
            Self::NotEvaluated(description) => description.to_owned(),
        }
    }

    fn met(self, figure: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::AtLeast(goal) => ratio.map(|ratio| ratio >= goal),
            Self::AtMost(goal) => ratio.map(|ratio| ratio <= goal),
            Self::AtMostAndBelow(goal, limit) => ratio.map(|ratio| ratio <= goal && figure < limit),
            Self::Below(limit) => Some(figure < limit),
            Self::NotEvaluated(_) => None,
        }
    }
}

/// Formats the latencies and the processor time per request of a load, with the processor time of the limit for
/// comparison.
pub fn describe(measured: &Measurement, limit: Option<&Measurement>) -> String {
    let mut text = measured.latencies();
    if let Some(cpu) = measured.cpu_us() {
        text.push_str(&format!("; {cpu:.1} us of CPU each"));
        if let Some(limit) = limit.and_then(Measurement::cpu_us) {
            text.push_str(&format!(" (limit {limit:.1} us, {:.2} x)", cpu / limit));
        }
    }
    text
}
