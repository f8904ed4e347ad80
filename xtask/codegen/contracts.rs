//! The contracts of the project, and how code is generated from them.

use contract::{Conventions, Profile, rust_name};

/// A contract and how code is generated from it. Paths are relative to the workspace or, for a contract outside of the
/// project, to the current folder.
#[derive(Clone, Copy, Debug)]
pub struct ContractConfig<'a> {
    /// The path of the contract.
    pub contract: &'a str,
    /// The path of the generated folder.
    pub output: &'a str,
    /// The path of the contract, relative to the generated folder.
    pub contract_from_output: &'a str,
    /// The path of the contract in the first line of the generated files. It does not depend on the machine.
    pub name_in_heading: &'a str,
    /// The name of the contract, such as `v1`.
    pub name: &'a str,
    /// Rules for this contract, in addition to the general ones.
    pub conventions: Conventions<'a>,
    /// Headers that middleware sets on many responses, in lowercase.
    pub middleware_headers: &'a [&'a str],
    /// The tables for crates that the generated code depends on.
    pub tables: Option<Tables<'a>>,
    /// Types that a lower crate contains.
    pub lower: Option<LowerTypes>,
}

/// The types of a schema and of all schemas that it references, in a crate that does not serve the contract. In these types, an
/// absent property differs from null.
#[derive(Clone, Copy, Debug)]
pub struct LowerTypes {
    /// The name of the schema.
    pub schema: &'static str,
    /// The path of the generated folder, relative to the workspace.
    pub output: &'static str,
    /// The path of the module in Rust.
    pub module: &'static str,
}

/// Where the tables of a contract are generated, and what they contain besides scopes and event types.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// The path of the generated folder.
    pub output: &'a str,
    /// The names of string enums in `components.schemas`.
    pub enums: &'a [&'a str],
}

/// Headers that the middleware of this server sets.
pub(super) const MIDDLEWARE_HEADERS: &[&str] = &[
    "cache-control",
    "etag",
    "idempotent-replayed",
    "retry-after",
    "www-authenticate",
    "x-ratelimit-daily-limit",
    "x-ratelimit-daily-remaining",
    "x-ratelimit-daily-reset",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

/// Names of the error envelope that are not in snake_case. Every version of the API uses this envelope.
pub(super) const ENVELOPE_NAMES: &[&str] = &["retryAfterSeconds"];

/// The contract that the server serves.
pub const V1: ContractConfig<'static> = ContractConfig {
    contract: "openapi/v1.yaml",
    output: "src/api/generated",
    contract_from_output: "../../../openapi/v1.yaml",
    name_in_heading: "openapi/v1.yaml",
    name: "v1",
    conventions: Conventions {
        path_prefix: "/api/v1/",
        spelling_exceptions: contract::SPELLING_EXCEPTIONS,
        profile: Profile::Server,
        has_rate_limits: true,
    },
    middleware_headers: MIDDLEWARE_HEADERS,
    tables: Some(Tables {
        output: "src/domain/contract",
        enums: &[
            "LessonType",
            "EnrollmentStatus",
            "EnrollmentSource",
            "OrderStatus",
            "EntitlementStatus",
            "LiveSessionStatus",
            "Interval",
        ],
    }),
    lower: None,
};

/// The contract for the platform's own back end.
pub const PLATFORM_V1: ContractConfig<'static> = ContractConfig {
    contract: "openapi/platform-v1.yaml",
    output: "src/api/platform/generated",
    contract_from_output: "../../../../openapi/platform-v1.yaml",
    name_in_heading: "openapi/platform-v1.yaml",
    name: "platform-v1",
    conventions: Conventions {
        path_prefix: "/platform/v1/",
        spelling_exceptions: ENVELOPE_NAMES,
        profile: Profile::Server,
        has_rate_limits: false,
    },
    middleware_headers: &["cache-control", "www-authenticate", "x-request-id"],
    tables: Some(Tables { output: "src/domain/platform_contract", enums: &[] }),
    // The importer also reads changes from files.
    lower: Some(LowerTypes { schema: "Change", output: "src/feed/generated", module: "feed::generated" }),
};

