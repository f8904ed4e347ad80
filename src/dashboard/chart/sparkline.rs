//! A success rate over time, small enough for a table row: one bar per period, with the failed share on top.
//!
//! It is hidden from screen readers, since the template writes the rate beside it.

use std::fmt;

use askama::filters::HtmlSafe;

/// Sizes in the view box.
const BAR_DISTANCE: f64 = 5.0;
const BAR_WIDTH: f64 = 4.0;
const HEIGHT: f64 = 24.0;
/// Height of the bar of a period without values.
const EMPTY_BAR_HEIGHT: f64 = 2.0;

/// The number of successes and the total of each period. Templates write it with `{{ sparkline }}`.
#[derive(Debug, Clone)]
pub(crate) struct Sparkline(pub Vec<(u64, u64)>);

impl fmt::Display for Sparkline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = BAR_DISTANCE * self.0.len() as f64 - (BAR_DISTANCE - BAR_WIDTH);
        let width = width.max(BAR_WIDTH);
        write!(f, "<svg class=\"spark\" viewBox=\"0 0 {width:.0} {HEIGHT}\" aria-hidden=\"true\">")?;
        for (index, (succeeded, total)) in self.0.iter().enumerate() {
            let x = BAR_DISTANCE * index as f64;
            let mut bar = |class: &str, y: f64, height: f64| {
                write!(
                    f,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" width=\"{BAR_WIDTH}\" height=\"{height:.1}\"/>"
                )
            };
            if *total == 0 {
                bar("none", HEIGHT - EMPTY_BAR_HEIGHT, EMPTY_BAR_HEIGHT)?;
                continue;
            }
            let good_height = HEIGHT * (*succeeded as f64 / *total as f64).min(1.0);
            if good_height < HEIGHT {
                bar("bad", 0.0, HEIGHT - good_height)?;
            }
            if good_height > 0.0 {
                bar("good", HEIGHT - good_height, good_height)?;
            }
        }
        f.write_str("</svg>")
    }
}

impl HtmlSafe for Sparkline {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_shows_its_success_rate() {
        insta::assert_snapshot!(Sparkline(vec![(0, 0), (3, 3), (1, 4), (0, 2)]).to_string().replace("/><", "/>\n<"), @r#"
        <svg class="spark" viewBox="0 0 19 24" aria-hidden="true"><rect class="none" x="0" y="22.0" width="4" height="2.0"/>
        <rect class="good" x="5" y="0.0" width="4" height="24.0"/>
        <rect class="bad" x="10" y="0.0" width="4" height="18.0"/>
        <rect class="good" x="10" y="18.0" width="4" height="6.0"/>
        <rect class="bad" x="15" y="0.0" width="4" height="24.0"/>
        </svg>
        "#);
        assert_eq!(
            Sparkline(Vec::new()).to_string(),
            "<svg class=\"spark\" viewBox=\"0 0 4 24\" aria-hidden=\"true\"></svg>"
        );
    }
}
