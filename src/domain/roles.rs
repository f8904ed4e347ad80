//! The roles of the members of a workspace, and what each role may do in the dashboard.
//!
//! Every page and form of the dashboard names the [`Permission`] that it requires, and [`Roles::allow`] decides.

use super::text_enum::text_enum;

/// A role of a member. A member can have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// May do everything, including managing the members.
    Owner,
    /// Manages API keys, webhooks and the sandbox, and reads the details of requests and deliveries.
    Developer,
    /// Manages courses, students and enrollments, and refunds orders.
    Manager,
    /// Reads everything except for the audit log and the details of requests and deliveries.
    Viewer,
}

text_enum!(Role, "a role", {
    Owner = "owner",
    Developer = "developer",
    Manager = "manager",
    Viewer = "viewer",
});

impl Role {
    /// Returns what a member with this role may do, in one sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Owner => "Can do everything, including managing members.",
            Self::Developer => "Manages API keys, webhooks and the sandbox, and reads logs with all details.",
            Self::Manager => "Publishes courses, manages students and enrollments, and refunds orders.",
            Self::Viewer => {
                "Reads everything except the audit log, request details, and the contents of deliveries."
            }
        }
    }
}

/// What a page or a form of the dashboard needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Manage one's own sessions and settings, switch the workspace, and leave it.
    UseAccount,
    /// Read records and figures of the workspace.
    ReadWorkspace,
    /// Read addresses, queries, headers and bodies of API requests and webhook deliveries.
    ReadMessages,
    /// Read who did what.
    ReadAuditLog,
    /// Create, change, rotate and revoke API keys.
    ManageKeys,
    /// Create and change webhooks and their secrets, and resend deliveries.
    ManageWebhooks,
    /// Switch to the sandbox, create, reset and delete it.
    UseSandbox,
    /// Publish and archive courses.
    ManageCourses,
    /// Enroll students, revoke enrollments, and delete students.
    ManageStudents,
    /// Refund orders.
    RefundOrders,
    /// Invite and remove members, and change their roles.
    ManageMembers,
}

impl Permission {
    /// Returns whether the action concerns the members, who are real also in the sandbox. It needs live data to be shown, so that nobody
    /// takes it for a trial.
    pub const fn needs_live_data(self) -> bool {
        matches!(self, Self::ManageMembers)
    }
}

/// A set of roles, with one bit per role. The database stores the bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles(i16);

impl Roles {
    /// The role of the owner.
    pub const OWNER: Self = Self::of(&[Role::Owner]);
    /// The roles of a member for whom none were chosen, and of the members from before roles existed.
    pub const DEFAULT: Self = Self::of(&[Role::Developer, Role::Manager]);

    const fn of(roles: &[Role]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < roles.len() {
            bits |= 1 << roles[index] as i16;
            index += 1;
        }
        Self(bits)
    }

    /// Returns the set with these bits. Ignores bits of unknown roles.
    pub(super) const fn from_bits(bits: i16) -> Self {
        Self(bits & Self::of(Role::ALL).0)
    }

    /// Returns the bits.
    pub(super) const fn bits(self) -> i16 {
        self.0
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set contains a role.
    pub const fn contains(self, role: Role) -> bool {
        self.0 & Self::of(&[role]).0 != 0
    }

    /// Returns the roles of the set, in the order of [`Role::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.iter().copied().filter(move |role| self.contains(*role))
    }

    /// Returns whether a member with these roles may do what the permission stands for. This function alone decides what roles
    /// may do.
    pub const fn allow(self, permission: Permission) -> bool {
        use Role::{Developer, Manager, Owner};
        let allowed = match permission {
            Permission::UseAccount | Permission::ReadWorkspace => Self::of(Role::ALL),
            Permission::ReadAuditLog => Self::of(&[Owner, Developer, Manager]),
            Permission::ReadMessages
            | Permission::ManageKeys
            | Permission::ManageWebhooks
            | Permission::UseSandbox => Self::of(&[Owner, Developer]),
            Permission::ManageCourses | Permission::ManageStudents | Permission::RefundOrders => {
                Self::of(&[Owner, Manager])
            }
            Permission::ManageMembers => Self::of(&[Owner]),
        };
        self.0 & allowed.0 != 0
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        Self(roles.into_iter().fold(0, |bits, role| bits | Self::of(&[role]).0))
    }
}

/// Lists the roles: `developer, manager`.
impl std::fmt::Display for Roles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.iter().map(Role::as_str).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_roles_allow_what_one_of_them_allows() {
        assert!(
            Roles::DEFAULT.allow(Permission::ManageKeys) && Roles::DEFAULT.allow(Permission::RefundOrders)
        );
        assert!(!Roles::DEFAULT.allow(Permission::ManageMembers));
        let none: Roles = [].into_iter().collect();
        assert!(none.is_empty() && !none.allow(Permission::ReadWorkspace));
    }

    #[test]
    fn bits_of_unknown_roles_are_ignored() {
        assert_eq!(Roles::from_bits(0b110), Roles::DEFAULT, "the default of the column in the database");
        assert_eq!(Roles::from_bits(!0).to_string(), "owner, developer, manager, viewer");
        assert_eq!(Roles::from_bits(1 << 9).iter().count(), 0);
    }
}
