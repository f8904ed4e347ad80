//! Holds the table of [`super::rooms`] against the paths a file names.

use super::Finding;
use super::paths::{NamedPath, paths};
use super::rooms::{EXCEPTIONS, Exception, ROOMS, Room};
use super::source::Source;

/// The finders that do not ask for a workspace.
const UNSCOPED: &[&str] =
    &["find", "find_by_id", "find_related", "delete_by_id", "delete_many", "update_many"];

/// Every arrow of this file that runs up or out.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.is_generated() || source.test {
        return Vec::new();
    }
    let named = paths(source.tokens.clone());
    let mut findings: Vec<Finding> =
        named.iter().filter_map(|path| crate_fault(&source.file, path)).collect();
    if let Some(modules) = source.file.strip_prefix("src/") {
        let modules = module_path(modules);
        let Some(room) = ROOMS.iter().find(|room| room.name == modules[0]) else {
            let message = format!("there is no room `{}` in the house", modules[0]);
            return vec![Finding::new(
                &source.file,
                1,
                message,
                "put it into a room, or add it to xtask/src/tidy/rooms.rs",
            )];
        };
        let entities = named.iter().filter(|path| path.segments.last().is_some_and(|last| last == "Entity"));
        let entities = entities.filter_map(|path| path.alias.as_deref()).chain(["Entity"]).collect();
        let place = Place { file: &source.file, modules, room, entities };
        findings.extend(named.iter().filter_map(|path| place.fault(path)));
    }
    findings
}

/// The modules a file below `src/` stands for: `api/v1/courses.rs` is `api`, `v1`, `courses`.
fn module_path(file: &str) -> Vec<&str> {
    let mut modules: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    if modules.len() > 1 && modules.last() == Some(&"mod") {
        modules.pop();
    }
    modules
}

/// What the crates beside the server may not name.
fn crate_fault(file: &str, path: &NamedPath) -> Option<Finding> {
    let first = path.segments[0].as_str();
    let (wrong, remedy) = if file.starts_with("migration/") {
        (first == "entity", "a step writes its tables itself: entities move on, steps do not")
    } else if file.starts_with("entity/") {
        (matches!(first, "creator_api" | "migration"), "entities stand below everything")
    } else if file.starts_with("xtask/")
        && !file.starts_with("xtask/src/check")
        && !file.starts_with("xtask/src/bench")
    {
        (first == "creator_api", "only `check` links the server, behind its feature")
    } else {
        (false, "")
    };
    wrong.then(|| Finding::new(file, path.line, format!("names `{}`", path.segments.join("::")), remedy))
}

/// A file of a room.
struct Place<'a> {
    file: &'a str,
    modules: Vec<&'a str>,
    room: &'a Room,
    /// What the file calls entities.
    entities: Vec<&'a str>,
}

impl Place<'_> {
    fn fault(&self, path: &NamedPath) -> Option<Finding> {
        let (message, remedy) = hidden(&self.modules, path)
            .or_else(|| self.crate_or_finder(path))
            .or_else(|| self.arrow(path))?;
        Some(Finding::new(self.file, path.line, message, remedy))
    }

    /// A crate that the room never names, or a finder that asks for no workspace.
    fn crate_or_finder(&self, path: &NamedPath) -> Option<(String, String)> {
        let (room, segments) = (self.room, &path.segments);
        if room.never.contains(&segments[0].as_str()) {
            let remedy = format!("`{}` never names `{}`; ask the room below for it", room.name, segments[0]);
            return Some((format!("names `{}`", segments.join("::")), remedy));
        }
        let unscoped =
            |pair: &&[String]| self.entities.contains(&&*pair[0]) && UNSCOPED.contains(&pair[1].as_str());
        let pair = segments.windows(2).find(unscoped)?;
        let message = format!("calls `{}::{}`, which asks for no workspace", pair[0], pair[1]);
        Some((message, "write a finder in `entity` that takes the workspace first".to_owned()))
    }

    /// An arrow that runs up.
    fn arrow(&self, path: &NamedPath) -> Option<(String, String)> {
        let room = self.room;
        let target = below_root(&self.modules, path)?;
        let other = target.first()?;
        let known = ROOMS.iter().any(|known| known.name == *other);
        let allowed = *other == room.name || room.below.contains(other) || !known || excepted(room, &target);
        if allowed {
            return None;
        }
        let below = if room.below.is_empty() { "nothing of ours".to_owned() } else { room.below.join(", ") };
        let message = format!("`{}` names `{}`: this arrow runs up", room.name, path.segments.join("::"));
        let remedy = format!("`{}` may name {below}; move what both need below both", room.name);
        Some((message, remedy))
    }
}

/// What hides which room is named: another name for the root or for a way up, and everything in the root at once.
fn hidden(modules: &[&str], path: &NamedPath) -> Option<(String, String)> {
    let way = |segment: &String| ["crate", "creator_api", "self", "super"].contains(&segment.as_str());
    let renamed = path.alias.as_ref().filter(|_| path.segments.iter().all(way));
    let shown = path.segments.join("::");
    let message = match renamed {
        Some(alias) => format!("calls `{shown}` `{alias}`"),
        None if below_root(modules, path).is_some_and(|target| target == ["*"]) => format!("names `{shown}`"),
        None => return None,
    };
    Some((message, "write out the way from the root, so that it shows which room is named".to_owned()))
}

fn excepted(room: &Room, target: &[&str]) -> bool {
    EXCEPTIONS.iter().any(|exception| exception.from == room.name && target.starts_with(exception.path))
}

