//! Charts as SVG, made on the server: lines or bars over time, several series, an axis with a unit, and a table with the
//! same figures.
//!
//! A module of ours, since the crates that draw charts (plotters, charts-rs, charming) write colours and styles into each
//! element or need a script: neither passes our Content-Security-Policy, and neither follows light and dark. Here each mark
//! has a class and the style sheet has the colours.

mod draw;
mod scale;
mod spark;

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;

use super::ui::{self, Raw};

pub(crate) use spark::Spark;

/// Series that have a colour of their own.
const COLOURS: usize = 4;

/// One series: a value for each place of the axis, or none where there is nothing to tell.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// What it shows.
    pub name: String,
    /// As many as the chart has places.
    pub values: Vec<Option<f64>>,
}

/// A chart. Written into a template as it is: `{{ chart }}`.
pub(crate) struct Chart {
    /// What it shows, unit included: "Revenue per day, EUR".
    pub title: String,
    /// What the places of the axis are: "Day".
    pub axis: &'static str,
    /// The places, from left to right.
    pub places: Vec<String>,
    /// At most four.
    pub series: Vec<Series>,
    /// A value as people read it: `ui::money` for one.
    pub write: Box<dyn Fn(f64) -> String + Send + Sync>,
}

#[derive(Template)]
#[template(path = "ui/chart.html")]
struct Figure<'a> {
    chart: &'a Chart,
    drawing: Raw<String>,
    rows: Vec<(&'a str, Vec<String>)>,
}

impl Series {
    /// A series of counts, one for each place.
    pub(crate) fn counts(name: &str, counts: impl Iterator<Item = f64>) -> Self {
        Self { name: name.to_owned(), values: counts.map(Some).collect() }
    }
}

impl Chart {
    /// Lines of counts over time; none when there is nothing to count.
    pub(crate) fn of_counts(
        title: &str,
        axis: &'static str,
        places: Vec<String>,
        series: Vec<Series>,
    ) -> Option<Self> {
        let mut values = series.iter().flat_map(|series| &series.values);
        let some = values.any(|value| value.is_some_and(|value| value > 0.0));
        let write = Box::new(|value: f64| ui::number(value as i64));
        some.then(|| Self { title: title.to_owned(), axis, places, series, write })
    }

    /// The class that gives a series its colour.
    fn class(&self, series: &usize) -> String {
        format!("series-{}", series % COLOURS + 1)
    }

    fn figure(&self) -> Figure<'_> {
        let cell = |place: usize| {
            let value = |series: &Series| series.values.get(place).copied().flatten();
            self.series
                .iter()
                .map(|series| value(series).map_or("-".to_owned(), |value| (self.write)(value)))
                .collect()
        };
        let rows = self.places.iter().enumerate().map(|(place, name)| (name.as_str(), cell(place))).collect();
        Figure { chart: self, drawing: Raw(draw::svg(self)), rows }
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.figure().fmt(f)
    }
}

impl HtmlSafe for Chart {}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: Vec<Option<f64>>) -> Chart {
        Chart {
            title: "Calls <per> day".to_owned(),
            axis: "Day",
            places: (1..=values.len()).map(|day| format!("2026-03-{day:02}")).collect(),
            series: vec![Series { name: "A & B".to_owned(), values }],
            write: Box::new(|value| format!("{value:.0}")),
        }
    }

    #[test]
    fn a_chart_holds_its_figures_as_text_and_no_style() {
        let html = chart(vec![Some(1.0), None, Some(30.0), Some(12.0)]).to_string();
        assert!(!html.contains("style="), "{html}");
        assert!(!html.contains("NaN") && !html.contains("<per>"), "{html}");
        assert!(html.contains("<td class=\"number\">30</td>"), "{html}");
        assert!(html.contains("aria-hidden=\"true\""), "{html}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        for values in [vec![], vec![None, None], vec![Some(0.0)], vec![Some(5.0)]] {
            let html = chart(values).to_string();
            assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        }
    }

    #[test]
    fn the_drawing_is_as_it_was_agreed() {
        let chart = chart(vec![Some(0.0), Some(10.0), None, Some(4.0)]);
        insta::assert_snapshot!(draw::svg(&chart).replace('>', ">\n"));
    }
}
