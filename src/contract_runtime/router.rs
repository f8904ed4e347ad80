//! The operations of a contract by method and path.
//!
//! Finds the operation of a request, validates its parameters and its body, and calls it. Nothing else routes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use anyhow::{Context, ensure};
use bytes::Bytes;
use poem::endpoint::BoxEndpoint;
use poem::http::{HeaderMap, HeaderValue, Method, header};
use poem::{Endpoint, Request, Response};
use poem_openapi::OpenApi;

use super::call::{Call, Captured, Input};
use super::contract::{Contract, Operation};
use super::validate::schemas::{self, Schemas};
use super::validate::{DescribePattern, Faults, query};

/// The operations of a contract.
pub struct Router {
    paths: Vec<Path>,
}

struct Path {
    segments: Vec<Segment>,
    routes: Vec<Route>,
    /// The methods of the routes, as the header `Allow` lists them.
    allow: HeaderValue,
}

enum Segment {
    Literal(&'static str),
    Parameter(&'static str),
}

/// One operation, its schemas, and the code that implements it.
pub struct Route {
    /// The operation.
    pub operation: &'static Operation,
    schemas: Schemas,
    endpoint: BoxEndpoint<'static>,
}

/// What a method and path name.
pub enum Found<'r> {
    /// An operation.
    Operation(&'r Route, Captured),
    /// A path that takes these methods, not this one.
    WrongMethod(HeaderValue),
    /// Nothing.
    Nothing,
}

/// Why a request is not a call of its operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A header says that the body is something else than what the operation takes.
    MediaType {
        /// The media type that the operation takes.
        expected: &'static str,
        /// The header.
        header: &'static str,
        /// What is wrong: the end of a sentence that begins with the header.
        message: String,
    },
    /// Parameters or body are not what the contract says; holds at least one fault.
    Invalid(Faults),
}

impl Router {
    /// The operations of a contract, as `api` implements them.
    ///
    /// # Errors
    /// When the contract's generated files do not belong together.
    pub fn new(
        contract: &Contract,
        api: impl OpenApi,
        describe_pattern: DescribePattern,
    ) -> anyhow::Result<Self> {
        let mut endpoints = HashMap::new();
        api.add_routes(&mut endpoints);
        let mut paths: Vec<(&'static str, Path)> = Vec::new();
        let schemas = schemas::compile(contract.json, contract.operations, describe_pattern)?;
        for schemas in schemas {
            let operation = schemas.operation;
            let endpoint = endpoints
                .get_mut(&framework_path(operation.path))
                .and_then(|methods| methods.remove(&Method::from_bytes(operation.method.as_bytes()).ok()?))
                .with_context(|| format!("no generated code implements {}", operation.id))?;
            let at = paths.iter().position(|(text, _)| *text == operation.path).unwrap_or_else(|| {
                paths.push((operation.path, Path::new(operation.path)));
                paths.len() - 1
            });
            paths[at].1.routes.push(Route { operation, schemas, endpoint });
        }
        ensure!(
            endpoints.values().all(HashMap::is_empty),
            "generated code implements more than the contract has"
        );
        let mut paths: Vec<Path> = paths.into_iter().map(|(_, path)| path).collect();
        // OpenAPI 3.1, Paths Object: a concrete path is matched before a templated one.
        paths.sort_by_key(|path| path.segments.iter().map(Segment::is_parameter).collect::<Vec<_>>());
        for path in &mut paths {
            path.allow = path.methods()?;
        }
        Ok(Self { paths })
    }

    /// The operation of a method and an undecoded path. `HEAD` names what `GET` does.
    pub fn find(&self, method: &str, path: &str) -> Found<'_> {
        let Some((path, captured)) =
            self.paths.iter().find_map(|candidate| Some((candidate, candidate.captures(path)?)))
        else {
            return Found::Nothing;
        };
        let method = if method == "HEAD" { "GET" } else { method };
        match path.routes.iter().find(|route| route.operation.method == method) {
            Some(route) => Found::Operation(route, captured),
            None => Found::WrongMethod(path.allow.clone()),
        }
    }
}

impl Route {
    /// Validates a request with these path parameters and this body.
    ///
    /// # Errors
    /// A wrong media type, or else all faults in the order path, query, headers, cookies, body.
    pub fn read(&self, request: &Request, captured: Captured, body: Bytes) -> Result<Input, Refusal> {
        if let Some(declared) = &self.operation.body {
            check_media_type(request.headers(), declared.media_type)?;
        }
        let mut faults = Faults::new();
        self.schemas.check_path(&captured, &mut faults);
        let mut query_faults = Faults::new();
        let text = request.uri().query().unwrap_or_default();
        let query = query::read(text, |name| self.operation.is_repeated(name), &mut query_faults);
        self.schemas.check_query(&query, &mut query_faults);
        faults.append(&mut query_faults);
        self.schemas.check_headers(request.headers(), &mut faults);
        self.schemas.check_cookies(request.headers(), &mut faults);
        let value = self.schemas.check_body(&body, &mut faults);
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        Ok(Input { operation: self.operation, captured, query, body, value: Mutex::new(value) })
    }

    /// Calls the operation.
    ///
    /// # Errors
    /// When the framework fails, which is a fault of the server after [`Route::read`].
    pub async fn call<C: Send + Sync + 'static>(
        &self,
        caller: Arc<C>,
        input: Input,
        mut request: Request,
    ) -> poem::Result<Response> {
        let input = Arc::new(input);
        request.extensions_mut().insert(Arc::clone(&input));
        request.extensions_mut().insert(Call::new(caller, input));
        self.endpoint.call(request).await
    }
}