/// The exceptions that no file of these makes use of.
pub(super) fn stale_exceptions(sources: &[Source]) -> Vec<Finding> {
    let mut stale: Vec<&Exception> = EXCEPTIONS.iter().collect();
    for source in sources {
        let Some(modules) = source.file.strip_prefix("src/").map(module_path) else { continue };
        for path in paths(source.tokens.clone()) {
            let Some(target) = below_root(&modules, &path) else { continue };
            stale.retain(|exception| exception.from != modules[0] || !target.starts_with(exception.path));
        }
    }
    stale
        .into_iter()
        .map(|exception| {
            let Exception { from, path, why } = exception;
            let message = format!("`{from}` no longer names `{}` ({why})", path.join("::"));
            Finding::new("xtask/src/tidy/rooms.rs", 1, message, "take the exception away")
        })
        .collect()
}

/// The path below the crate's root, when it leads there.
fn below_root<'a>(modules: &[&'a str], path: &'a NamedPath) -> Option<Vec<&'a str>> {
    let segments = path.segments.iter().map(String::as_str);
    let segments: Vec<&str> = segments.skip_while(|segment| *segment == "self").collect();
    let ups = segments.iter().take_while(|segment| **segment == "super").count();
    match *segments.first()? {
        "crate" | "creator_api" => Some(segments[1..].to_vec()),
        "super" => {
            // Modules that are written out in the file are climbed first; what they are called says nothing here.
            let kept = (modules.len() + path.depth).saturating_sub(ups).min(modules.len());
            Some(modules[..kept].iter().chain(&segments[ups..]).copied().collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(file: &str, text: &str) -> Vec<String> {
        let source = Source::parse(file, text.to_owned()).unwrap();
        check(&source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_arrow_that_runs_up_is_found_in_every_spelling() {
        for text in [
            "use crate::api::error::ApiError;",
            "use crate::{clock::Clock, api::error};",
            "fn f() { crate::api::f() }",
            "use super::super::api;",
            "use self::super::super::api;",
            "use crate::r#api::error;",
            "mod inner { use super::super::super::api; }",
            "assert!(crate::api::X);",
        ] {
            let found = findings("src/domain/orders.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("src/domain/orders.rs:1: `domain` names"), "{}", found[0]);
        }
    }

    #[test]
    fn what_lies_below_may_be_named() {
        let text =
            "use crate::app::App; use super::Result; use crate::events; use entity::orders; mod api {}";
        assert_eq!(findings("src/domain/orders.rs", text), Vec::<String>::new());
        assert_eq!(findings("src/cli/serve.rs", "use crate::server; use crate::feed;"), Vec::<String>::new());
    }

    #[test]
    fn the_domain_knows_no_http_and_no_json_and_no_unscoped_finder() {
        assert_eq!(findings("src/domain/a.rs", "use serde_json::Value;").len(), 1);
        assert_eq!(findings("src/domain/a.rs", "fn f() -> poem::Response {}").len(), 1);
        assert_eq!(findings("src/domain/a.rs", "fn f() { orders::Entity::find_by_id(1); }").len(), 1);
        assert_eq!(findings("src/api/v1/orders.rs", "use sea_orm::EntityTrait;").len(), 1);
    }

    #[test]
    fn another_name_hides_nothing() {
        for text in [
            "use crate as c; fn f() { c::api::f() }",
            "use crate::{self as c};",
            "use super::super as root;",
            "use super as here;",
            "use creator_api as c;",
            "extern crate self as c;",
            "use crate::*;",
            "use super::super::*;",
            "use poem as p; fn f() -> p::Response {}",
            "use {poem as p};",
            "extern crate poem;",
            "use entity::orders::Entity as Orders; fn f() { Orders::find(); }",
            "use entity::{orders::{Entity as Orders}}; fn f() { Orders::find_by_id(1); }",
            "type Orders = entity::orders::Entity; fn f() { Orders::find(); }",
            "use entity::orders::{self as o}; fn f() { o::Entity::find(); }",
            "fn f() { <entity::orders::Entity as EntityTrait>::find(); }",
        ] {
            let found = findings("src/domain/orders.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
        }
        for text in [
            "use super::*; use crate::app::*;",
            "use entity::orders::{self as rows, Entity as Orders, Model as Order}; fn f() { Orders::ours(); }",
            "mod inner { use super::*; use super::super::students as s; }",
            "use crate::clock::{self as time};",
        ] {
            assert_eq!(findings("src/domain/orders.rs", text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(findings("src/clock.rs", "mod inner { use super::*; }"), Vec::<String>::new());
        assert_eq!(findings("migration/src/m1.rs", "use entity as e;").len(), 1);
    }

    #[test]
    fn only_what_is_written_by_the_generator_or_for_tests_is_spared() {
        let text = "use crate::api::error;";
        for file in
            ["src/domain/generated/a.rs", "src/domain/tests/a.rs", "src/domain/tests.rs", "src/domain/a.rs"]
        {
            assert_eq!(findings(file, text).len(), 1, "{file}");
        }
        assert_eq!(findings("src/api/generated/a.rs", "use entity::orders;"), Vec::<String>::new());
    }

    #[test]
    fn crates_keep_to_themselves() {
        assert_eq!(findings("migration/src/m1.rs", "use entity::orders;").len(), 1);
        assert_eq!(findings("xtask/src/codegen/mod.rs", "use creator_api::api;").len(), 1);
        assert_eq!(findings("xtask/src/check/mod.rs", "use creator_api::api;"), Vec::<String>::new());
    }

    #[test]
    fn an_exception_lets_through_what_it_names_and_no_more() {
        assert_eq!(findings("src/app.rs", "use crate::domain::keys::Principals;"), Vec::<String>::new());
        assert_eq!(findings("src/app.rs", "use crate::domain::keys::create;").len(), 1);
    }

    #[test]
    fn a_room_that_is_not_in_the_house_is_found() {
        assert_eq!(findings("src/utils.rs", "fn f() {}").len(), 1);
    }
}
