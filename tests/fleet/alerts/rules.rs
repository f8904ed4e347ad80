//! The alert rules in a shorter time scale.

use anyhow::{Context as _, Result, bail};
use regex::{Captures, Regex};

/// The rules that the package contains.
const RULES: &str = include_str!("../../../xtask/dist/alerts.yaml");

/// By what the times in the rules are divided: an hour becomes two minutes, and a minute two seconds.
pub const FACTOR: u64 = 30;

/// Returns the rules with all times divided by [`FACTOR`]: each `for`, each range of a selector (`[5m]`), and each number with which
/// a metric whose name ends with `_seconds` is compared. Alerts do not
/// continue to fire after their condition has ended. Nothing else is changed.
///
/// # Errors
/// Returns an error when a time is not a multiple of [`FACTOR`] seconds.
pub fn shortened() -> Result<String> {
    let durations = Regex::new(r"(?P<start>for: |\[)(?P<number>\d+)(?P<unit>[smh])\b")?;
    let thresholds = Regex::new(r"(?P<start>_seconds\)? > )(?P<number>\d+)\b")?;
    // The test also measures when alerts end.
    let rules = Regex::new(r"(?m)^ *keep_firing_for: .*\n")?.replace_all(RULES, "");
    let rules = replace(&rules, &durations, "s")?;
    replace(&rules, &thresholds, "")
}

/// Divides the number of each match, in seconds, and appends `suffix`.
fn replace(rules: &str, times: &Regex, suffix: &str) -> Result<String> {
    let mut text = String::new();
    let mut end = 0;
    for found in times.captures_iter(rules) {
        let time = found.get(0).context("a match")?;
        text.push_str(&rules[end..time.start()]);
        text.push_str(&format!("{}{}{suffix}", &found["start"], divided(&found)?));
        end = time.end();
    }
    if end == 0 {
        bail!("the rules contain no time that matches {times}");
    }
    text.push_str(&rules[end..]);
    Ok(text)
}

fn divided(time: &Captures<'_>) -> Result<u64> {
    let unit = match time.name("unit").map(|unit| unit.as_str()) {
        Some("h") => 3600,
        Some("m") => 60,
        _ => 1,
    };
    let seconds = time["number"].parse::<u64>()? * unit;
    if !seconds.is_multiple_of(FACTOR) {
        bail!("{} is not a multiple of {FACTOR} seconds", &time[0]);
    }
    Ok(seconds / FACTOR)
}
