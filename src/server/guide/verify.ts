// Tells whether a webhook comes from us. Needs nothing but Node's own library.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** `header` is X-SVC-Signature, `body` the raw bytes as they came, `secret` the whole text as it was shown. */
export function verify(secret: string, header: string, body: Uint8Array, now: number = Date.now() / 1000): boolean {
  const values = (name: string) =>
    header.split(",").filter((part) => part.startsWith(name + "=")).map((part) => part.slice(name.length + 1));
  const [stamp, ...more] = values("t");
  if (stamp === undefined || more.length > 0 || !/^[0-9]+$/.test(stamp)) return false;
  if (Math.abs(now - Number(stamp)) > TOLERANCE_SECONDS) return false;
  const expected = Buffer.from(createHmac("sha256", secret).update(stamp + ".").update(body).digest("hex"));
  const equal = (value: string) => {
    const given = Buffer.from(value);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  return values("v1").map(equal).includes(true);
}
