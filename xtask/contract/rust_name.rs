//! Rust names for names of the contract.
//!
//! The rule about name collisions and the generator both use these functions, so that they agree.

use heck::{ToSnakeCase, ToUpperCamelCase};

use super::model::ResponseStatus;

/// Returns a type or variant name: `order.paid` becomes `OrderPaid`, `-created_at` becomes `CreatedAtDescending`.
///
/// `Self`, and a name that does not start with a letter, get the prefix `Value`.
pub fn upper_camel_case(name: &str) -> String {
    let (name, suffix) = match name.strip_prefix('-') {
        Some(rest) => (rest, "Descending"),
        None => (name, ""),
    };
    let camel = name.to_upper_camel_case() + suffix;
    match camel.chars().next() {
        Some(first) if first.is_alphabetic() && camel != "Self" => camel,
        _ => format!("Value{camel}"),
    }
}

/// Returns a field, method, module or variable name: `studentId` becomes `student_id`, `If-None-Match` becomes
/// `if_none_match`.
///
/// Rust keywords become raw identifiers (`r#type`), except for `self`, `super` and `crate`, which get a trailing
/// underscore. A name that does not start with a letter gets the prefix `value_`.
pub fn snake_case(name: &str) -> String {
    let snake = name.to_snake_case();
    if !snake.starts_with(char::is_alphabetic) {
        return format!("value_{snake}");
    }
    if matches!(&*snake, "self" | "super" | "crate") {
        return snake + "_";
    }
    if is_identifier(&snake) { snake } else { format!("r#{snake}") }
}

/// Returns a variable name that is not `reserved` by the generated code. A reserved name gets a trailing underscore.
/// Only `self_`, `super_` and `crate_` have one otherwise.
pub fn variable(name: &str, reserved: &[&str]) -> String {
    let name = snake_case(name);
    if reserved.contains(&&*name) { name + "_" } else { name }
}

/// Returns whether a converted name is a Rust identifier. `m²` becomes `M²`, which is not.
pub fn is_identifier(name: &str) -> bool {
    syn::parse_str::<syn::Ident>(name).is_ok()
}

/// Returns the name of the function that creates the default of a field. `type_name` is the name that an inline type of this field
/// gets, or would get: the name of the struct followed by that of the field, such as `StudentTags`.
pub fn default_function(type_name: &str) -> String {
    snake_case(type_name) + "_default"
}

/// Returns the name of the function that creates the default of a parameter.
pub fn parameter_default_function(operation: &str, parameter: &str) -> String {
    default_function(&format!("{operation}_{parameter}"))
}

/// Returns the name of a constant or static: `listCourses` becomes `LIST_COURSES`.
pub fn constant(name: &str) -> String {
    snake_case(name).trim_start_matches("r#").to_uppercase()
}

/// Returns the variant of a response enum for a status.
pub fn status_variant(status: ResponseStatus) -> String {
    let code = match status {
        ResponseStatus::Code(code) => code,
        ResponseStatus::Range(digit) => return format!("Status{digit}xx"),
        ResponseStatus::Default => return "Default".to_owned(),
    };
    let variant = match code {
        200 => "Ok",
        201 => "Created",
        202 => "Accepted",
        204 => "NoContent",
        206 => "PartialContent",
        301 => "MovedPermanently",
        302 => "Found",
        303 => "SeeOther",
        304 => "NotModified",
        307 => "TemporaryRedirect",
        308 => "PermanentRedirect",
        400 => "BadRequest",
        401 => "Unauthorized",
        402 => "PaymentRequired",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        408 => "RequestTimeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "LengthRequired",
        412 => "PreconditionFailed",
        413 => "PayloadTooLarge",
        415 => "UnsupportedMediaType",
        422 => "UnprocessableEntity",
        428 => "PreconditionRequired",
        429 => "TooManyRequests",
        500 => "InternalServerError",
        501 => "NotImplemented",
        502 => "BadGateway",
        503 => "ServiceUnavailable",
        504 => "GatewayTimeout",
        _ => return format!("Status{code}"),
    };
    variant.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_variants_are_upper_camel_case() {
        let names = ["Course", "order.paid", "read:courses", "-created_at", "2xx", "self", "listCourses"];
        let rust: Vec<_> = names.into_iter().map(upper_camel_case).collect();
        let expected = [
            "Course",
            "OrderPaid",
            "ReadCourses",
            "CreatedAtDescending",
            "Value2xx",
            "ValueSelf",
            "ListCourses",
        ];
        assert_eq!(rust, expected);
    }

    #[test]
    fn fields_and_methods_are_snake_case_and_never_keywords() {
        let names = ["studentId", "type", "If-None-Match", "self", "4th", "in", "X-RateLimit-Daily-Limit"];
        let rust: Vec<_> = names.into_iter().map(snake_case).collect();
        let expected = [
            "student_id",
            "r#type",
            "if_none_match",
            "self_",
            "value_4th",
            "r#in",
            "x_rate_limit_daily_limit",
        ];
        assert_eq!(rust, expected);
    }

    #[test]
    fn names_with_other_characters_are_not_identifiers() {
        for name in ["m²", "area_m²", "²", "①", "ⓐ", "½"] {
            assert!(!is_identifier(&upper_camel_case(name)), "{name}");
            assert!(!is_identifier(&snake_case(name)), "{name}");
        }
        for name in ["", "-", "é", "größe", "名", "type", "self", "Self", "4th", "_", "a\u{301}"] {
            assert!(is_identifier(&upper_camel_case(name)), "{name}");
            assert!(is_identifier(&snake_case(name)), "{name}");
        }
    }

    #[test]
    fn a_variable_never_has_a_reserved_name() {
        let names = ["call", "Call_", "_call", "calls", "body"];
        let rust: Vec<_> = names.into_iter().map(|name| variable(name, &["call", "value"])).collect();
        assert_eq!(rust, ["call_", "call_", "call_", "calls", "body"]);
    }
}
