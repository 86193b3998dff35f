import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { ReceivedRequest } from "../http-server.ts";

/** The only accepted access key. */
export interface SimulatedAccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 5 * 60_000;

/** Returns the error type of a signature; undefined for a valid one (AWS Signature Version 4 for API requests). */
export function findSignatureFault(
  request: ReceivedRequest,
  key: SimulatedAccessKey,
  region: string,
): string | undefined {
  const { headers } = request;
  const [, id, day = "", signedRegion, names = "", signature = ""] =
    FORM.exec(headers["authorization"] ?? "") ?? [];
  if (id === undefined) return "IncompleteSignatureException";
  if (id !== key.accessKeyId || headers["x-amz-security-token"] !== key.sessionToken)
    return "UnrecognizedClientException";
  if (signedRegion !== region) return "InvalidSignatureException";
  const signed = names.split(";");
  const mustBeSigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  if (mustBeSigned.some((name) => !signed.includes(name))) return "InvalidSignatureException";
  const time = headers["x-amz-date"] ?? "";
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? [];
  const at = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  if (!time.startsWith(day) || !(Math.abs(Date.now() - at) < MAX_SKEW_MS)) return "InvalidSignatureException";
  const bodyHash = sha256(request.body);
  if ((headers["x-amz-content-sha256"] ?? bodyHash) !== bodyHash) return "InvalidSignatureException";
  const canonical = [
    request.method,
    request.path.split("/").map(encodeURIComponent).join("/"),
    canonicalQuery(request.query),
    ...signed.map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    names,
    bodyHash,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, `${day}/${region}/bedrock/aws4_request`, sha256(canonical)].join(
    "\n",
  );
  const scoped = [day, region, "bedrock", "aws4_request"].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  );
  const isGood = timingSafeEqual(hmac(scoped, text), Buffer.from(signature, "hex"));
  return isGood ? undefined : "InvalidSignatureException";
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return pairs.toSorted().join("&");
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(secret: Buffer, text: string): Buffer {
  return createHmac("sha256", secret).update(text).digest();
}
