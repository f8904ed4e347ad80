//! The time zone in which a page of the dashboard shows times.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex::Regex;

use super::browser::first_match;

/// The cookie in which the script stores the browser's time zone.
pub const COOKIE: &str = "time-zone";

/// Returns the time zone that a page names.
#[track_caller]
pub fn named_zone(page: &str) -> String {
    assert_eq!(page.matches("id=\"time-zone\"").count(), 1, "the page names its time zone once: {page}");
    first_match(page, "id=\"time-zone\">([^<]+)<")
}

/// Asserts that all times on a page are in the time zone that the page names, and that the page names no other one.
#[track_caller]
pub fn assert_one_time_zone(address: &str, page: &str) {
    let zone = TimeZone::get(&named_zone(page)).expect("a known time zone");
    let time = Regex::new("<time datetime=\"([^\"]+)\"([^>]*)>([^<]+)</time>").unwrap();
    for captures in time.captures_iter(page) {
        let at: Timestamp = captures[1].parse().unwrap();
        let expected = at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
        assert_eq!((&captures[3], &captures[2]), (&*expected, ""), "{address}");
    }
    // The switch is about the other zone, and a form contains the zone of its fields. Messages are shown as they were sent.
    let exempt = [
        "(?s)<footer.*?</footer>",
        "<input type=\"hidden\"[^>]*>",
        "(?s)<pre.*?</pre>",
        " hx-headers='[^']*'",
        " data-copy=\"[^\"]*\"",
    ];
    let text = exempt.iter().fold(page.to_owned(), |text, exempt| {
        Regex::new(exempt).unwrap().replace_all(&text, "").into_owned()
    });
    let text = time.replace_all(&text, "").into_owned();
    let other = Regex::new(r"UTC|GMT|America/|\d\d:\d\d(:\d\d)?(\.\d+)?Z").unwrap();
    assert_eq!(other.find(&text).map(|found| found.as_str()), None, "{address}: {text}");
}