/// The contract for programs that manage webhooks.
pub const DEVELOPER_V1: ContractConfig<'static> = ContractConfig {
    contract: "openapi/developer-v1.yaml",
    output: "src/api/developer/generated",
    contract_from_output: "../../../../openapi/developer-v1.yaml",
    name_in_heading: "openapi/developer-v1.yaml",
    name: "developer-v1",
    conventions: Conventions {
        path_prefix: "/developer/v1/",
        spelling_exceptions: ENVELOPE_NAMES,
        profile: Profile::Server,
        has_rate_limits: true,
    },
    middleware_headers: MIDDLEWARE_HEADERS,
    tables: Some(Tables { output: "src/domain/developer_contract", enums: &[] }),
    lower: None,
};

/// The contracts of the server.
pub const SERVED: [ContractConfig<'static>; 3] = [V1, DEVELOPER_V1, PLATFORM_V1];

/// All contracts that code is generated from. To add a version of the API, add an entry and its folder. The tests
/// expect the contract with every supported construct at the end.
pub const CONTRACTS: &[ContractConfig<'static>] = &[
    V1,
    DEVELOPER_V1,
    PLATFORM_V1,
    // Does not follow the rules of this server. The tests of `contract_runtime` compile its code and call it.
    ContractConfig {
        contract: "tests/open_profile/contract.yaml",
        output: "tests/open_profile/generated",
        contract_from_output: "../contract.yaml",
        name_in_heading: "tests/open_profile/contract.yaml",
        name: "workshop",
        conventions: Conventions {
            path_prefix: "/",
            spelling_exceptions: &[],
            profile: Profile::Open,
            has_rate_limits: true,
        },
        middleware_headers: &[],
        tables: None,
        lower: None,
    },
    // A draft of v2 of the API. The integration tests serve it beside v1, from the same domain.
    ContractConfig {
        contract: "tests/it/rehearsal/v2.yaml",
        output: "tests/it/rehearsal/generated",
        contract_from_output: "../v2.yaml",
        name_in_heading: "tests/it/rehearsal/v2.yaml",
        name: "v2",
        conventions: Conventions {
            path_prefix: "/api/v2/",
            spelling_exceptions: ENVELOPE_NAMES,
            profile: Profile::Server,
            has_rate_limits: true,
        },
        middleware_headers: MIDDLEWARE_HEADERS,
        tables: None,
        lower: None,
    },
    // Contains every supported construct and proves that the generator does not depend on v1. The tests compile its
    // code and serve it beside v1.
    ContractConfig {
        contract: "tests/second_version/contract.yaml",
        output: "tests/second_version/generated",
        contract_from_output: "../contract.yaml",
        name_in_heading: "tests/second_version/contract.yaml",
        name: "v2",
        conventions: Conventions {
            path_prefix: "/api/v2/",
            spelling_exceptions: ENVELOPE_NAMES,
            profile: Profile::Server,
            has_rate_limits: true,
        },
        middleware_headers: MIDDLEWARE_HEADERS,
        tables: None,
        lower: None,
    },
];

impl ContractConfig<'_> {
    pub(super) fn json(&self) -> String {
        format!("{}.json", self.name)
    }

    pub(super) fn json_3_0(&self) -> String {
        format!("{}.openapi-3.0.json", self.name)
    }

    pub(super) fn clients_json(&self) -> String {
        format!("{}.clients.json", self.name)
    }

    pub(super) fn clients_json_3_0(&self) -> String {
        format!("{}.clients.openapi-3.0.json", self.name)
    }

    /// Returns the folders that contain generated files.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        let tables = self.tables.map(|tables| tables.output);
        std::iter::once(self.output).chain(tables).chain(self.lower.map(|lower| lower.output))
    }

    pub(super) fn adapter_type(&self) -> String {
        rust_name::upper_camel_case(self.name)
    }
}
