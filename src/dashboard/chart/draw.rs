//! The drawing itself: axis, grid, lines or bars. Every mark has a class; colours are the style sheet's.

use std::fmt::Write as _;

use super::scale::Scale;
use super::{Chart, Series};

/// The drawing's own measures; the page scales it to the room there is.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
/// Room for the labels: below the axis, above it.
const FOOT: f64 = 24.0;
const HEAD: f64 = 10.0;
/// Labels below the axis at most.
const LABELS: usize = 6;
/// Room for a letter of a label where it is largest: on a phone.
const LETTER: f64 = 11.0;

/// A drawing in the making.
struct Drawing<'a> {
    chart: &'a Chart,
    scale: Scale,
    /// Where the axis begins: right of its labels.
    left: f64,
    svg: String,
}

/// The chart as an SVG element. Hidden from screen readers, which are told the table.
pub(super) fn svg(chart: &Chart) -> String {
    let values = || chart.series.iter().flat_map(|series| series.values.iter().copied().flatten());
    let (least, greatest) =
        values().fold((0.0, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let scale = Scale::of(least, greatest);
    let left = 12.0 + room(scale.lines().map(|value| (chart.write)(value)));
    let svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">");
    let mut drawing = Drawing { chart, scale, left, svg };
    drawing.grid();
    drawing.labels();
    for (number, series) in chart.series.iter().enumerate() {
        drawing.line(number, series);
    }
    drawing.svg.push_str("</svg>");
    drawing.svg
}

/// What the longest of these texts takes.
fn room(texts: impl Iterator<Item = String>) -> f64 {
    LETTER * texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64
}

impl Drawing<'_> {
    /// The lines of the grid, with what they stand for.
    fn grid(&mut self) {
        for value in self.scale.lines() {
            let (left, y) = (self.left, up(&self.scale, value));
            let _ = write!(
                self.svg,
                "<path class=\"grid\" d=\"M{left} {y:.1}H{WIDTH}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 4.0,
                escaped(&(self.chart.write)(value))
            );
        }
    }

    /// Names under the axis, as many as have room; the first and the last are among them.
    fn labels(&mut self) {
        let places = &self.chart.places;
        let last = places.len().saturating_sub(1);
        // The outermost stand inside the axis, so that half a label more comes into the gaps beside them.
        let gap = 1.5 * room(places.iter().cloned()) + LETTER;
        let gaps = ((WIDTH - self.left) / gap).max(1.0) as usize;
        let shown = last.min(LABELS - 1).min(gaps);
        for label in 0..=shown {
            let place = (label * last).checked_div(shown).unwrap_or(0);
            let Some(name) = places.get(place) else { return };
            let (anchor, x) = match label {
                0 if last > 0 => ("start", self.left),
                _ if label == shown && last > 0 => ("end", WIDTH),
                _ => ("middle", self.middle(place)),
            };
            let y = HEIGHT - 6.0;
            let name = escaped(name);
            let _ =
                write!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{name}</text>");
        }
    }

    /// A line that breaks where there is no value; a value alone is a dot.
    fn line(&mut self, number: usize, series: &Series) {
        let mut path = String::new();
        let mut open = false;
        let class = self.chart.class(&number);
        let present = |place: usize| series.values.get(place).copied().flatten().is_some();
        for (place, value) in series.values.iter().take(self.chart.places.len()).enumerate() {
            let Some(value) = value else {
                open = false;
                continue;
            };
            let (x, y) = (self.middle(place), up(&self.scale, *value));
            let _ = write!(path, "{}{x:.1} {y:.1}", if open { 'L' } else { 'M' });
            if !open && !present(place + 1) {
                let _ = write!(
                    self.svg,
                    "<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>"
                );
            }
            open = true;
        }
        if !path.is_empty() {
            let _ = write!(self.svg, "<path class=\"line {class}\" d=\"{path}\"/>");
        }
    }

    /// The middle of a place, from the left.
    fn middle(&self, place: usize) -> f64 {
        self.left + (WIDTH - self.left) * (place as f64 + 0.5) / self.chart.places.len().max(1) as f64
    }
}

/// Where a value stands, from above.
fn up(scale: &Scale, value: f64) -> f64 {
    HEIGHT - FOOT - (HEIGHT - FOOT - HEAD) * scale.height(value)
}

/// Text as SVG shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