/// The path as poem-openapi writes it for the router of poem: parameters are numbered.
fn framework_path(path: &str) -> String {
    let mut number = 0;
    let segments = path.split('/').map(|segment| {
        if !segment.starts_with('{') {
            return segment.to_owned();
        }
        number += 1;
        format!(":param{}", number - 1)
    });
    segments.collect::<Vec<_>>().join("/")
}

impl Path {
    fn new(text: &'static str) -> Self {
        let segments = text.trim_start_matches('/').split('/').map(|segment| {
            match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => Segment::Parameter(name),
                None => Segment::Literal(segment),
            }
        });
        Self { segments: segments.collect(), routes: Vec::new(), allow: HeaderValue::from_static("") }
    }

    fn methods(&self) -> anyhow::Result<HeaderValue> {
        let mut methods: BTreeSet<&str> = self.routes.iter().map(|route| route.operation.method).collect();
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

impl Segment {
    fn is_parameter(&self) -> bool {
        matches!(self, Self::Parameter(_))
    }
}

/// The body must be declared as of its media type, in UTF-8, and not encoded.
fn check_media_type(headers: &HeaderMap, expected: &'static str) -> Result<(), Refusal> {
    let refusal = |header, message| Refusal::MediaType { expected, header, message };
    let encoded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(refusal("Content-Encoding", "must be absent: an encoded body is not taken".to_owned()));
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let fits = match (types.next().map(|value| value.to_str()), types.next()) {
        (Some(Ok(value)), None) => is_of(value, expected),
        _ => false,
    };
    if fits { Ok(()) } else { Err(refusal("Content-Type", format!("must be {expected}"))) }
}

/// Whether a media type is the one expected, in UTF-8 where it names a character set.
fn is_of(media_type: &str, expected: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let same = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(expected));
    same && parts.filter(|part| !part.is_empty()).all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        Some(_) => true,
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use poem::EndpointExt;
    use poem::endpoint::make_sync;
    use poem_openapi::registry::{MetaApi, Registry};

    use super::*;
    use crate::contract::Credential;
    use crate::contract::JSON;

    const fn operation(method: &'static str, path: &'static str) -> Operation {
        Operation {
            id: path,
            method,
            path,
            tag: "t",
            scope: None,
            parameters: &[],
            body: None,
            statuses: &[],
        }
    }
    static ONE: Operation = operation("GET", "/api/v1/things/{id}");
    static LIST: Operation = operation("GET", "/api/v1/things");
    static MAKE: Operation = operation("POST", "/api/v1/things");
    static NEWEST: Operation = operation("GET", "/api/v1/things/newest");
    static CONTRACT: Contract = Contract {
        stem: "v1",
        title: "Things",
        yaml: "",
        json: "{}",
        json_path: "",
        json_3_0: "",
        operations: &[&ONE, &LIST, &MAKE, &NEWEST],
        credential: Credential::Bearer,
    };

    struct Things;

    impl OpenApi for Things {
        fn meta() -> Vec<MetaApi> {
            Vec::new()
        }

        fn register(_: &mut Registry) {}

        fn add_routes(self, routes: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {
            for operation in CONTRACT.operations {
                let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
                let endpoint = make_sync(|_| Response::default()).boxed();
                routes.entry(framework_path(operation.path)).or_default().insert(method, endpoint);
            }
        }
    }

    fn find(method: &str, path: &str) -> String {
        match Router::new(&CONTRACT, Things, |_| None).unwrap().find(method, path) {
            Found::Operation(route, captured) => {
                format!("{} {} {captured:?}", route.operation.method, route.operation.path)
            }
            Found::WrongMethod(allow) => format!("405 {}", allow.to_str().unwrap()),
            Found::Nothing => "404".to_owned(),
        }
    }

    #[test]
    fn a_method_and_path_name_an_operation() {
        assert_eq!(find("GET", "/api/v1/things"), "GET /api/v1/things []");
        assert_eq!(find("HEAD", "/api/v1/things"), "GET /api/v1/things []");
        assert_eq!(find("POST", "/api/v1/things"), "POST /api/v1/things []");
        assert_eq!(find("GET", "/api/v1/things/a%20b"), r#"GET /api/v1/things/{id} [("id", "a b")]"#);
    }

    #[test]
    fn a_concrete_path_comes_before_a_templated_one() {
        assert_eq!(find("GET", "/api/v1/things/newest"), "GET /api/v1/things/newest []");
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
        assert_eq!(find("GET", "/api/v1/things/%00"), "GET /api/v1/things/{id} [(\"id\", \"\\0\")]");
    }

    #[test]
    fn code_of_another_contract_is_refused() {
        static LOST: &[&Operation] = &[&operation("PUT", "/api/v1/things")];
        let error = |operations| {
            let contract = Contract { operations, ..CONTRACT };
            Router::new(&contract, Things, |_| None).err().expect("they do not belong together").to_string()
        };
        assert_eq!(error(LOST), "no generated code implements /api/v1/things");
        assert_eq!(error(&CONTRACT.operations[1..]), "generated code implements more than the contract has");
    }

    #[test]
    fn json_may_name_its_character_set() {
        for taken in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_of(taken, JSON), "{taken}");
        }
        for refused in [
            "",
            "text/json",
            "application/jsonx",
            "application/vnd.api+json",
            "application/json; charset=latin1",
            "application/json; charset",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_of(refused, JSON), "{refused}");
        }
    }
}
