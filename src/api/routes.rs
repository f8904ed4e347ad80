//! Which operation a method and path name.
//!
//! Decides 404 and 405 and the scope before the framework sees the request, from the operation tables alone.

use std::collections::BTreeSet;

use poem::http::HeaderValue;

use super::contract::Operation;
use super::validate::query;
use domain::scope::Scope;

/// The paths of the contract.
pub struct Routes {
    paths: Vec<Path>,
}

struct Path {
    segments: Vec<Segment>,
    methods: Vec<Route>,
    /// The methods it takes, as the header says it.
    allow: HeaderValue,
}

enum Segment {
    Literal(&'static str),
    Parameter(&'static str),
}

/// One operation and the scope that its calls need.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The operation.
    pub operation: &'static Operation,
    /// The scope, parsed.
    pub scope: Option<Scope>,
}

/// The path's parameters, decoded, in the order of the path.
pub type Captured = Vec<(&'static str, String)>;

/// What a method and path name.
pub enum Found {
    /// An operation.
    Operation(Route, Captured),
    /// A path that takes these methods, not this one.
    WrongMethod(HeaderValue),
    /// Nothing.
    Nothing,
}

impl Routes {
    /// The routes to these operations.
    ///
    /// # Errors
    /// When the contract names a scope that does not exist.
    pub fn new(operations: &[&'static Operation]) -> anyhow::Result<Self> {
        let mut paths: Vec<(&'static str, Path)> = Vec::new();
        for &operation in operations {
            let scope = operation.scope.map(str::parse).transpose()?;
            let at = paths.iter().position(|(text, _)| *text == operation.path).unwrap_or_else(|| {
                paths.push((operation.path, Path::new(operation.path)));
                paths.len() - 1
            });
            paths[at].1.methods.push(Route { operation, scope });
        }
        let mut paths: Vec<Path> = paths.into_iter().map(|(_, path)| path).collect();
        for path in &mut paths {
            path.allow = path.allowed()?;
        }
        Ok(Self { paths })
    }

    /// The operation behind a method and an undecoded path. `HEAD` names what `GET` does.
    pub fn find(&self, method: &str, path: &str) -> Found {
        let Some((path, captured)) =
            self.paths.iter().find_map(|candidate| Some((candidate, candidate.captures(path)?)))
        else {
            return Found::Nothing;
        };
        let method = if method == "HEAD" { "GET" } else { method };
        match path.methods.iter().find(|route| route.operation.method == method) {
            Some(route) => Found::Operation(*route, captured),
            None => Found::WrongMethod(path.allow.clone()),
        }
    }
}

impl Path {
    fn new(text: &'static str) -> Self {
        let segments = text.trim_start_matches('/').split('/').map(|segment| {
            match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => Segment::Parameter(name),
                None => Segment::Literal(segment),
            }
        });
        Self { segments: segments.collect(), methods: Vec::new(), allow: HeaderValue::from_static("") }
    }

    fn allowed(&self) -> anyhow::Result<HeaderValue> {
        let mut methods: BTreeSet<&str> = self.methods.iter().map(|route| route.operation.method).collect();
        if methods.contains("GET") {
            methods.insert("HEAD");
        }
        let methods: Vec<&str> = methods.into_iter().collect();
        Ok(HeaderValue::from_str(&methods.join(", "))?)
    }

    /// The parameters when the path is this one; `None` otherwise. An empty or undecodable one is no match.
    fn captures(&self, path: &str) -> Option<Captured> {
        let mut given = path.strip_prefix('/')?.split('/');
        let mut captured = Captured::new();
        for segment in &self.segments {
            let text = given.next()?;
            match segment {
                Segment::Literal(literal) if *literal == text => {}
                Segment::Literal(_) => return None,
                Segment::Parameter(name) => {
                    captured.push((name, query::decode_segment(text).filter(|value| !value.is_empty())?));
                }
            }
        }
        given.next().is_none().then_some(captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn operation(method: &'static str, path: &'static str) -> Operation {
        Operation {
            id: path,
            method,
            path,
            tag: "t",
            scope: Some("read:courses"),
            parameters: &[],
            body: None,
            statuses: &[],
        }
    }
    static LIST: Operation = operation("GET", "/api/v1/things");
    static MAKE: Operation = operation("POST", "/api/v1/things");
    static ONE: Operation = operation("GET", "/api/v1/things/{id}");

    fn find(method: &str, path: &str) -> String {
        match Routes::new(&[&LIST, &MAKE, &ONE]).unwrap().find(method, path) {
            Found::Operation(route, captured) => format!("{} {captured:?}", route.operation.method),
            Found::WrongMethod(allow) => format!("405 {}", allow.to_str().unwrap()),
            Found::Nothing => "404".to_owned(),
        }
    }

    #[test]
    fn a_method_and_path_name_an_operation() {
        assert_eq!(find("GET", "/api/v1/things"), "GET []");
        assert_eq!(find("HEAD", "/api/v1/things"), "GET []");
        assert_eq!(find("POST", "/api/v1/things"), "POST []");
        assert_eq!(find("GET", "/api/v1/things/a%20b"), r#"GET [("id", "a b")]"#);
    }

    #[test]
    fn a_method_is_case_sensitive() {
        assert_eq!(find("get", "/api/v1/things"), "405 GET, HEAD, POST");
        assert_eq!(find("DELETE", "/api/v1/things/x"), "405 GET, HEAD");
        assert_eq!(find("HEAD", "/api/v1/other"), "404");
    }

    #[test]
    fn odd_paths_name_nothing() {
        for path in [
            "/api/v1/things/",
            "//api/v1/things",
            "/api//v1/things",
            "/api/v1/things/x/",
            "/api/v1/%2e%2e/v1/things",
            "/api/v1/things/%ff",
            "/api/v1/things/%4",
            "/api/v1/Things",
            "",
            "*",
        ] {
            assert_eq!(find("GET", path), "404", "{path}");
        }
        assert_eq!(find("GET", "/api/v1/things/%00"), "GET [(\"id\", \"\\0\")]");
    }
}
