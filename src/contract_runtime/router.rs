//! Routes requests to the operations of a contract by method and path, validates their parameters and bodies, and calls
//! the operations.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, ensure};
use bytes::Bytes;
use poem::endpoint::BoxEndpoint;
use poem::http::{HeaderValue, Method};
use poem::{Body, Endpoint, Request, Response};
use poem_openapi::OpenApi;
use serde_json::Value;

use super::call::{Call, Input, PathParameters};
use super::contract::{Contract, Operation, Parameter, ParameterLocation};
use super::media_type;
use super::path_template::{PathTemplate, framework_path};
use super::payload::lines::RawLines;
use super::removal::Removal;
use super::security::RequiredSchemes;
use super::validate::conformance::ReceivedRequest;
use super::validate::deprecation::{Announcements, DeprecatedUse};
use super::validate::schemas::{self, Schemas};
use super::validate::{DescribePattern, Violations, query};

/// Routes requests to the operations of a contract.
pub struct Router {
    paths: Vec<PathRoutes>,
    announcements: Arc<Announcements>,
}

/// The operations with the same path.
struct PathRoutes {
    template: PathTemplate,
    routes: Vec<Route>,
    /// The value of the `Allow` header.
    allow: HeaderValue,
}

/// An operation with its schemas and its implementation.
pub struct Route {
    /// The operation.
    pub operation: &'static Operation,
    /// What the contract requires of callers.
    pub security: RequiredSchemes,
    /// When the operation stops working; `None` if it does not.
    pub removal: Option<Removal>,
    schemas: Arc<Schemas>,
    endpoint: BoxEndpoint<'static>,
}

/// The result of routing a method and a path.
pub enum RouteMatch<'r> {
    /// The operation and the path parameters.
    Operation(&'r Route, PathParameters),
    /// The path exists, but only for these methods.
    MethodNotAllowed(HeaderValue),
    /// The path does not exist.
    NotFound,
}

/// Why a request is not a valid call of its operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The headers do not declare an unencoded body of the expected media type.
    MediaType {
        /// The media type that the operation accepts.
        expected: &'static str,
        /// The name of the header.
        header: &'static str,
        /// What is wrong, as the end of a sentence that begins with the name of the header.
        message: String,
    },
    /// The parameters or the body violate the contract. Contains at least one violation.
    Invalid(Violations),
}

impl Router {
    /// Creates the router of a contract whose operations `api` implements.
    ///
    /// # Errors
    /// Returns an error when the generated files do not match the contract, or when the router cannot enforce the
    /// security requirements of an operation.
    pub fn new(
        contract: &Contract,
        api: impl OpenApi,
        describe_pattern: DescribePattern,
    ) -> anyhow::Result<Self> {
        let mut endpoints = HashMap::new();
        api.add_routes(&mut endpoints);
        let document: Value =
            serde_json::from_str(contract.json).context("the contract's JSON cannot be read")?;
        let mut paths: Vec<(&'static str, PathRoutes)> = Vec::new();
        let schemas = schemas::shared(contract, describe_pattern)?;
        let announcements = schemas.first().map(|first| Arc::clone(&first.announcements)).unwrap_or_default();
        for schemas in schemas {
            let operation = schemas.operation;
            let endpoint = endpoints
                .get_mut(&framework_path(operation.path))
                .and_then(|methods| methods.remove(&Method::from_bytes(operation.method.as_bytes()).ok()?))
                .with_context(|| format!("no generated code implements {}", operation.id))?;
            let index = paths.iter().position(|(path, _)| *path == operation.path).unwrap_or_else(|| {
                paths.push((operation.path, PathRoutes::new(operation.path)));
                paths.len() - 1
            });
            let security = RequiredSchemes::of(&document, operation)
                .with_context(|| format!("the security requirements of {} are invalid", operation.id))?;
            let method = operation.method.to_ascii_lowercase();
            let removal = Removal::of(&document["paths"][operation.path][method]);
            paths[index].1.routes.push(Route { operation, security, removal, schemas, endpoint });
        }
        ensure!(
            endpoints.values().all(HashMap::is_empty),
            "the generated code implements operations that the contract does not have"
        );
        let mut paths: Vec<PathRoutes> = paths.into_iter().map(|(_, path)| path).collect();
        paths.sort_by_key(|path| path.template.order());
        for path in &mut paths {
            path.allow = path.allow_header()?;
        }
        Ok(Self { paths, announcements })
    }

    /// Returns everything that the contract marks as deprecated.
    pub fn announcements(&self) -> &Announcements {
        &self.announcements
    }

    /// Finds the operation for a method and an undecoded path. `HEAD` matches the operation of `GET`.
    pub fn find(&self, method: &str, path: &str) -> RouteMatch<'_> {
        let Some((path, parameters)) =
            self.paths.iter().find_map(|candidate| Some((candidate, candidate.template.parameters(path)?)))
        else {
            return RouteMatch::NotFound;
        };
        let method = if method == "HEAD" { "GET" } else { method };
        match path.routes.iter().find(|route| route.operation.method == method) {
            Some(route) => RouteMatch::Operation(route, parameters),
            None => RouteMatch::MethodNotAllowed(path.allow.clone()),
        }
    }
}

