//! What a workspace offers: courses with their modules and lessons, and live sessions with their recordings.

use crate::definition::TableDefinition;

/// A course. `key` is the id of the platform; without one, the course was created with the API. The counts and the
/// duration are those of its lessons.
pub(super) const COURSES: TableDefinition = TableDefinition::heap(
    "courses",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     key TEXT,
     slug TEXT NOT NULL,
     title TEXT NOT NULL,
     description TEXT,
     language TEXT,
     status TEXT NOT NULL,
     image_url TEXT,
     url TEXT,
     price_amount BIGINT,
     price_currency TEXT,
     module_count INTEGER NOT NULL,
     lesson_count INTEGER NOT NULL,
     duration_seconds BIGINT NOT NULL,
     published_at BIGINT,
     archived_at BIGINT,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_courses PRIMARY KEY (id),
     CONSTRAINT fk_courses_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT uq_courses_key UNIQUE (workspace_id, key),
     CONSTRAINT uq_courses_slug UNIQUE (workspace_id, slug),
     CONSTRAINT ck_courses_status CHECK (status IN ('draft', 'published', 'archived')),
     CONSTRAINT ck_courses_price CHECK ((price_amount IS NULL) = (price_currency IS NULL)
         AND (price_amount IS NULL OR price_amount >= 0)),
     CONSTRAINT ck_courses_counts CHECK (module_count >= 0 AND lesson_count >= 0 AND duration_seconds >= 0)",
    &[
        "CREATE INDEX ix_courses_created ON courses (workspace_id, status, created_at, id)",
        "CREATE INDEX ix_courses_updated ON courses (workspace_id, status, updated_at, id)",
        "CREATE INDEX ix_courses_language ON courses (workspace_id, lower(language), status, created_at, id)",
    ],
);

/// A section of a course, with lessons.
pub(super) const MODULES: TableDefinition = TableDefinition::heap(
    "modules",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     course_id UUID NOT NULL,
     key TEXT NOT NULL,
     title TEXT NOT NULL,
     position INTEGER NOT NULL,
     CONSTRAINT pk_modules PRIMARY KEY (id),
     CONSTRAINT fk_modules_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT fk_modules_course FOREIGN KEY (course_id) REFERENCES courses (id) ON DELETE CASCADE,
     CONSTRAINT uq_modules_key UNIQUE (workspace_id, key)",
    &["CREATE INDEX ix_modules_course ON modules (course_id, position)"],
);

/// A lesson of a module.
pub(super) const LESSONS: TableDefinition = TableDefinition::heap(
    "lessons",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     course_id UUID NOT NULL,
     module_id UUID NOT NULL,
     key TEXT NOT NULL,
     title TEXT NOT NULL,
     type TEXT NOT NULL,
     position INTEGER NOT NULL,
     duration_seconds BIGINT,
     free_preview BOOLEAN NOT NULL,
     CONSTRAINT pk_lessons PRIMARY KEY (id),
     CONSTRAINT fk_lessons_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT fk_lessons_course FOREIGN KEY (course_id) REFERENCES courses (id) ON DELETE CASCADE,
     CONSTRAINT fk_lessons_module FOREIGN KEY (module_id) REFERENCES modules (id) ON DELETE CASCADE,
     CONSTRAINT uq_lessons_key UNIQUE (workspace_id, key),
     CONSTRAINT ck_lessons_type CHECK (type IN
         ('video', 'audio', 'text', 'download', 'quiz', 'assignment', 'live')),
     CONSTRAINT ck_lessons_duration CHECK (duration_seconds >= 0)",
    &[
        "CREATE INDEX ix_lessons_course ON lessons (course_id, position)",
        "CREATE INDEX ix_lessons_module ON lessons (module_id, position)",
    ],
);

/// A scheduled, current or ended broadcast.
pub(super) const LIVE_SESSIONS: TableDefinition = TableDefinition::heap(
    "live_sessions",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     key TEXT NOT NULL,
     course_id UUID,
     title TEXT NOT NULL,
     status TEXT NOT NULL,
     scheduled_at BIGINT,
     started_at BIGINT,
     ended_at BIGINT,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_live_sessions PRIMARY KEY (id),
     CONSTRAINT fk_live_sessions_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_live_sessions_course FOREIGN KEY (course_id) REFERENCES courses (id) ON DELETE SET NULL,
     CONSTRAINT uq_live_sessions_key UNIQUE (workspace_id, key),
     CONSTRAINT ck_live_sessions_status CHECK (status IN ('scheduled', 'live', 'ended'))",
    &["CREATE INDEX ix_live_sessions_course ON live_sessions (course_id)"],
);

/// A recording of a live session.
pub(super) const RECORDINGS: TableDefinition = TableDefinition::heap(
    "recordings",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     key TEXT NOT NULL,
     live_session_id UUID NOT NULL,
     title TEXT NOT NULL,
     duration_seconds BIGINT NOT NULL,
     size_bytes BIGINT NOT NULL,
     content_type TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     CONSTRAINT pk_recordings PRIMARY KEY (id),
     CONSTRAINT fk_recordings_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_recordings_session FOREIGN KEY (live_session_id) REFERENCES live_sessions (id)
         ON DELETE CASCADE,
     CONSTRAINT uq_recordings_key UNIQUE (workspace_id, key),
     CONSTRAINT ck_recordings_sizes CHECK (duration_seconds >= 0 AND size_bytes >= 0)",
    &["CREATE INDEX ix_recordings_session ON recordings (live_session_id)"],
);
