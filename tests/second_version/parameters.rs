//! Parameters in every location and style: how handlers receive them, and how invalid ones are rejected.

use contract_runtime::scalar::Date;
use reqwest::Method;

use crate::generated::schemas::{Kind, Level, ListThingsSort, ListThingsTheme};
use crate::server::{TestServer, execute};

#[tokio::test]
async fn an_absent_parameter_is_none_or_its_default() {
    let server = TestServer::start().await;
    assert_eq!(execute(server.call(Method::GET, "/things")).await.status, 200);
    let request = server.service.last_list_request();
    assert_eq!((request.limit, request.exact, request.only_open), (25, 1.0, false));
    assert_eq!((&*request.label, request.sort), ("none", ListThingsSort::SizeDescending));
    assert_eq!((request.ratio, request.since, request.day, request.level), (None, None, None, None));
    assert_eq!((request.tag, request.ids, request.kinds, request.x_marks), (None, None, vec![], None));
    assert_eq!((request.x_trace, request.theme), (None, None));
}

#[tokio::test]
async fn each_parameter_style_is_parsed_to_its_type() {
    let server = TestServer::start().await;
    let query = "limit=5&ratio=0.5&exact=2.5&only_open=true&label=a%2Cb&sort=size&since=2026-01-01T00:00:00Z\
                 &day=2026-02-14&level=3&tag=a&tag=b%2Cc&ids=1,2&kinds=big,small";
    let request = server.call(Method::GET, &format!("/things?{query}"));
    let request = request.header("x-marks", "1, 2").header("x-marks", "3").header("x-trace", "t");
    let response = execute(request.header("cookie", "a=b; theme=dark")).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    let request = server.service.last_list_request();
    assert_eq!((request.limit, request.ratio, request.exact, request.only_open), (5, Some(0.5), 2.5, true));
    assert_eq!(
        (&*request.label, request.sort, request.level),
        ("a,b", ListThingsSort::Size, Some(Level::Value3))
    );
    assert_eq!(request.since.map(|since| since.0.as_second()), Some(1_767_225_600));
    assert_eq!(request.day, Some(Date("2026-02-14".parse().expect("a day"))));
    assert_eq!(request.tag, Some(vec!["a".to_owned(), "b,c".to_owned()]));
    assert_eq!((request.ids, request.kinds), (Some(vec![1, 2]), vec![Kind::Big, Kind::Small]));
    assert_eq!((request.x_marks, request.x_trace.as_deref()), (Some(vec![1, 2, 3]), Some("t")));
    assert_eq!(request.theme, Some(ListThingsTheme::Dark));
    // The test service returns the label in `Link`, and constants in the other headers. The server adds a link.
    assert!(response.headers["link"].starts_with("a,b, <"), "{}", response.headers["link"]);
    assert_eq!((&*response.headers["x-total"], &*response.headers["x-old"]), ("1", "a"));
}

#[tokio::test]
async fn each_invalid_query_parameter_is_reported() {
    let server = TestServer::start().await;
    for (query, error) in [
        ("limit=7", "query limit: must be a multiple of 5"),
        ("ratio=1.5", "query ratio: must be less than 1.5"),
        ("exact=1e300", "query exact: must be at most 3.4028234663852886e+38"),
        ("only_open=yes", "query only_open: must be `true` or `false`"),
        ("sort=name", "query sort: must be one of `size`, `-size`"),
        (
            "since=yesterday",
            "query since: must be an RFC 3339 time with a UTC offset, such as `2026-02-14T09:12:45Z`",
        ),
        ("day=2026-02-30", "query day: must be a date, such as `2026-02-14`"),
        ("level=4", "query level: must be one of 1, 2, 3"),
        ("tag=a&tag=b&tag=c&tag=d", "query tag: must have at most 3 items"),
        (
            "tag=a&tag=abcdef",
            "query tag: has an invalid item (number 2): it must be at most 5 characters long",
        ),
        ("tag=a&tag=", "query tag: has an invalid item (number 2): it is empty"),
        ("ids=1,1", "query ids: must not contain duplicate items"),
        ("ids=1,x", "query ids: has an invalid item (number 2): it must be an integer in decimal digits"),
        ("ids=3000000000", "query ids: has an invalid item (number 1): it must be at most 2147483647"),
        ("ids=1&ids=2", "query ids: is specified more than once"),
        ("ids=", "query ids: is empty; omit it or provide a value"),
        ("kinds=big,huge", "query kinds: has an invalid item (number 2): it must be one of `big`, `small`"),
        ("page=2", "query page: is not a parameter of this operation"),
    ] {
        assert_eq!(
            execute(server.call(Method::GET, &format!("/things?{query}"))).await.errors(),
            [error],
            "{query}"
        );
    }
}

#[tokio::test]
async fn each_invalid_header_cookie_and_path_parameter_is_reported() {
    let server = TestServer::start().await;
    for (name, value, error) in [
        ("x-marks", "1, 10", "header X-Marks: has an invalid item (number 2): it must be at most 9"),
        ("x-marks", "1,,2", "header X-Marks: has an invalid item (number 2): it is empty"),
        ("x-trace", "0123456789", "header X-Trace: must be at most 9 characters long"),
        ("cookie", "theme=blue", "cookie theme: must be one of `light`, `dark`"),
        ("cookie", "theme=dark; theme=light", "cookie theme: is specified more than once"),
    ] {
        let request = server.call(Method::GET, "/things").header(name, value);
        assert_eq!(execute(request).await.errors(), [error], "{name}: {value}");
    }
    let body = serde_json::json!({ "labels": { "a": "b" } });
    let without_cookie = server.call(Method::POST, "/things").json(&body);
    assert_eq!(execute(without_cookie).await.errors(), ["cookie theme: is required"]);
    let rejected = execute(server.call(Method::PUT, "/things/huge/0").json(&body)).await;
    assert_eq!(
        rejected.errors(),
        ["path kind: must be one of `big`, `small`", "path id: must be at least 1"]
    );
}
