//! Draws the SVG of a chart: axis, grid and lines. Every mark has a class; the style sheet sets the colors.

use std::fmt::Write as _;

use super::scale::AxisScale;
use super::{Chart, Series};

/// Size of the view box. The page scales the drawing to the available width.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
/// Margins below and above the plot area, for the labels.
const BOTTOM_MARGIN: f64 = 24.0;
const TOP_MARGIN: f64 = 10.0;
/// Maximum number of labels below the axis.
const MAX_LABELS: usize = 6;
/// Maximum width of a letter of a label, in units of the view box. On a phone, labels are largest in relation to the
/// drawing.
const LETTER_WIDTH: f64 = 11.0;

/// A drawing in progress.
struct Drawing<'a> {
    chart: &'a Chart,
    scale: AxisScale,
    /// Left end of the plot area, right of the labels of the vertical axis.
    left: f64,
    svg: String,
}

/// Returns the chart as an SVG element. It is hidden from screen readers, which read the data table.
pub(super) fn svg(chart: &Chart) -> String {
    let values = || chart.series.iter().flat_map(|series| series.values.iter().copied().flatten());
    let (minimum, maximum) =
        values().fold((0.0, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let scale = AxisScale::new(minimum, maximum);
    let left = 12.0 + text_width(scale.lines().map(|value| (chart.format)(value)));
    let svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">");
    let mut drawing = Drawing { chart, scale, left, svg };
    drawing.draw_grid();
    drawing.draw_labels();
    for (series_index, series) in chart.series.iter().enumerate() {
        drawing.draw_line(series_index, series);
    }
    drawing.svg.push_str("</svg>");
    drawing.svg
}

/// Returns the width of the longest text.
fn text_width(texts: impl Iterator<Item = String>) -> f64 {
    LETTER_WIDTH * texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64
}

impl Drawing<'_> {
    /// Draws the grid lines with their values.
    fn draw_grid(&mut self) {
        for value in self.scale.lines() {
            let (left, y) = (self.left, y_position(&self.scale, value));
            let _ = write!(
                self.svg,
                "<path class=\"grid\" d=\"M{left} {y:.1}H{WIDTH}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 4.0,
                escape(&(self.chart.format)(value))
            );
        }
    }

    /// Draws labels below the axis: the first, the last, and others between them if they fit, up to [`MAX_LABELS`] in
    /// total.
    fn draw_labels(&mut self) {
        let labels = &self.chart.labels;
        let last = labels.len().saturating_sub(1);
        // The first and last label are aligned to the ends of the axis, which leaves half a label's width for the gaps beside
        // them.
        let gap = 1.5 * text_width(labels.iter().cloned()) + LETTER_WIDTH;
        let gaps = ((WIDTH - self.left) / gap).max(1.0) as usize;
        let last_label = last.min(MAX_LABELS - 1).min(gaps);
        for label in 0..=last_label {
            let index = (label * last).checked_div(last_label).unwrap_or(0);
            let Some(name) = labels.get(index) else { return };
            let (anchor, x) = match label {
                0 if last > 0 => ("start", self.left),
                _ if label == last_label && last > 0 => ("end", WIDTH),
                _ => ("middle", self.x_center(index)),
            };
            let y = HEIGHT - 6.0;
            let name = escape(name);
            let _ =
                write!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{name}</text>");
        }
    }

    /// Draws a series as a line with gaps at missing values. A value without neighbors is drawn as a dot.
    fn draw_line(&mut self, series_index: usize, series: &Series) {
        let mut path = String::new();
        let mut in_line = false;
        let class = self.chart.class(&series_index);
        let has_value = |index: usize| series.values.get(index).copied().flatten().is_some();
        for (index, value) in series.values.iter().take(self.chart.labels.len()).enumerate() {
            let Some(value) = value else {
                in_line = false;
                continue;
            };
            let (x, y) = (self.x_center(index), y_position(&self.scale, *value));
            let _ = write!(path, "{}{x:.1} {y:.1}", if in_line { 'L' } else { 'M' });
            if !in_line && !has_value(index + 1) {
                let _ = write!(
                    self.svg,
                    "<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>"
                );
            }
            in_line = true;
        }
        if !path.is_empty() {
            let _ = write!(self.svg, "<path class=\"line {class}\" d=\"{path}\"/>");
        }
    }

    /// Returns the x coordinate of the center of a label's column.
    fn x_center(&self, index: usize) -> f64 {
        self.left + (WIDTH - self.left) * (index as f64 + 0.5) / self.chart.labels.len().max(1) as f64
    }
}

/// Returns the y coordinate of a value.
fn y_position(scale: &AxisScale, value: f64) -> f64 {
    HEIGHT - BOTTOM_MARGIN - (HEIGHT - BOTTOM_MARGIN - TOP_MARGIN) * scale.height(value)
}

/// Escapes text for SVG.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