impl Route {
    /// Returns what a request uses that the contract marks as deprecated. A part that is not valid uses nothing.
    pub fn deprecated_uses(
        &self,
        request: &Request,
        path: &PathParameters,
        body: Option<&Bytes>,
    ) -> Vec<DeprecatedUse> {
        if !self.schemas.has_deprecations() {
            return Vec::new();
        }
        let path: Vec<String> = path.iter().map(|(_, value)| value.clone()).collect();
        self.schemas.deprecated_uses(&ReceivedRequest {
            path: &path,
            query: request.uri().query().unwrap_or_default(),
            headers: request.headers(),
            body: body.map_or(&[], |body| body),
        })
    }

    /// Validates a request with these path parameters and this body.
    ///
    /// # Errors
    /// Returns [`CallError::MediaType`] for an unsupported media type or an encoded body. Otherwise returns
    /// [`CallError::Invalid`] with all violations, in the order path, query, headers, cookies, body.
    pub fn validate(&self, request: &Request, path: PathParameters, body: Bytes) -> Result<Input, CallError> {
        if self.operation.is_streamed() {
            return self.validate_stream(request, path, Body::from_bytes(body));
        }
        let is_omitted = body.is_empty() && self.schemas.body_is_optional;
        let (mut input, mut violations) = self.validate_head(request, path, is_omitted)?;
        if !is_omitted {
            *input.value.get_mut().unwrap_or_else(PoisonError::into_inner) =
                self.schemas.check_body(&body, &mut violations);
        }
        input.body = body;
        if violations.is_empty() { Ok(input) } else { Err(CallError::Invalid(violations)) }
    }

    /// Validates a request of an operation that reads its body line by line ([`Operation::is_streamed`]). The body can
    /// still be received, so that it need not be in memory. Lines are validated when the operation reads them.
    ///
    /// # Errors
    /// Returns the same errors as [`Route::validate`].
    pub fn validate_stream(
        &self,
        request: &Request,
        path: PathParameters,
        body: Body,
    ) -> Result<Input, CallError> {
        let is_omitted = body.is_empty() && self.schemas.body_is_optional;
        let (mut input, violations) = self.validate_head(request, path, is_omitted)?;
        let lines = self.schemas.line_validator().map(|validator| RawLines::new(body, validator));
        *input.lines.get_mut().unwrap_or_else(PoisonError::into_inner) = lines;
        if violations.is_empty() { Ok(input) } else { Err(CallError::Invalid(violations)) }
    }

    /// Validates everything but the body. `is_omitted` is whether the request omits an optional body. Returns the input without a body, and the violations.
    fn validate_head(
        &self,
        request: &Request,
        path: PathParameters,
        is_omitted: bool,
    ) -> Result<(Input, Violations), CallError> {
        let content_type = match self.operation.body.as_ref().filter(|_| !is_omitted) {
            Some(body) => Some(media_type::check(request.headers(), body.media_type)?.to_owned()),
            None => None,
        };
        let mut violations = Violations::new();
        self.schemas.check_path(&path, &mut violations);
        // `query::parse` counts each violation in this list as one parameter of the query string, so violations of the
        // path must not be in it.
        let mut query_violations = Violations::new();
        let query_string = request.uri().query().unwrap_or_default();
        let mut query =
            query::parse(query_string, |name| self.operation.is_repeated(name), &mut query_violations);
        query.retain(|sent| !self.is_only_credential(&sent.name));
        self.schemas.check_query(&query, &mut query_violations);
        violations.append(&mut query_violations);
        self.schemas.check_headers(request.headers(), &mut violations);
        self.schemas.check_cookies(request.headers(), &mut violations);
        let (value, lines) = (Mutex::default(), Mutex::default());
        let input =
            Input { operation: self.operation, path, query, content_type, body: Bytes::new(), value, lines };
        Ok((input, violations))
    }

    /// Returns whether a query parameter contains a credential and is not a parameter of the operation.
    fn is_only_credential(&self, name: &str) -> bool {
        let mut schemes = self.security.alternatives().iter().flatten();
        let is_declared =
            |parameter: &Parameter| parameter.location == ParameterLocation::Query && parameter.name == name;
        schemes.any(|scheme| scheme.query_parameter() == Some(name))
            && !self.operation.parameters.iter().any(is_declared)
    }

