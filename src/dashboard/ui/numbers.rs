//! Formats numbers for people: with separators and units.

use std::time::Duration;

/// Formats an integer with a comma every three digits.
pub(crate) fn number(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an integer like [`number`], for templates, which pass references.
pub(crate) fn count(count: &(impl Into<i128> + Copy)) -> String {
    number(*count)
}

/// Formats an amount in minor units, as `EUR 1,234.50`.
pub(crate) fn money(amount: i64, currency: &str) -> String {
    let decimals = decimals(currency);
    let unit = 10_u64.pow(decimals);
    let (whole, fraction) = (amount.unsigned_abs() / unit, amount.unsigned_abs() % unit);
    let sign = if amount < 0 { "-" } else { "" };
    let whole = number(whole);
    if decimals == 0 {
        return format!("{currency} {sign}{whole}");
    }
    format!("{currency} {sign}{whole}.{fraction:0width$}", width = decimals as usize)
}

/// Parses an amount such as `1,234.50` into minor units. Returns `None` if it is not an amount, is negative, is too
/// large, or has more decimals than the currency. Also returns `None` for a comma that could be meant as a decimal
/// separator.
pub(crate) fn minor_units(text: &str, currency: &str) -> Option<i64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let width = decimals(currency) as usize;
    // In a currency with three decimals, a comma before three digits is ambiguous.
    if width == 3 && text.contains(',') && fraction.is_empty() {
        return None;
    }
    let whole = without_commas(whole)?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > width || !digits(&whole) || !digits(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<width$}").parse().ok()
}

/// Returns an example of an amount in a currency, with all of its decimals: `12.50`. [`minor_units`] parses it.
pub(crate) fn example_amount(currency: &str) -> String {
    match decimals(currency) as usize {
        0 => "1250".to_owned(),
        width => format!("12.{:0<width$}", "5"),
    }
}

/// Returns the text without its thousands separators, or `None` if commas do not separate groups of three characters.
fn without_commas(text: &str) -> Option<String> {
    let (first, groups) = text.split_once(',').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let is_valid = groups.is_none_or(|groups| {
        let is_group = (1..=3).contains(&first.len()) && !first.starts_with('0');
        is_group && groups.split(',').all(|group| group.len() == 3)
    });
    is_valid.then(|| text.replace(',', ""))
}

/// Formats `part` as a percentage of `total`: `98.7%`, or a dash if the total is zero.
pub(crate) fn percent(part: u64, total: u64) -> String {
    if total == 0 {
        return "-".to_owned();
    }
    // Rounded down, so that the result is 100% only if the part is the total.
    let tenths = u128::from(part) * 1000 / u128::from(total);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// The precision with which a duration was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Shown with one decimal.
    Microseconds,
    /// Shown without decimals.
    Milliseconds,
}

/// Formats a duration in milliseconds, rounded down: `1,234.5 ms`. A duration that would be zero is `<0.1 ms`, or `<1 ms`
/// if it was measured in milliseconds.
pub(crate) fn duration(duration: Duration, precision: Precision) -> String {
    let (whole, tenths) = (duration.as_millis(), duration.subsec_micros() % 1000 / 100);
    let whole_text = number(i128::try_from(whole).unwrap_or(i128::MAX));
    match precision {
        Precision::Microseconds if (whole, tenths) == (0, 0) => "<0.1 ms".to_owned(),
        Precision::Microseconds => format!("{whole_text}.{tenths} ms"),
        Precision::Milliseconds if whole == 0 => "<1 ms".to_owned(),
        Precision::Milliseconds => format!("{whole_text} ms"),
    }
}

/// Returns the number of decimals of a currency (ISO 4217).
fn decimals(currency: &str) -> u32 {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI"
        | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_parsed_as_people_write_it() {
        for (text, currency, amount) in [
            ("49", "EUR", Some(4900)),
            (" 1,234.5 ", "EUR", Some(123_450)),
            ("0.01", "EUR", Some(1)),
            ("1,234,567", "EUR", Some(123_456_700)),
            ("1000", "JPY", Some(1000)),
            ("1.005", "KWD", Some(1005)),
            ("1.005", "EUR", None),
            ("1.5", "JPY", None),
            ("1,005.5", "KWD", Some(1_005_500)),
            ("1,005", "KWD", None),
            ("0,500", "EUR", None),
            ("12,50", "EUR", None),
            ("1,5", "EUR", None),
            ("1,23,456", "EUR", None),
            ("1234,567", "EUR", None),
            (",123", "EUR", None),
            ("1,,234", "EUR", None),
            ("1.234,50", "EUR", None),
            ("1,1é", "EUR", None),
            ("-1", "EUR", None),
            ("", "EUR", None),
            (".5", "EUR", None),
            ("1e3", "EUR", None),
            ("99999999999999999999", "EUR", None),
        ] {
            assert_eq!(minor_units(text, currency), amount, "{text} {currency}");
        }
    }

    #[test]
    fn the_example_of_an_amount_has_the_decimals_of_the_currency() {
        for (currency, example, amount) in [
            ("EUR", "12.50", 1250),
            ("JPY", "1250", 1250),
            ("KWD", "12.500", 12_500),
            ("CLF", "12.5000", 125_000),
        ] {
            assert_eq!(example_amount(currency), example);
            assert_eq!(minor_units(example, currency), Some(amount), "{currency}");
        }
    }

    #[test]
    fn a_duration_is_never_zero() {
        let durations = [0, 99, 100, 999, 1000, 1_234_567].map(|us| {
            let duration_of = |precision| duration(Duration::from_micros(us), precision);
            [duration_of(Precision::Microseconds), duration_of(Precision::Milliseconds)].join(", ")
        });
        insta::assert_snapshot!(durations.join("\n"), @r"
        <0.1 ms, <1 ms
        <0.1 ms, <1 ms
        0.1 ms, <1 ms
        0.9 ms, <1 ms
        1.0 ms, 1 ms
        1,234.5 ms, 1,234 ms
        ");
    }

    #[test]
    fn numbers_have_separators_and_units() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(-1_234_567), "-1,234,567");
        assert_eq!(money(123_450, "EUR"), "EUR 1,234.50");
        assert_eq!(money(-5, "USD"), "USD -0.05");
        assert_eq!(money(1_000, "JPY"), "JPY 1,000");
        assert_eq!(money(1_005, "KWD"), "KWD 1.005");
        assert_eq!(money(i64::MIN, "EUR"), "EUR -92,233,720,368,547,758.08");
        assert_eq!((percent(999, 1000).as_str(), percent(0, 0).as_str()), ("99.9%", "-"));
        assert_eq!(percent(99_999, 100_000), "99.9%");
    }
}
