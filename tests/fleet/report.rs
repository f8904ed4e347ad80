//! The results of the scenarios.

use serde::Serialize;

/// The result of a scenario.
#[derive(Debug, Serialize)]
pub struct ScenarioResult {
    /// The name of the scenario.
    pub scenario: &'static str,
    /// Its duration in seconds.
    pub seconds: f64,
    /// Why it could not be completed, if so.
    pub error: Option<String>,
    pub figures: Vec<Figure>,
}

/// A measured figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// The name of the figure.
    pub name: String,
    /// The figure, in `unit`.
    pub value: f64,
    pub unit: &'static str,
    /// The guarantee, in words, or a goal that is not checked.
    pub expected: String,
    /// The figure of revision 5e25179, if known.
    pub before: &'static str,
    /// Whether the guarantee is met; `None` if there is none.
    pub met: Option<bool>,
    /// Additional measurements.
    pub detail: String,
}

impl Figure {
    /// Creates a figure without a guarantee.
    pub fn measured(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        let (expected, detail) = (String::new(), String::new());
        Self { name: name.into(), value, unit, expected, before: "", met: None, detail }
    }

    /// Creates a figure that must have this value.
    pub fn exactly(name: impl Into<String>, value: f64, unit: &'static str, expected: f64) -> Self {
        let figure = Self::measured(name, value, unit);
        Self { expected: format!("exactly {expected}"), met: Some(value == expected), ..figure }
    }

    /// Creates a figure that must not exceed this value.
    pub fn at_most(name: impl Into<String>, value: f64, unit: &'static str, limit: f64) -> Self {
        let figure = Self::measured(name, value, unit);
        Self { expected: format!("at most {limit}"), met: Some(value <= limit), ..figure }
    }

    /// Sets a goal that is not checked.
    #[must_use]
    pub fn goal(mut self, goal: impl Into<String>) -> Self {
        self.expected = goal.into();
        self
    }

    /// Sets the figure of revision 5e25179.
    #[must_use]
    pub fn before(mut self, before: &'static str) -> Self {
        self.before = before;
        self
    }

    /// Adds details.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// The figures of the running scenario.
#[derive(Debug, Default)]
pub struct Report {
    pub figures: Vec<Figure>,
}

impl Report {
    /// Adds a figure and prints it.
    pub fn add(&mut self, figure: Figure) {
        let met = match figure.met {
            Some(true) => format!("  ({}: met)", figure.expected),
            Some(false) => format!("  ({}: NOT MET)", figure.expected),
            None => String::new(),
        };
        eprintln!("  {}: {:.2} {}{met}  {}", figure.name, figure.value, figure.unit, figure.detail);
        self.figures.push(figure);
    }
}

/// Converts a count for a figure.
pub fn count(number: usize) -> f64 {
    number as f64
}
