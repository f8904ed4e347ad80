//! Students, and their access to courses and progress.

use crate::definition::TableDefinition;

/// A person who learns in a workspace. `key` is the id of the platform, and `email_folded` the address in lowercase.
/// `tags` and `metadata` are JSON.
pub(super) const STUDENTS: TableDefinition = TableDefinition::heap(
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
    &[
        "CREATE INDEX ix_students_created ON students (workspace_id, created_at, id)",
        "CREATE INDEX ix_students_updated ON students (workspace_id, updated_at, id)",
        "CREATE INDEX ix_students_external ON students (workspace_id, external_id, created_at, id)
             WHERE external_id IS NOT NULL",
    ],
);

/// A tag of a student, to find the students with a tag.
pub(super) const STUDENT_TAGS: TableDefinition = TableDefinition::keyed(
    "student_tags",
    "student_id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     tag TEXT NOT NULL,
     CONSTRAINT pk_student_tags PRIMARY KEY (student_id, tag),
     CONSTRAINT fk_student_tags_student FOREIGN KEY (student_id) REFERENCES students (id) ON DELETE CASCADE,
     CONSTRAINT fk_student_tags_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE",
    &["CREATE INDEX ix_student_tags_tag ON student_tags (workspace_id, tag, student_id)"],
);

/// The access of a student to a course, current or past, with the progress.
///
/// `granted_until` is when access that was granted without an order ends. It is set only while an order pays for the
/// access; this end applies again when the order is refunded. `i64::MAX` means that the access does not end.
pub(super) const ENROLLMENTS: TableDefinition = TableDefinition::heap(
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
     granted_until BIGINT,
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
    &[
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
        // Used to count completed enrollments by time.
        "CREATE INDEX ix_enrollments_completed ON enrollments (workspace_id, completed_at)
             WHERE completed_at IS NOT NULL",
    ],
);

/// A lesson that a student completed in an enrollment.
pub(super) const LESSON_COMPLETIONS: TableDefinition = TableDefinition::keyed(
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
    &["CREATE INDEX ix_lesson_completions_lesson ON lesson_completions (lesson_id)"],
);

/// A certificate of completion. It remains when the student or the enrollment is deleted.
pub(super) const CERTIFICATES: TableDefinition = TableDefinition::heap(
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
    &[
        "CREATE INDEX ix_certificates_issued ON certificates (workspace_id, issued_at, id)",
        "CREATE INDEX ix_certificates_enrollment ON certificates (enrollment_id)",
    ],
);
