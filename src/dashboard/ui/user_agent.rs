//! Reads browser and operating system from a user agent (RFC 9110, section 10.1.5).
//!
//! A short table, since the session list shows no more than these two. It shows the whole user agent on hover.

/// A part of a user agent, and the browser that sends it. Browsers that add a name to that of another one come first.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Ddg/", "DuckDuckGo"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Trident/", "Internet Explorer"),
    ("Safari/", "Safari"),
];

/// A part of a user agent, and the operating system. iOS and Android come before the systems that they claim to be like.
const SYSTEMS: &[(&str, &str)] = &[
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
    ("OpenBSD", "OpenBSD"),
];

/// Returns browser and operating system: "Chrome on Linux". For programs that are no known browser, returns the product that
/// the user agent begins with: "curl/8.14.1".
pub(crate) fn user_agent(text: &str) -> String {
    let find = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name)
    };
    // Every browser claims to be Mozilla/5.0.
    match (text.starts_with("Mozilla/").then(|| find(BROWSERS)).flatten(), find(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => text.split_whitespace().next().unwrap_or("unknown").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_read_as_browser_and_operating_system() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (text, expected) in [
            (format!("Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/140.0.0.0 Safari/537.36"), "Chrome on Linux"),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"),
                "Edge on Windows",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36"),
                "Chrome on Android",
            ),
            (
                format!("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/140.0.0.0 Safari/537.36"),
                "Chrome on ChromeOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 CriOS/140.0.0.0 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                "Chrome on iOS",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 \
                 Safari/605.1.15"
                    .to_owned(),
                "Safari on macOS",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0".to_owned(),
                "Firefox on Windows",
            ),
            ("Mozilla/5.0 (Plan 9) Firefox/1.0".to_owned(), "Firefox"),
            ("curl/8.14.1".to_owned(), "curl/8.14.1"),
            ("python-requests/2.32 (Linux) Chrome/1".to_owned(), "python-requests/2.32"),
            ("Mozilla/5.0 (compatible; Probe/1.0)".to_owned(), "Mozilla/5.0"),
            (" ".to_owned(), "unknown"),
        ] {
            assert_eq!(user_agent(&text), expected, "{text}");
        }
    }
}
