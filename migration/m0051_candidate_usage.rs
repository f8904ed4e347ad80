//! Which requests a candidate contract would reject, per UTC day, API key and operation.
//!
//! `base` and `candidate` are digests of the operation in both contracts; `candidate` is `removed` if it has no such
//! operation. Rows are deleted after 90 days.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0051_candidate_usage",
    floor: 37,
    tables: &[
        // The accepted requests. `weight` is the sum of the inverse sampling probabilities of the checked ones. A row of a key that
        // consists of zeros records that a server observed the operation on this day.
        TableDefinition::keyed(
            "candidate_requests",
            "day BIGINT NOT NULL,
             key_id UUID NOT NULL,
             operation TEXT NOT NULL,
             base TEXT NOT NULL,
             candidate TEXT NOT NULL,
             workspace_id UUID NOT NULL,
             seen BIGINT NOT NULL,
             checked BIGINT NOT NULL,
             dropped BIGINT NOT NULL,
             weight BIGINT NOT NULL,
             CONSTRAINT pk_candidate_requests PRIMARY KEY (day, key_id, operation, base, candidate)",
            &[],
        ),
        // What the candidate rejects. `fingerprint` is a digest of operation, contracts, code, pointer and name. `requests` is
        // estimated from the sample; `sampled` is the number in the sample.
        TableDefinition::heap(
            "candidate_findings",
            "day BIGINT NOT NULL,
             key_id UUID NOT NULL,
             fingerprint TEXT NOT NULL,
             workspace_id UUID NOT NULL,
             operation TEXT NOT NULL,
             base TEXT NOT NULL,
             candidate TEXT NOT NULL,
             code TEXT NOT NULL,
             pointer TEXT NOT NULL,
             name TEXT NOT NULL,
             reason TEXT NOT NULL,
             sampled BIGINT NOT NULL,
             requests BIGINT NOT NULL,
             first_at BIGINT NOT NULL,
             last_at BIGINT NOT NULL,
             request_id TEXT NOT NULL,
             CONSTRAINT pk_candidate_findings PRIMARY KEY (day, key_id, fingerprint)",
            &[],
        ),
    ],
    ..Migration::EMPTY
};
