//! Parameters of every place and form, as the handler gets them and as they are refused.

use contract_runtime::scalar::Date;
use reqwest::Method;

use crate::generated::schemas::{Kind, Level, ListThingsSort, ListThingsTheme};
use crate::server::{Both, answer};

#[tokio::test]
async fn what_is_left_out_is_none_or_its_default() {
    let both = Both::start().await;
    assert_eq!(answer(both.call(Method::GET, "/things")).await.status, 200);
    let asked = both.library.listed();
    assert_eq!((asked.limit, asked.exact, asked.only_open), (25, 1.0, false));
    assert_eq!((&*asked.label, asked.sort), ("none", ListThingsSort::SizeDescending));
    assert_eq!((asked.ratio, asked.since, asked.day, asked.level), (None, None, None, None));
    assert_eq!((asked.tag, asked.ids, asked.kinds, asked.x_marks), (None, None, vec![], None));
    assert_eq!((asked.x_trace, asked.theme), (None, None));
}

#[tokio::test]
async fn each_form_arrives_as_its_type() {
    let both = Both::start().await;
    let query = "limit=5&ratio=0.5&exact=2.5&only_open=true&label=a%2Cb&sort=size&since=2026-01-01T00:00:00Z\
                 &day=2026-02-14&level=3&tag=a&tag=b%2Cc&ids=1,2&kinds=big,small";
    let request = both.call(Method::GET, &format!("/things?{query}"));
    let request = request.header("x-marks", "1, 2").header("x-marks", "3").header("x-trace", "t");
    let found = answer(request.header("cookie", "a=b; theme=dark")).await;
    assert_eq!(found.status, 200, "{}", String::from_utf8_lossy(&found.body));
    let asked = both.library.listed();
    assert_eq!((asked.limit, asked.ratio, asked.exact, asked.only_open), (5, Some(0.5), 2.5, true));
    assert_eq!((&*asked.label, asked.sort, asked.level), ("a,b", ListThingsSort::Size, Some(Level::Value3)));
    assert_eq!(asked.since.map(|since| since.0.as_second()), Some(1_767_225_600));
    assert_eq!(asked.day, Some(Date("2026-02-14".parse().expect("a day"))));
    assert_eq!(asked.tag, Some(vec!["a".to_owned(), "b,c".to_owned()]));
    assert_eq!((asked.ids, asked.kinds), (Some(vec![1, 2]), vec![Kind::Big, Kind::Small]));
    assert_eq!((asked.x_marks, asked.x_trace.as_deref()), (Some(vec![1, 2, 3]), Some("t")));
    assert_eq!(asked.theme, Some(ListThingsTheme::Dark));
    assert_eq!(
        (&*found.headers["link"], &*found.headers["x-total"], &*found.headers["x-old"]),
        ("a,b", "1", "a")
    );
}

#[tokio::test]
async fn each_fault_of_a_query_is_told() {
    let both = Both::start().await;
    for (query, fault) in [
        ("limit=7", "query limit: must be a multiple of 5"),
        ("ratio=1.5", "query ratio: must be less than 1.5"),
        ("exact=1e300", "query exact: must be at most 3.4028234663852886e+38"),
        ("only_open=yes", "query only_open: must be `true` or `false`"),
        ("sort=name", "query sort: must be one of `size`, `-size`"),
        (
            "since=yesterday",
            "query since: must be an RFC 3339 time with its offset from UTC, such as `2026-02-14T09:12:45Z`",
        ),
        ("day=2026-02-30", "query day: must be a day of the calendar, such as `2026-02-14`"),
        ("level=4", "query level: must be one of 1, 2, 3"),
        ("tag=a&tag=b&tag=c&tag=d", "query tag: must hold at most 3 items"),
        ("tag=a&tag=abcdef", "query tag: holds an item (number 2) that must be at most 5 characters long"),
        ("tag=a&tag=", "query tag: holds an item (number 2) that is empty"),
        ("ids=1,1", "query ids: must not hold an item twice"),
        ("ids=1,x", "query ids: holds an item (number 2) that must be a whole number in decimal digits"),
        ("ids=3000000000", "query ids: holds an item (number 1) that must be at most 2147483647"),
        ("ids=1&ids=2", "query ids: is given more than once"),
        ("ids=", "query ids: is empty; leave it out or give it a value"),
        ("kinds=big,huge", "query kinds: holds an item (number 2) that must be one of `big`, `small`"),
        ("page=2", "query page: is not a parameter of this operation"),
    ] {
        assert_eq!(
            answer(both.call(Method::GET, &format!("/things?{query}"))).await.faults(),
            [fault],
            "{query}"
        );
    }
}

#[tokio::test]
async fn each_fault_of_a_header_a_cookie_and_a_path_is_told() {
    let both = Both::start().await;
    for (name, value, fault) in [
        ("x-marks", "1, 10", "header X-Marks: holds an item (number 2) that must be at most 9"),
        ("x-marks", "1,,2", "header X-Marks: holds an item (number 2) that is empty"),
        ("x-trace", "0123456789", "header X-Trace: must be at most 9 characters long"),
        ("cookie", "theme=blue", "cookie theme: must be one of `light`, `dark`"),
        ("cookie", "theme=dark; theme=light", "cookie theme: is given more than once"),
    ] {
        let request = both.call(Method::GET, "/things").header(name, value);
        assert_eq!(answer(request).await.faults(), [fault], "{name}: {value}");
    }
    let body = serde_json::json!({ "labels": { "a": "b" } });
    let without = both.call(Method::POST, "/things").json(&body);
    assert_eq!(answer(without).await.faults(), ["cookie theme: is required"]);
    let there = answer(both.call(Method::PUT, "/things/huge/0").json(&body)).await;
    assert_eq!(there.faults(), ["path kind: must be one of `big`, `small`", "path id: must be at least 1"]);
}
