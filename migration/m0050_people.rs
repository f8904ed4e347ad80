//! How a person proves their identity besides the password: a second factor, recovery codes, and an account at an OpenID Connect
//! provider.

use crate::definition::{Migration, TableDefinition};

/// A person who set up a second factor or signed in with a provider. The users of all workspaces with this folded email address
/// belong to the person. Without `totp_secret`, the person has no second factor. `totp_step` is the last time step whose code was
/// accepted.
const PEOPLE: TableDefinition = TableDefinition::heap(
    "people",
    "id UUID NOT NULL,
     email_folded TEXT NOT NULL,
     totp_secret BYTES,
     totp_step BIGINT,
     totp_set_up_at BIGINT,
     issuer TEXT,
     subject TEXT,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_people PRIMARY KEY (id),
     CONSTRAINT uq_people_email UNIQUE (email_folded),
     CONSTRAINT uq_people_subject UNIQUE (issuer, subject),
     CONSTRAINT ck_people_totp CHECK ((totp_secret IS NULL) = (totp_set_up_at IS NULL)),
     CONSTRAINT ck_people_subject CHECK ((issuer IS NULL) = (subject IS NULL))",
    &[],
);

/// A recovery code that was not used yet. Only its hash is stored.
const RECOVERY_CODES: TableDefinition = TableDefinition::keyed(
    "recovery_codes",
    "person_id UUID NOT NULL,
     code_hash BYTES NOT NULL,
     CONSTRAINT pk_recovery_codes PRIMARY KEY (person_id, code_hash),
     CONSTRAINT fk_recovery_codes_person FOREIGN KEY (person_id) REFERENCES people (id) ON DELETE CASCADE,
     CONSTRAINT ck_recovery_codes_hash CHECK (length(code_hash) = 32)",
    &[],
);

/// Servers of the previous release create sessions without these columns. The defaults make such a session ask for the identity
/// again before it may do more.
pub(crate) const MIGRATION: Migration = Migration {
    name: "m0050_people",
    floor: 37,
    added_columns: &[
        ("sessions", "authenticated_at BIGINT NOT NULL DEFAULT 0"),
        ("sessions", "has_second_factor BOOLEAN NOT NULL DEFAULT FALSE"),
        ("sessions", "uses_provider BOOLEAN NOT NULL DEFAULT FALSE"),
        ("workspaces", "requires_second_factor BOOLEAN NOT NULL DEFAULT FALSE"),
    ],
    tables: &[PEOPLE, RECOVERY_CODES],
    ..Migration::EMPTY
};
