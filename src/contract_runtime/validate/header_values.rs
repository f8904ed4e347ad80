//! Extracts list values and cookies from headers.

use poem::http::{HeaderMap, header};

use super::query;

/// Returns the items of a list header, joined by single commas. Several header lines are one list (RFC 9110, section
/// 5.3). Ignores lines that are not visible ASCII. Returns `None` if no line is left.
pub(crate) fn header_list(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines: Vec<&str> = headers.get_all(name).iter().filter_map(|line| line.to_str().ok()).collect();
    let items: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).map(str::trim).collect();
    (!lines.is_empty()).then(|| items.join(","))
}

/// Returns all values of a cookie without surrounding quotes, percent-decoded if they are valid percent-encoded UTF-8.
pub(crate) fn cookies(headers: &HeaderMap, name: &str) -> Vec<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let values = pairs.filter(|(cookie, _)| *cookie == name).map(|(_, value)| value.trim_matches('"'));
    values.map(|value| query::decode_segment(value).unwrap_or_else(|| value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, lines: &[&'static str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for line in lines {
            map.append(name, HeaderValue::from_static(line));
        }
        map
    }

    #[test]
    fn a_list_can_be_spread_over_several_header_lines() {
        let list = |lines: &[&'static str]| header_list(&headers("x-tags", lines), "x-tags");
        assert_eq!(list(&["a, b", "c"]).as_deref(), Some("a,b,c"));
        assert_eq!(list(&[]), None);
    }

    #[test]
    fn a_cookie_is_found_among_others_and_decoded() {
        let themes = |lines: &[&'static str]| cookies(&headers("cookie", lines), "theme");
        assert_eq!(themes(&["a=1; theme=dark%20red; themes=x"]), ["dark red"]);
        assert_eq!(themes(&["theme=\"x\"", "theme=y+z"]), ["x", "y+z"]);
        assert_eq!(themes(&["theme", "%zz"]), [""; 0]);
    }
}
