//! Checks signatures against the published test vectors, the contract, and the reference library of Standard Webhooks.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{TEST_VECTORS, verify};

const OLD_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEW_SECRET: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

fn keys(secrets: &[&str]) -> Vec<SigningKey> {
    secrets.iter().map(|secret| SigningKey::new(secret).unwrap()).collect()
}

#[test]
fn signatures_match_the_published_vectors() {
    let file: Value = serde_json::from_str(TEST_VECTORS).unwrap();
    let mut checked = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let text = |name: &str| vector[name].as_str().unwrap_or_default();
        // Vectors with a Standard Webhooks signature are complete requests of this server.
        if text("webhook_id").is_empty() {
            continue;
        }
        let is_rotation = text("name").starts_with("a rotation");
        let keys = if is_rotation { keys(&[NEW_SECRET, OLD_SECRET]) } else { keys(&[OLD_SECRET]) };
        let (body, timestamp) = (text("body").as_bytes(), text("webhook_timestamp").parse().unwrap());
        assert_eq!(svc_signature(&keys, timestamp, body), text("x_svc_signature"), "{vector}");
        let standard = standard_signature(&keys, &[], text("webhook_id"), timestamp, body);
        assert_eq!(standard, text("webhook_signature"), "{vector}");
        checked += 1;
    }
    assert_eq!(checked, 8);
}

#[test]
fn the_examples_of_the_contract_are_among_the_vectors() {
    let contract = include_str!("../../../openapi/v1.yaml");
    let examples: Vec<&str> = contract
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            line.strip_prefix("X-SVC-Signature: ").or(line.strip_prefix("example: ").filter(is_signature))
        })
        .collect();
    assert_eq!(examples.len(), 3, "{examples:?}");
    for example in examples {
        assert!(TEST_VECTORS.contains(&format!("\"{example}\"")), "{example}");
    }
}

#[test]
fn ed25519_signatures_match_the_published_vector_beside_the_same_hmac() {
    let pair = STANDARD
        .decode("6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==")
        .unwrap();
    let key = ed25519_dalek::SigningKey::from_keypair_bytes(pair.as_slice().try_into().unwrap()).unwrap();
    let sign = |keys: &[SigningKey], ed25519_keys: &[ed25519_dalek::SigningKey]| {
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        standard_signature(keys, ed25519_keys, id, 1_614_265_330, body)
    };
    let published =
        "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
    assert_eq!(sign(&[], std::slice::from_ref(&key)), published);
    // Also published, with the same content.
    let keys = keys(&["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
    let hmac = sign(&keys, &[]);
    assert_eq!(hmac, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_eq!(sign(&keys, &[key.clone(), key]), format!("{hmac} {published} {published}"));
}

fn is_signature(example: &&str) -> bool {
    example.starts_with("t=") || example.starts_with("v1,")
}

#[test]
fn an_invalid_secret_is_rejected() {
    for invalid in ["", "whsec_", "AAECAw==", "whsec_A", "whsec_AAECAw", "whsec_AA-_AA==", "whsec_ AAECAw=="]
    {
        assert_eq!(SigningKey::new(invalid).unwrap_err(), InvalidSecret, "{invalid}");
    }
    assert_eq!(format!("{:?}", keys(&[OLD_SECRET])), "[SigningKey(****)]");
}

proptest! {
    #[test]
    fn only_a_valid_signature_is_accepted(
        body: Vec<u8>,
        timestamp in 0_i64..1 << 40,
        delay in -400_i64..400,
        first: [u8; 32],
        second: [u8; 32],
        flip: prop::sample::Index,
    ) {
        prop_assume!(first != second);
        let secrets = [first, second].map(|bytes| format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)));
        let header = svc_signature(&keys(&[&secrets[0], &secrets[1]]), timestamp, &body);
        for secret in &secrets {
            let result = verify::verify(&body, &header, &[secret], timestamp + delay, verify::TOLERANCE);
            prop_assert_eq!(result.is_ok(), delay.abs() <= 300, "{:?}", result);
        }
        let mut tampered = body.clone();
        tampered.push(0);
        if let Some(byte) = tampered.get_mut(flip.index(body.len() + 1)) {
            *byte ^= 1;
        }
        let result = verify::verify(&tampered, &header, &[&secrets[0]], timestamp, verify::TOLERANCE);
        prop_assert_eq!(result, Err(verify::VerifyError::NoMatch));
    }

    #[test]
    fn the_standard_webhooks_library_accepts_the_signature(body: String, old: [u8; 32], new: [u8; 32], id in "evt_[a-z0-9]{26}") {
        let secrets = [new, old].map(|bytes| format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)));
        // The library compares the timestamp with the system clock.
        let now = foundation::clock::Clock::system().now_ms() / 1000;
        let signature = standard_signature(&keys(&[&secrets[0], &secrets[1]]), &[], &id, now, body.as_bytes());
        let mut headers = hyper::header::HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        headers.insert("webhook-timestamp", now.into());
        headers.insert("webhook-signature", signature.parse().unwrap());
        let tampered = [body.as_bytes(), b" "].concat();
        for secret in &secrets {
            let webhook = standardwebhooks::Webhook::new(secret).unwrap();
            prop_assert!(webhook.verify(body.as_bytes(), &headers).is_ok());
            prop_assert!(webhook.verify(&tampered, &headers).is_err());
        }
    }
}
