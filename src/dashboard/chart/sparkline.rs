//! A success rate over time, small enough for a table row: one bar per period, with the failed share on top.
//!
//! Hidden from screen readers: the template writes the figure beside it.

use std::fmt;

use askama::filters::HtmlSafe;

/// Sizes in the view box.
const STEP: f64 = 5.0;
const WIDE: f64 = 4.0;
const HIGH: f64 = 24.0;
/// Height of the bar of a period without values.
const NOTHING: f64 = 2.0;

/// The number of successes and the total of each period. Templates write it with `{{ sparkline }}`.
#[derive(Debug, Clone)]
pub(crate) struct Sparkline(pub Vec<(u64, u64)>);

impl fmt::Display for Sparkline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = STEP * self.0.len() as f64 - (STEP - WIDE);
        write!(f, "<svg class=\"spark\" viewBox=\"0 0 {:.0} {HIGH}\" aria-hidden=\"true\">", wide.max(WIDE))?;
        for (index, (good, all)) in self.0.iter().enumerate() {
            let x = STEP * index as f64;
            let mut bar = |class: &str, y: f64, high: f64| {
                write!(
                    f,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" width=\"{WIDE}\" height=\"{high:.1}\"/>"
                )
            };
            if *all == 0 {
                bar("none", HIGH - NOTHING, NOTHING)?;
                continue;
            }
            let high = HIGH * (*good as f64 / *all as f64).min(1.0);
            if high < HIGH {
                bar("bad", 0.0, HIGH - high)?;
            }
            if high > 0.0 {
                bar("good", HIGH - high, high)?;
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
    fn each_place_shows_its_share() {
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
