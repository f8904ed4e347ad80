//! Who may import whom: the table of the house, downward only.

/// A room, what it may name of ours, and what it may not name of others.
pub(super) struct Room {
    pub(super) name: &'static str,
    /// The rooms it may name.
    pub(super) below: &'static [&'static str],
    /// The crates it never names.
    pub(super) never: &'static [&'static str],
}

/// Crates that speak HTTP.
const HTTP: &[&str] = &["poem", "poem_openapi", "http", "hyper", "reqwest"];
/// Crates that speak HTTP or write JSON texts.
const HTTP_AND_JSON: &[&str] = &["poem", "poem_openapi", "http", "hyper", "reqwest", "serde_json"];
/// Crates that speak to the database.
const STORED: &[&str] = &["entity", "sea_orm", "sea_orm_migration", "migration"];

/// What stands below `domain`.
const GROUND: &[&str] = &["app", "clock", "config", "database", "id", "rate_limit", "reach", "secret"];

/// The modules of the server, from the ground up.
pub(super) const ROOMS: &[Room] = &[
    Room { name: "foundation", below: &[], never: HTTP },
    Room { name: "rate_limit", below: &["app", "clock", "config", "database", "id", "secret"], never: HTTP },
    Room { name: "mail", below: &["clock", "config", "database", "id", "secret"], never: HTTP_AND_JSON },
    Room {
        name: "app",
        below: &["clock", "config", "database", "id", "mail", "secret"],
        never: HTTP_AND_JSON,
    },
    Room { name: "events", below: GROUND, never: HTTP_AND_JSON },
    Room {
        name: "domain",
        below: &[
            "app",
            "clock",
            "config",
            "database",
            "events",
            "id",
            "mail",
            "rate_limit",
            "reach",
            "secret",
        ],
        never: HTTP_AND_JSON,
    },
    Room {
        name: "feed",
        below: &["app", "clock", "config", "database", "domain", "events", "id", "json", "secret"],
        never: HTTP,
    },
    Room {
        name: "webhooks",
        below: &["app", "clock", "config", "database", "domain", "events", "id", "mail", "reach", "secret"],
        never: &["poem", "poem_openapi"],
    },
    Room {
        name: "api",
        below: &[
            "app",
            "clock",
            "config",
            "database",
            "domain",
            "events",
            "id",
            "json",
            "rate_limit",
            "secret",
        ],
        never: STORED,
    },
    Room {
        name: "dashboard",
        below: &["app", "clock", "config", "database", "domain", "events", "id", "rate_limit", "secret"],
        never: STORED,
    },
    Room {
        name: "server",
        below: &[
            "api",
            "app",
            "clock",
            "config",
            "dashboard",
            "database",
            "domain",
            "events",
            "id",
            "rate_limit",
            "secret",
            "telemetry",
            "webhooks",
        ],
        never: STORED,
    },
    Room {
        name: "cli",
        below: &[
            "api",
            "app",
            "clock",
            "config",
            "dashboard",
            "database",
            "domain",
            "events",
            "feed",
            "id",
            "mail",
            "rate_limit",
            "secret",
            "server",
            "telemetry",
            "webhooks",
        ],
        never: &["migration"],
    },
    Room {
        name: "main",
        below: &["cli"],
        never: &["entity", "migration", "sea_orm", "poem", "poem_openapi"],
    },
    // Only lists the modules.
    Room { name: "lib", below: &[], never: &[] },
];

/// An arrow that runs up and stays: what `from` may name beyond its table, and why.
pub(super) struct Exception {
    pub(super) from: &'static str,
    /// The path below the crate's root, as far as it is let through.
    pub(super) path: &'static [&'static str],
    pub(super) why: &'static str,
}

/// The whole list of them.
pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        from: "app",
        path: &["events", "Encode"],
        why: "the type of the encoder that the composition root puts in, so that `events` need not name `api`",
    },
    Exception {
        from: "app",
        path: &["events", "Example"],
        why: "the type of the examples that the composition root puts in, for the same reason",
    },
    Exception {
        from: "app",
        path: &["events", "Handoff"],
        why: "the process keeps one desk, with a bell, where deliveries meet its worker; only `events` and both `webhooks` use it",
    },
    Exception {
        from: "app",
        path: &["domain", "keys", "Principals"],
        why: "the process keeps one cache of principals, and only `domain::keys` reads it",
    },
    Exception {
        from: "app",
        path: &["domain", "courses", "catalogue", "Catalogue"],
        why: "the process counts the changes of its catalogues in one place, and only `domain::courses` counts",
    },
    Exception {
        from: "app",
        path: &["domain", "requests", "Recorder"],
        why: "the process notes its API requests in one place, and only `domain::requests` writes them",
    },
    Exception {
        from: "app",
        path: &["domain", "passwords", "Passwords"],
        why: "the process works on few passwords at once, however many ask, and only `domain::passwords` does",
    },
    Exception {
        from: "events",
        path: &["domain"],
        why: "an event carries the domain's snapshot of the record, as a type; it calls no operation",
    },
];
