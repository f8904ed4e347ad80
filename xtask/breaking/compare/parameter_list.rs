//! The parameters of an operation: those that it declares, and those of its path item.

use contract::node::Node;
use contract::source::Span;

use super::operations::OperationNode;
use super::serialization::{Serialization, is_true};
use crate::document::IndexedDocument;

/// A parameter and the key by which it is matched.
pub(super) struct OperationParameter<'n> {
    /// `path`, `query`, `header` or `cookie`.
    pub location: &'n str,
    /// The name.
    pub name: &'n str,
    /// Identifies the parameter within an operation: its location, and its normalized name or its index in the path.
    pub key: String,
    /// The node, with its references resolved.
    pub node: &'n Node,
    /// The position of its use.
    pub use_span: Span,
    /// The position of its definition. It differs from `use_span` if the use is a reference.
    pub definition_span: Span,
    /// Whether it is a parameter of the path item.
    pub is_of_path_item: bool,
}

impl<'n> OperationParameter<'n> {
    pub(super) fn is_required(&self) -> bool {
        self.location == "path" || is_true(self.node, "required")
    }

    pub(super) fn serialization(&self) -> Serialization {
        Serialization::of_parameter(self.node, self.location)
    }

    pub(super) fn display_name(&self) -> String {
        format!("{} parameter `{}`", self.location, self.name)
    }
}

/// Headers that OpenAPI describes elsewhere and ignores as parameters.
const IGNORED_HEADERS: [&str; 3] = ["Accept", "Content-Type", "Authorization"];

/// Returns the parameters of an operation: those that it declares, and those of its path item that it does not
/// override.
pub(super) fn all_parameters<'n>(
    side: &IndexedDocument<'n>,
    operation: OperationNode<'_, 'n>,
) -> Vec<OperationParameter<'n>> {
    let mut parameters: Vec<OperationParameter<'n>> = Vec::new();
    let lists = [(operation.node.entry("parameters"), false), (operation.item.entry("parameters"), true)];
    for (list, is_of_path_item) in lists {
        for item in list.and_then(|list| list.value.items()).unwrap_or_default() {
            let (node, definition_span) = side.follow_with_position(item, item.span);
            let text = |key| node.get(key).and_then(Node::as_str);
            let (Some(location), Some(name)) = (text("in"), text("name")) else { continue };
            if location == "header" && IGNORED_HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header))
            {
                continue;
            }
            let key = match location {
                "header" => format!("header {}", name.to_ascii_lowercase()),
                "path" => format!("path {}", path_key(operation.item.name, name)),
                _ => format!("{location} {name}"),
            };
            if !parameters.iter().any(|parameter| parameter.key == key) {
                parameters.push(OperationParameter {
                    location,
                    name,
                    key,
                    node,
                    use_span: item.span,
                    definition_span,
                    is_of_path_item,
                });
            }
        }
    }
    parameters
}

/// Returns the key of a path parameter: its index in the path, or its name if the path does not contain it.
fn path_key(path: &str, name: &str) -> String {
    let parameter_names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    parameter_names
        .enumerate()
        .find(|(_, parameter_name)| *parameter_name == name)
        .map_or_else(|| name.to_owned(), |(index, _)| index.to_string())
}

/// Whether a parameter is a placeholder of the path. The matched path has the same placeholders, so the URL stays the
/// same if only one of the documents declares the parameter.
pub(super) fn is_placeholder(parameter: &OperationParameter<'_>, path: &str) -> bool {
    parameter.location == "path" && path.contains(&format!("{{{}}}", parameter.name))
}
