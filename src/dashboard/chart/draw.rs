//! The drawing itself: axis, grid, lines or bars. Every mark has a class; colours are the style sheet's.

use std::fmt::Write as _;

use super::scale::Scale;
use super::{Chart, Series, Shape};

/// The drawing's own measures; the page scales it to the room there is.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
/// Room for the labels: left of the axis, below it, above it.
const LEFT: f64 = 68.0;
const FOOT: f64 = 24.0;
const HEAD: f64 = 10.0;
/// Labels below the axis at most.
const LABELS: usize = 6;
/// Width of a letter and of the space between two labels, on a narrow screen.
const LETTER: f64 = 9.5;
const BETWEEN: f64 = 16.0;

/// The chart as an SVG element. Hidden from screen readers, which are told the table.
pub(super) fn svg(chart: &Chart) -> String {
    let values = || chart.series.iter().flat_map(|series| series.values.iter().copied().flatten());
    let (least, greatest) =
        values().fold((0.0, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let scale = Scale::of(least, greatest);
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">");
    for value in scale.lines() {
        let y = up(&scale, value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            escaped(&(chart.write)(value))
        );
    }
    labels(chart, &mut svg);
    for (number, series) in chart.series.iter().enumerate() {
        match chart.shape {
            Shape::Lines => line(chart, &scale, number, series, &mut svg),
            Shape::Bars => bars(chart, &scale, number, series, &mut svg),
        }
    }
    svg.push_str("</svg>");
    svg
}

/// Names under the axis, as many as have room; the first and the last are among them.
fn labels(chart: &Chart, svg: &mut String) {
    let last = chart.places.len().saturating_sub(1);
    let shown = last.min(LABELS - 1).min(room(chart));
    for label in 0..=shown {
        let place = (label * last).checked_div(shown).unwrap_or(0);
        let Some(name) = chart.places.get(place) else { return };
        let anchor = match label {
            0 if last > 0 => "start",
            _ if label == shown && last > 0 => "end",
            _ => "middle",
        };
        let x = match anchor {
            "start" => LEFT,
            "end" => WIDTH,
            _ => middle(chart, place),
        };
        let y = HEIGHT - 6.0;
        let _ =
            write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(name));
    }
}

/// Gaps between labels for which there is room where they are drawn largest, on a narrow screen. The outermost labels
/// stand inside the axis, so that half a label more comes into the gaps beside them.
fn room(chart: &Chart) -> usize {
    let longest = chart.places.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    let gap = 1.5 * (longest * LETTER + BETWEEN);
    ((WIDTH - LEFT) / gap).max(1.0) as usize
}

/// A line that breaks where there is no value; a value alone is a dot.
fn line(chart: &Chart, scale: &Scale, number: usize, series: &Series, svg: &mut String) {
    let mut path = String::new();
    let mut open = false;
    let present = |place: usize| series.values.get(place).copied().flatten().is_some();
    for (place, value) in series.values.iter().take(chart.places.len()).enumerate() {
        let Some(value) = value else {
            open = false;
            continue;
        };
        let (x, y) = (middle(chart, place), up(scale, *value));
        let _ = write!(path, "{}{x:.1} {y:.1}", if open { 'L' } else { 'M' });
        if !open && !present(place + 1) {
            let class = chart.class(&number);
            let _ = write!(svg, "<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>");
        }
        open = true;
    }
    if !path.is_empty() {
        let _ = write!(svg, "<path class=\"line {}\" d=\"{path}\"/>", chart.class(&number));
    }
}

/// A bar from zero for each value, the series side by side; hovering tells what it is.
fn bars(chart: &Chart, scale: &Scale, number: usize, series: &Series, svg: &mut String) {
    let room = (WIDTH - LEFT) / chart.places.len().max(1) as f64;
    let wide = (room * 0.72 / chart.series.len() as f64).clamp(0.5, 40.0);
    let foot = up(scale, 0.0);
    for (place, value) in series.values.iter().take(chart.places.len()).enumerate() {
        let Some(value) = value else { continue };
        let all = wide * chart.series.len() as f64;
        let x = middle(chart, place) - all / 2.0 + wide * number as f64;
        let y = up(scale, *value);
        let (top, high) = (y.min(foot), (y - foot).abs());
        let told = format!("{}: {}, {}", chart.places[place], series.name, (chart.write)(*value));
        let _ = write!(
            svg,
            "<rect class=\"bar {}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"><title>{}</title></rect>",
            chart.class(&number),
            escaped(&told)
        );
    }
}

/// The middle of a place, from the left.
fn middle(chart: &Chart, place: usize) -> f64 {
    LEFT + (WIDTH - LEFT) * (place as f64 + 0.5) / chart.places.len().max(1) as f64
}

/// Where a value stands, from above.
fn up(scale: &Scale, value: f64) -> f64 {
    HEIGHT - FOOT - (HEIGHT - FOOT - HEAD) * scale.height(value)
}

/// Text as SVG shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
