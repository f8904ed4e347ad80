//! Students and their tags. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0003_students",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
            "students",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             key TEXT,
             email TEXT NOT NULL,
             email_folded TEXT NOT NULL,
             name TEXT,
             external_id TEXT,
             tags TEXT NOT NULL,
             metadata TEXT NOT NULL,
             created_at BIGINT NOT NULL,
             updated_at BIGINT NOT NULL,
             CONSTRAINT pk_students PRIMARY KEY (id),
             CONSTRAINT fk_students_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
             CONSTRAINT uq_students_key UNIQUE (workspace_id, key),
             CONSTRAINT uq_students_email UNIQUE (workspace_id, email_folded)",
        ),
        TableDefinition::keyed(
            "student_tags",
            "student_id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             tag TEXT NOT NULL,
             CONSTRAINT pk_student_tags PRIMARY KEY (student_id, tag),
             CONSTRAINT fk_student_tags_student FOREIGN KEY (student_id) REFERENCES students (id) ON DELETE CASCADE,
             CONSTRAINT fk_student_tags_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_students_created ON students (workspace_id, created_at, id)",
        "CREATE INDEX ix_students_updated ON students (workspace_id, updated_at, id)",
        "CREATE INDEX ix_students_external ON students (workspace_id, external_id, created_at, id)
             WHERE external_id IS NOT NULL",
        "CREATE INDEX ix_student_tags_tag ON student_tags (workspace_id, tag, student_id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
