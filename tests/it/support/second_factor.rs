//! The second factor of a member, set up in the dashboard.

use std::time::Duration;

use domain::people::{self, NewSecret};
use regex::Regex;

use super::browser::{first_match, html};
use super::{Browser, TestApp};

/// The path of the page about the second factor.
pub const SECURITY: &str = "/dashboard/settings/security";

/// A second factor, as its owner knows it.
pub struct Factor {
    secret: NewSecret,
    pub recovery_codes: Vec<String>,
}

impl Factor {
    /// Returns the code that an app shows this many seconds ahead of the server.
    pub fn code(&self, app: &TestApp, offset_s: i64) -> String {
        self.secret.code_at(app.clock.now_ms() + offset_s * 1000)
    }
}

/// Sets up a second factor in the browser of a member. The clock then moves to the next code.
pub async fn set_up(app: &TestApp, browser: &Browser<'_>) -> Factor {
    let page = html(&browser.submit(SECURITY, &format!("{SECURITY}/set-up"), &[]).await.assert_status(200));
    let text = first_match(&page, "<code>([A-Z2-7 ]{39})</code>").replace(' ', "");
    let secret = NewSecret::from_bytes(&decode_base32(&text)).expect("a secret");
    assert!(page.contains("<svg class=\"qr\"") && !page.contains("otpauth:"), "{page}");
    let (sealed, csrf) = (
        first_match(&page, "name=\"secret\" value=\"([^\"]+)\""),
        first_match(&page, "name=\"csrf\" value=\"([^\"]+)\""),
    );
    let confirm = format!("{SECURITY}/set-up/confirm");
    let wrong = browser.post(&confirm, &csrf, &[("secret", sealed.as_str()), ("code", "000000")]).await;
    assert!(html(&wrong.assert_status(422)).contains("Incorrect code."));
    let code = secret.code_at(app.clock.now_ms());
    let done = browser
        .post(&confirm, &csrf, &[("secret", sealed.as_str()), ("code", code.as_str())])
        .await
        .assert_status(200);
    let codes = Regex::new("[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}").unwrap();
    let recovery_codes: Vec<String> =
        codes.find_iter(&html(&done)).map(|code| code.as_str().to_owned()).collect();
    assert_eq!(recovery_codes.len(), people::RECOVERY_CODES);
    app.clock.advance(Duration::from_secs(30));
    Factor { secret, recovery_codes }
}

/// Decodes RFC 4648 Base32, independently of the server's crate.
pub fn decode_base32(text: &str) -> Vec<u8> {
    let digit = |c: char| "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(c).expect("a digit");
    let bits: String = text.chars().map(|c| format!("{:05b}", digit(c))).collect();
    bits.as_bytes()
        .chunks_exact(8)
        .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect()
}
