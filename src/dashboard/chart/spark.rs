//! A success rate over time, small enough for a row of a table: a bar for each place, the part that failed on top.
//!
//! Hidden from screen readers: whoever writes it says the figure beside it.

use std::fmt;

use askama::filters::HtmlSafe;

/// The drawing's own measures.
const STEP: f64 = 5.0;
const WIDE: f64 = 4.0;
const HIGH: f64 = 24.0;
/// Height of a place where nothing happened.
const NOTHING: f64 = 2.0;

/// For each place how many succeeded, of how many. Written into a template as it is: `{{ spark }}`.
#[derive(Debug, Clone)]
pub(crate) struct Spark(pub Vec<(u64, u64)>);

impl fmt::Display for Spark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = STEP * self.0.len() as f64 - (STEP - WIDE);
        write!(f, "<svg class=\"spark\" viewBox=\"0 0 {:.0} {HIGH}\" aria-hidden=\"true\">", wide.max(WIDE))?;
        for (place, (good, all)) in self.0.iter().enumerate() {
            let x = STEP * place as f64;
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

impl HtmlSafe for Spark {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_shows_its_share() {
        insta::assert_snapshot!(Spark(vec![(0, 0), (3, 3), (1, 4), (0, 2)]).to_string().replace("/><", "/>\n<"), @r#"
        <svg class="spark" viewBox="0 0 19 24" aria-hidden="true"><rect class="none" x="0" y="22.0" width="4" height="2.0"/>
        <rect class="good" x="5" y="0.0" width="4" height="24.0"/>
        <rect class="bad" x="10" y="0.0" width="4" height="18.0"/>
        <rect class="good" x="10" y="18.0" width="4" height="6.0"/>
        <rect class="bad" x="15" y="0.0" width="4" height="24.0"/>
        </svg>
        "#);
        assert_eq!(
            Spark(Vec::new()).to_string(),
            "<svg class=\"spark\" viewBox=\"0 0 4 24\" aria-hidden=\"true\"></svg>"
        );
    }
}
