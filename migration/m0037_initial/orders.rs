//! Orders and what they give access to. Amounts are in minor units of the order's currency.

use crate::definition::TableDefinition;

/// A paid order, with the customer and the receipt at the time of payment. `key` is the id of the platform.
pub(super) const ORDERS: TableDefinition = TableDefinition::heap(
    "orders",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     key TEXT,
     number TEXT NOT NULL,
     student_id UUID,
     customer_email TEXT NOT NULL,
     customer_name TEXT,
     status TEXT NOT NULL,
     currency TEXT NOT NULL,
     subtotal_amount BIGINT NOT NULL,
     discount_amount BIGINT NOT NULL,
     tax_amount BIGINT NOT NULL,
     total_amount BIGINT NOT NULL,
     refunded_amount BIGINT NOT NULL,
     receipt_number TEXT NOT NULL,
     receipt_url TEXT,
     receipt_issued_at BIGINT NOT NULL,
     paid_at BIGINT NOT NULL,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_orders PRIMARY KEY (id),
     CONSTRAINT fk_orders_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT fk_orders_student FOREIGN KEY (student_id) REFERENCES students (id) ON DELETE SET NULL,
     CONSTRAINT uq_orders_key UNIQUE (workspace_id, key),
     CONSTRAINT uq_orders_number UNIQUE (workspace_id, number),
     CONSTRAINT ck_orders_status CHECK (status IN ('paid', 'partially_refunded', 'refunded')),
     CONSTRAINT ck_orders_amounts CHECK (subtotal_amount >= 0 AND discount_amount >= 0 AND tax_amount >= 0
         AND total_amount >= 0 AND refunded_amount >= 0 AND refunded_amount <= total_amount)",
    &[
        "CREATE INDEX ix_orders_created ON orders (workspace_id, created_at, id)",
        "CREATE INDEX ix_orders_updated ON orders (workspace_id, updated_at, id)",
        "CREATE INDEX ix_orders_paid ON orders (workspace_id, paid_at, id)",
        "CREATE INDEX ix_orders_status ON orders (workspace_id, status, created_at, id)",
        "CREATE INDEX ix_orders_currency ON orders (workspace_id, currency, created_at, id)",
        // Starts with the student, so that deleting a student uses this index as well.
        "CREATE INDEX ix_orders_student ON orders (student_id, created_at, id)",
    ],
);

/// A course in an order, with its title and price at the time of payment.
pub(super) const ORDER_ITEMS: TableDefinition = TableDefinition::heap(
    "order_items",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     order_id UUID NOT NULL,
     position INTEGER NOT NULL,
     course_id UUID NOT NULL,
     title TEXT NOT NULL,
     quantity INTEGER NOT NULL,
     unit_amount BIGINT NOT NULL,
     total_amount BIGINT NOT NULL,
     CONSTRAINT pk_order_items PRIMARY KEY (id),
     CONSTRAINT fk_order_items_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_order_items_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE,
     CONSTRAINT fk_order_items_course FOREIGN KEY (course_id) REFERENCES courses (id),
     CONSTRAINT ck_order_items_amounts CHECK (quantity >= 1 AND unit_amount >= 0 AND total_amount >= 0)",
    &[
        "CREATE INDEX ix_order_items_order ON order_items (order_id, position)",
        "CREATE INDEX ix_order_items_course ON order_items (workspace_id, course_id, order_id)",
    ],
);

/// A refund of an order, or of a part of it.
pub(super) const REFUNDS: TableDefinition = TableDefinition::heap(
    "refunds",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     order_id UUID NOT NULL,
     amount BIGINT NOT NULL,
     reason TEXT,
     created_at BIGINT NOT NULL,
     CONSTRAINT pk_refunds PRIMARY KEY (id),
     CONSTRAINT fk_refunds_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT fk_refunds_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE,
     CONSTRAINT ck_refunds_amount CHECK (amount >= 0)",
    &[
        "CREATE INDEX ix_refunds_order ON refunds (order_id, created_at)",
        "CREATE INDEX ix_refunds_created ON refunds (workspace_id, created_at)",
    ],
);

/// A course that an order gives access to. It ends when its enrollment is revoked, even if a grant or another order
/// gives access again.
pub(super) const ENTITLEMENTS: TableDefinition = TableDefinition::heap(
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
    &[
        "CREATE INDEX ix_entitlements_order ON entitlements (order_id)",
        "CREATE INDEX ix_entitlements_enrollment ON entitlements (enrollment_id)",
    ],
);
