//! Enrollments with their progress, entitlements and certificates. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0005_enrollments",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
            "enrollments",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             student_id UUID NOT NULL,
             course_id UUID NOT NULL,
             status TEXT NOT NULL,
             source TEXT NOT NULL,
             order_id UUID,
             completed_lessons INTEGER NOT NULL,
             total_lessons INTEGER NOT NULL,
             last_activity_at BIGINT,
             enrolled_at BIGINT NOT NULL,
             expires_at BIGINT,
             completed_at BIGINT,
             revoked_at BIGINT,
             revoke_reason TEXT,
             created_at BIGINT NOT NULL,
             updated_at BIGINT NOT NULL,
             CONSTRAINT pk_enrollments PRIMARY KEY (id),
             CONSTRAINT fk_enrollments_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_enrollments_student FOREIGN KEY (student_id) REFERENCES students (id) ON DELETE CASCADE,
             CONSTRAINT fk_enrollments_course FOREIGN KEY (course_id) REFERENCES courses (id),
             CONSTRAINT fk_enrollments_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE SET NULL,
             CONSTRAINT uq_enrollments_pair UNIQUE (student_id, course_id),
             CONSTRAINT ck_enrollments_status CHECK (status IN ('active', 'completed', 'revoked')),
             CONSTRAINT ck_enrollments_source CHECK (source IN ('api', 'order', 'manual', 'import')),
             CONSTRAINT ck_enrollments_progress CHECK (completed_lessons >= 0 AND total_lessons >= 0)",
        ),
        TableDefinition::keyed(
            "lesson_completions",
            "enrollment_id UUID NOT NULL,
             lesson_id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             completed_at BIGINT NOT NULL,
             CONSTRAINT pk_lesson_completions PRIMARY KEY (enrollment_id, lesson_id),
             CONSTRAINT fk_lesson_completions_enrollment FOREIGN KEY (enrollment_id) REFERENCES enrollments (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_lesson_completions_lesson FOREIGN KEY (lesson_id) REFERENCES lessons (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_lesson_completions_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE",
        ),
        TableDefinition::heap(
            "entitlements",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             order_id UUID NOT NULL,
             course_id UUID NOT NULL,
             enrollment_id UUID,
             status TEXT NOT NULL,
             granted_at BIGINT NOT NULL,
             expires_at BIGINT,
             revoked_at BIGINT,
             CONSTRAINT pk_entitlements PRIMARY KEY (id),
             CONSTRAINT fk_entitlements_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_entitlements_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE,
             CONSTRAINT fk_entitlements_course FOREIGN KEY (course_id) REFERENCES courses (id),
             CONSTRAINT fk_entitlements_enrollment FOREIGN KEY (enrollment_id) REFERENCES enrollments (id)
                 ON DELETE SET NULL,
             CONSTRAINT ck_entitlements_status CHECK (status IN ('active', 'revoked', 'expired'))",
        ),
        TableDefinition::heap(
            "certificates",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             student_id UUID,
             course_id UUID NOT NULL,
             enrollment_id UUID,
             number TEXT NOT NULL,
             recipient_name TEXT,
             issued_at BIGINT NOT NULL,
             CONSTRAINT pk_certificates PRIMARY KEY (id),
             CONSTRAINT fk_certificates_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_certificates_student FOREIGN KEY (student_id) REFERENCES students (id)
                 ON DELETE SET NULL,
             CONSTRAINT fk_certificates_course FOREIGN KEY (course_id) REFERENCES courses (id),
             CONSTRAINT fk_certificates_enrollment FOREIGN KEY (enrollment_id) REFERENCES enrollments (id)
                 ON DELETE SET NULL,
             CONSTRAINT uq_certificates_number UNIQUE (workspace_id, number),
             CONSTRAINT uq_certificates_pair UNIQUE (student_id, course_id)",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_enrollments_course ON enrollments (workspace_id, course_id, status, student_id)",
        "CREATE INDEX ix_enrollments_status ON enrollments (workspace_id, status, student_id)",
        // Used to change all enrollments of a course in batches.
        "CREATE INDEX ix_enrollments_recount ON enrollments (workspace_id, course_id, student_id)",
        "CREATE INDEX ix_enrollments_student ON enrollments (student_id, created_at, id)",
        "CREATE INDEX ix_enrollments_created ON enrollments (workspace_id, created_at, id)",
        "CREATE INDEX ix_enrollments_revoked ON enrollments (workspace_id, revoked_at) WHERE revoked_at IS NOT NULL",
        // Covers the analytics query for enrollments that have expired while their stored status is active.
        "CREATE INDEX ix_enrollments_expiry ON enrollments (workspace_id, expires_at, created_at, course_id)
             WHERE status = 'active' AND expires_at IS NOT NULL",
        "CREATE INDEX ix_enrollments_order ON enrollments (order_id) WHERE order_id IS NOT NULL",
        "CREATE INDEX ix_lesson_completions_lesson ON lesson_completions (lesson_id)",
        "CREATE INDEX ix_entitlements_order ON entitlements (order_id)",
        "CREATE INDEX ix_entitlements_enrollment ON entitlements (enrollment_id)",
        "CREATE INDEX ix_certificates_issued ON certificates (workspace_id, issued_at, id)",
        "CREATE INDEX ix_certificates_enrollment ON certificates (enrollment_id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
