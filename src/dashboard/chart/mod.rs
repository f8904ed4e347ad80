//! Line charts over time, rendered as SVG on the server, with a data table of the same values.
//!
//! Chart crates (plotters, charts-rs, charming) write colors and styles into each element or need a script. Neither is allowed
//! by the Content-Security-Policy, and neither follows the light and dark color scheme. Here each mark has a class, and the
//! style sheet sets the colors.

mod draw;
mod scale;
mod sparkline;

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;

use super::ui::{self, RawHtml};

pub(crate) use sparkline::Sparkline;

/// Number of series with a distinct color.
const COLOR_COUNT: usize = 4;

/// One series: a value for each label of the axis, or `None` where there is no value.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// The series' name.
    pub name: String,
    /// One value for each label of the chart's axis.
    pub values: Vec<Option<f64>>,
}

/// A chart. Templates write it with `{{ chart }}`.
pub(crate) struct Chart {
    /// The title, including the unit: "Revenue per day, EUR".
    pub title: String,
    /// The title of the horizontal axis: "Day".
    pub axis_title: &'static str,
    /// The labels of the horizontal axis, from left to right.
    pub labels: Vec<String>,
    /// Up to four series.
    pub series: Vec<Series>,
    /// Formats a value, for example with `ui::money`.
    pub format: Box<dyn Fn(f64) -> String + Send + Sync>,
}

#[derive(Template)]
#[template(path = "ui/chart.html")]
struct ChartFigure<'a> {
    chart: &'a Chart,
    drawing: RawHtml<String>,
    /// The data table: a label and the value of each series.
    rows: Vec<(&'a str, Vec<String>)>,
}

impl Series {
    /// Creates a series of counts, one for each label.
    pub(crate) fn counts(name: &str, counts: impl Iterator<Item = f64>) -> Self {
        Self { name: name.to_owned(), values: counts.map(Some).collect() }
    }
}

impl Chart {
    /// Creates a chart of counts over time. Returns `None` if all counts are zero.
    pub(crate) fn of_counts(
        title: &str,
        axis_title: &'static str,
        labels: Vec<String>,
        series: Vec<Series>,
    ) -> Option<Self> {
        let mut values = series.iter().flat_map(|series| &series.values);
        let has_values = values.any(|value| value.is_some_and(|value| value > 0.0));
        let format = Box::new(|value: f64| ui::number(value as i64));
        has_values.then(|| Self { title: title.to_owned(), axis_title, labels, series, format })
    }

    /// Returns the class that sets the color of the series with this index.
    fn class(&self, series_index: &usize) -> String {
        format!("series-{}", series_index % COLOR_COUNT + 1)
    }

    fn figure(&self) -> ChartFigure<'_> {
        let cells = |index: usize| {
            let value = |series: &Series| series.values.get(index).copied().flatten();
            self.series
                .iter()
                .map(|series| value(series).map_or("-".to_owned(), |value| (self.format)(value)))
                .collect()
        };
        let rows =
            self.labels.iter().enumerate().map(|(index, name)| (name.as_str(), cells(index))).collect();
        ChartFigure { chart: self, drawing: RawHtml(draw::svg(self)), rows }
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
            axis_title: "Day",
            labels: (1..=values.len()).map(|day| format!("2026-03-{day:02}")).collect(),
            series: vec![Series { name: "A & B".to_owned(), values }],
            format: Box::new(|value| format!("{value:.0}")),
        }
    }

    #[test]
    fn a_chart_has_a_data_table_and_no_inline_styles() {
        let html = chart(vec![Some(1.0), None, Some(30.0), Some(12.0)]).to_string();
        assert!(!html.contains("style="), "{html}");
        assert!(!html.contains("NaN") && !html.contains("<per>"), "{html}");
        assert!(html.contains("<td class=\"number\">30</td>"), "{html}");
        assert!(html.contains("aria-hidden=\"true\""), "{html}");
    }

    #[test]
    fn empty_charts_are_valid() {
        for values in [vec![], vec![None, None], vec![Some(0.0)], vec![Some(5.0)]] {
            let html = chart(values).to_string();
            assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        }
    }

    #[test]
    fn the_svg_matches_its_snapshot() {
        let chart = chart(vec![Some(0.0), Some(10.0), None, Some(4.0)]);
        insta::assert_snapshot!(draw::svg(&chart).replace('>', ">\n"));
    }
}