    /// Calls the operation.
    ///
    /// # Errors
    /// Returns an error when the web framework fails. After [`Route::validate`], this is an internal error.
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

impl PathRoutes {
    /// Creates a path without operations. [`Router::new`] adds them, and sets the `Allow` header.
    fn new(template: &'static str) -> Self {
        let template = PathTemplate::new(template);
        Self { template, routes: Vec::new(), allow: HeaderValue::from_static("") }
    }

    /// Returns the value of the `Allow` header. It contains `HEAD` if the path supports `GET`.
    fn allow_header(&self) -> anyhow::Result<HeaderValue> {
        let mut methods: BTreeSet<&str> = self.routes.iter().map(|route| route.operation.method).collect();
        if methods.contains("GET") {
            methods.insert("HEAD");
        }
        let methods: Vec<&str> = methods.into_iter().collect();
        Ok(HeaderValue::from_str(&methods.join(", "))?)
    }
}

#[cfg(test)]
mod tests {
    use poem::EndpointExt;
    use poem::endpoint::make_sync;
    use poem_openapi::registry::{MetaApi, Registry};

    use super::*;
    use crate::contract::Credential;

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
    static GET: Operation = operation("GET", "/api/v1/things/{id}");
    static LIST: Operation = operation("GET", "/api/v1/things");
    static CREATE: Operation = operation("POST", "/api/v1/things");
    static NEWEST: Operation = operation("GET", "/api/v1/things/newest");
    static CONTRACT: Contract = Contract {
        name: "v1",
        title: "Things",
        yaml: "",
        json: r#"{ "paths": {
            "/api/v1/things/{id}": { "get": {} },
            "/api/v1/things": { "get": {}, "post": {} },
            "/api/v1/things/newest": { "get": {} }
        } }"#,
        json_path: "",
        json_3_0: "",
        clients_json: "",
        clients_json_3_0: "",
        operations: &[&GET, &LIST, &CREATE, &NEWEST],
        credential: Credential::Bearer,
    };

    struct TestApi;

    impl OpenApi for TestApi {
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
        match Router::new(&CONTRACT, TestApi, |_| None).unwrap().find(method, path) {
            RouteMatch::Operation(route, parameters) => {
                format!("{} {} {parameters:?}", route.operation.method, route.operation.path)
            }
            RouteMatch::MethodNotAllowed(allow) => format!("405 {}", allow.to_str().unwrap()),
            RouteMatch::NotFound => "404".to_owned(),
        }
    }

    #[test]
    fn requests_are_routed_by_method_and_path() {
        assert_eq!(find("GET", "/api/v1/things"), "GET /api/v1/things []");
        assert_eq!(find("HEAD", "/api/v1/things"), "GET /api/v1/things []");
        assert_eq!(find("POST", "/api/v1/things"), "POST /api/v1/things []");
        assert_eq!(find("GET", "/api/v1/things/a%20b"), r#"GET /api/v1/things/{id} [("id", "a b")]"#);
    }

    #[test]
    fn a_concrete_path_is_matched_before_a_templated_one() {
        assert_eq!(find("GET", "/api/v1/things/newest"), "GET /api/v1/things/newest []");
    }

    #[test]
    fn a_method_is_case_sensitive() {
        assert_eq!(find("get", "/api/v1/things"), "405 GET, HEAD, POST");
        assert_eq!(find("DELETE", "/api/v1/things/x"), "405 GET, HEAD");
        assert_eq!(find("HEAD", "/api/v1/other"), "404");
    }

    #[test]
    fn malformed_paths_do_not_match() {
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
    fn generated_code_that_does_not_match_the_contract_is_rejected() {
        static UNIMPLEMENTED: &[&Operation] = &[&operation("PUT", "/api/v1/things")];
        let error = |operations| {
            let contract = Contract { operations, ..CONTRACT };
            Router::new(&contract, TestApi, |_| None)
                .err()
                .expect("the router must reject the code")
                .to_string()
        };
        assert_eq!(error(UNIMPLEMENTED), "no generated code implements /api/v1/things");
        assert_eq!(
            error(&CONTRACT.operations[1..]),
            "the generated code implements operations that the contract does not have"
        );
    }

    #[test]
    fn security_that_cannot_be_enforced_is_rejected() {
        let json = r#"{ "paths": { "/api/v1/things/{id}": { "get": {} } }, "security": [{ "key": [] }] }"#;
        let error = Router::new(&Contract { json, ..CONTRACT }, TestApi, |_| None).err();
        assert_eq!(
            format!("{:#}", error.expect("the router must reject the contract")),
            "the security requirements of /api/v1/things/{id} are invalid: \
             the security scheme `key` cannot be used: it is not declared"
        );
    }
}
