//! QR codes as SVG.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};

use super::RawHtml;

/// The width of the empty border that scanners need, in modules.
const BORDER: i32 = 4;

/// Renders a QR code of a text, always dark on light. Renders nothing for a text that is too long for one.
pub(crate) fn qr_code(text: &str) -> RawHtml<String> {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else { return RawHtml(String::new()) };
    let mut modules = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            // Writing to a string never fails.
            let _ = write!(modules, "M{} {}h1v1h-1z", x + BORDER, y + BORDER);
        }
    }
    let size = code.size() + 2 * BORDER;
    RawHtml(format!(
        "<svg class=\"qr\" width=\"208\" height=\"208\" viewBox=\"0 0 {size} {size}\" shape-rendering=\"crispEdges\" role=\"img\" \
         aria-label=\"QR code with the secret below\"><path fill=\"#fff\" stroke=\"none\" d=\"M0 0h{size}v{size}h-{size}z\"/>\
         <path fill=\"#000\" stroke=\"none\" d=\"{modules}\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_contains_the_three_finder_patterns() {
        let svg = qr_code("otpauth://totp/a:b?secret=GEZDGNBV&issuer=a").to_string();
        assert!(svg.contains("M4 4h1") && svg.contains("M10 10h1") && !svg.contains("M0 0h1"), "{svg}");
        assert_eq!(qr_code(&"a".repeat(5000)).to_string(), "");
    }
}
