//! The names in Rust of what the contract names.
//!
//! Owns the spelling rules between the two, so that the rule against collisions and the generator agree.

use heck::{ToSnakeCase, ToUpperCamelCase};

/// A type or a variant: `order.paid` is `OrderPaid`, `-created_at` is `CreatedAtDescending`.
pub fn upper(name: &str) -> String {
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

/// A field, a method, a module or a variable: `studentId` is `student_id`, `If-None-Match` is `if_none_match`.
///
/// Keywords of Rust are written raw (`r#type`).
pub fn lower(name: &str) -> String {
    let snake = name.to_snake_case();
    if !snake.starts_with(char::is_alphabetic) {
        return format!("value_{snake}");
    }
    if matches!(&*snake, "self" | "super" | "crate") {
        return snake + "_";
    }
    if can_be_written(&snake) { snake } else { format!("r#{snake}") }
}

/// A variable beside others that the generated code has for itself: one of those names gets an underscore behind it, which
/// no name of a contract ends in.
pub fn apart(name: &str, own: &[&str]) -> String {
    let name = lower(name);
    if own.contains(&&*name) { name + "_" } else { name }
}

/// Whether Rust can write a name that was made here: `m²` is `M²`, and superscripts stand in no identifier.
pub fn can_be_written(name: &str) -> bool {
    syn::parse_str::<syn::Ident>(name).is_ok()
}

/// The function that makes the default of a field; `owner` is the name of a type for it.
pub fn default(owner: &str) -> String {
    lower(owner) + "_default"
}

/// The function that makes the default of a parameter.
pub fn default_of_parameter(operation: &str, parameter: &str) -> String {
    default(&format!("{operation}_{parameter}"))
}

/// A constant or a static: `listCourses` is `LIST_COURSES`.
pub fn constant(name: &str) -> String {
    lower(name).trim_start_matches("r#").to_uppercase()
}

/// The variant of a response enum for a status.
pub fn status(status: u16) -> String {
    let known = match status {
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
        _ => return format!("Status{status}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_variants_are_upper_camel_case() {
        let names = ["Course", "order.paid", "read:courses", "-created_at", "2xx", "self", "listCourses"];
        let rust: Vec<_> = names.into_iter().map(upper).collect();
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
        let rust: Vec<_> = names.into_iter().map(lower).collect();
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
    fn what_is_neither_letter_nor_digit_to_rust_stays_and_cannot_be_written() {
        for name in ["m²", "area_m²", "²", "①", "ⓐ", "½"] {
            assert!(!can_be_written(&upper(name)), "{name}");
            assert!(!can_be_written(&lower(name)), "{name}");
        }
        for name in ["", "-", "é", "größe", "名", "type", "self", "Self", "4th", "_", "a\u{301}"] {
            assert!(can_be_written(&upper(name)), "{name}");
            assert!(can_be_written(&lower(name)), "{name}");
        }
    }

    #[test]
    fn a_variable_never_has_a_name_of_the_generated_code() {
        let names = ["call", "Call_", "_call", "calls", "body"];
        let rust: Vec<_> = names.into_iter().map(|name| apart(name, &["call", "value"])).collect();
        assert_eq!(rust, ["call_", "call_", "call_", "calls", "body"]);
    }
}
