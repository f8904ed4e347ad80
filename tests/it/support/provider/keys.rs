//! The signing keys of the provider.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

/// The RSA key of the provider, after lines that describe it.
const RSA_TEST_KEY: &str = include_str!("rsa_test_key.txt");

/// A key with its id.
pub struct ProviderKey {
    id: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
}

impl ProviderKey {
    /// Returns the key for RS256.
    pub fn rsa(id: &'static str) -> Self {
        let text: String = RSA_TEST_KEY.lines().filter(|line| !line.starts_with('#')).collect();
        let der = BASE64_STANDARD.decode(text).expect("Base64");
        Self { id, pair: Pair::Rsa(RsaKeyPair::from_der(&der).expect("an RSA key")) }
    }

    /// Generates a key for ES256.
    pub fn p256(id: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key");
        Self { id, pair: Pair::P256(pair) }
    }

    pub fn id(&self) -> &'static str {
        self.id
    }

    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
        }
    }

    /// Returns the public key as a JSON Web Key (RFC 7517).
    pub fn public(&self) -> Value {
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match &self.pair {
            Pair::Rsa(pair) => {
                let key = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "use": "sig", "kid": self.id, "n": encode(&key.n), "e": encode(&key.e)})
            }
            Pair::P256(pair) => {
                // The byte 4, then both coordinates.
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id, "x": encode(x), "y": encode(y)})
            }
        }
    }

    /// Signs a token. With `HS256`, the client secret is the key.
    pub fn sign(&self, signed: &[u8], algorithm: &str, secret: &str) -> Vec<u8> {
        let random = SystemRandom::new();
        if algorithm == "HS256" {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
            return hmac::sign(&key, signed).as_ref().to_vec();
        }
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, signed, &mut signature).expect("a signature");
                signature
            }
            Pair::P256(pair) => pair.sign(&random, signed).expect("a signature").as_ref().to_vec(),
        }
    }
}
