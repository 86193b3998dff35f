import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * A strict S3-compatible service on loopback with one bucket. It checks every signature (Signature Version 4) and
 * requires a length for every body. Tests can read its objects.
 */
export function startS3(): S3Simulator {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Map<number, Uint8Array<ArrayBuffer>>>();
  const requests: string[] = [];
  const ranges: string[] = [];
  let isDown = false;

  async function response(request: Request): Promise<Response> {
    const url = new URL(request.url);
    requests.push(`${request.method} ${url.pathname}`);
    const range = request.headers.get("range");
    if (range !== null) ranges.push(range);
    if (isDown) return failure(503, "ServiceUnavailable");
    const refusal = checkSignature(request, url);
    if (refusal) return failure(403, refusal);
    if (url.pathname !== `/${BUCKET}` && !url.pathname.startsWith(`/${BUCKET}/`))
      return failure(404, "NoSuchBucket");
    const key = decodeURIComponent(url.pathname.slice(BUCKET.length + 2));
    if (key === "") return request.method === "GET" ? list(objects, url) : failure(405, "MethodNotAllowed");
    const body = await readBody(request);
    return body ? onObject(request, url, key, body) : failure(411, "MissingContentLength");
  }

  function onObject(request: Request, url: URL, key: string, body: Uint8Array<ArrayBuffer>): Response {
    const upload = url.searchParams.get("uploadId");
    const type = request.headers.get("content-type") ?? "application/octet-stream";
    const operation = `${request.method}${upload === null ? "" : " part"}${url.searchParams.has("uploads") ? " start" : ""}`;
    const found = objects.get(key);
    switch (operation) {
      case "PUT":
        objects.set(key, { bytes: body, type, modifiedAt: Date.now() });
        return new Response(null, { headers: { etag: etagOf(body) } });
      case "GET":
        return found ? objectResponse(request, found) : failure(404, "NoSuchKey");
      case "HEAD":
        return found ? objectResponse(request, found) : new Response(null, { status: 404 });
      case "DELETE":
        objects.delete(key);
        return new Response(null, { status: 204 });
      case "POST start": {
        uploads.set(`${key} ${uploads.size}`, new Map());
        const id = uploads.size - 1;
        return xml(
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        );
      }
      case "PUT part":
        uploads.get(`${key} ${upload}`)?.set(Number(url.searchParams.get("partNumber")), body);
        return new Response(null, { headers: { etag: etagOf(body) } });
      case "POST part": {
        const parts = [...(uploads.get(`${key} ${upload}`) ?? [])].sort(([a], [b]) => a - b);
        const bytes = Buffer.concat(parts.map(([, part]) => part));
        objects.set(key, { bytes, type, modifiedAt: Date.now() });
        return xml(
          `<CompleteMultipartUploadResult><ETag>${etagOf(bytes)}</ETag></CompleteMultipartUploadResult>`,
        );
      }
      default:
        return failure(405, "MethodNotAllowed");
    }
  }

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", maxRequestBodySize: 2 ** 28, fetch: response });
  return {
    address: `s3://${ACCESS_KEY}:${encodeURIComponent(SECRET)}@${BUCKET}/made/here?endpoint=${encodeURIComponent(`http://127.0.0.1:${server.port}`)}&region=${REGION}`,
    objects,
    requests,
    ranges,
    setDown(value) {
      isDown = value;
    },
    async stop() {
      await server.stop(true);
    },
  };
}

export interface S3Simulator {
  /** The service's blob address, including a prefix. */
  address: string;
  /** Objects by key, including the prefix. */
  objects: Map<string, StoredObject>;
  /** Method and path of every request, in order. */
  requests: string[];
  /** Values of the header `Range`, in the order of the requests with this header. */
  ranges: string[];
  /** Refuses every request with 503 while set to true. */
  setDown(value: boolean): void;
  stop(): Promise<void>;
}

interface StoredObject {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  /** Time in Unix milliseconds. */
  modifiedAt: number;
}

const BUCKET = "pictures";
const REGION = "eu-test-1";
const ACCESS_KEY = "SIMULATEDKEY";
const SECRET = "simulated/secret+of/forty/characters/xxxx";
const MAX_CLOCK_SKEW_MS = 15 * 60 * 1000;

/** Returns the body, or null when its declared length is missing or wrong. */
async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  const body = new Uint8Array(await request.arrayBuffer());
  const declared = request.headers.get("content-length");
  const needsLength = request.method === "PUT" || request.method === "POST";
  return (declared === null && !needsLength) || Number(declared ?? Number.NaN) === body.length ? body : null;
}

/** Handles ListObjectsV2: keys in order, a page in each call. */
function list(objects: Map<string, StoredObject>, url: URL): Response {
  if (url.searchParams.get("list-type") !== "2") return failure(400, "InvalidArgument");
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("start-after") ?? "";
  const max = Math.min(Number(url.searchParams.get("max-keys") ?? 1000), 1000);
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const contents = keys.slice(0, max).map((key) => {
    const { bytes, modifiedAt } = objects.get(key)!;
    const modified = new Date(modifiedAt).toISOString();
    return `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><Size>${bytes.length}</Size></Contents>`;
  });
  const isTruncated = keys.length > max;
  return xml(
    `<ListBucketResult><Name>${BUCKET}</Name><KeyCount>${contents.length}</KeyCount><MaxKeys>${max}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}</ListBucketResult>`,
  );
}

/** Returns the error code of a wrong signature, or null (Signature Version 4, header based). */
function checkSignature(request: Request, url: URL): string | null {
  const match = AUTHORIZATION.exec(request.headers.get("authorization") ?? "");
  if (!match) return "AccessDenied";
  const [, accessKey, day = "", region, signed = "", signature = ""] = match;
  const time = request.headers.get("x-amz-date") ?? "";
  const at = Date.parse(time.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, "$1-$2-$3T$4:$5:$6Z"));
  if (accessKey !== ACCESS_KEY) return "InvalidAccessKeyId";
  if (region !== REGION || !time.startsWith(day)) return "AuthorizationHeaderMalformed";
  if (!(Math.abs(at - Date.now()) < MAX_CLOCK_SKEW_MS)) return "RequestTimeTooSkewed";
  const names = signed.split(";");
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.includes(name)))
    return "AccessDenied";
  const query = [...url.searchParams].map((pair) => pair.map(encodeStrictly).join("=")).sort();
  const headers = names.map((name) => `${name}:${request.headers.get(name)?.trim()}\n`).join("");
  const payload = request.headers.get("x-amz-content-sha256");
  const canonical = [request.method, url.pathname, query.join("&"), headers, signed, payload].join("\n");
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", time, scope, digest].join("\n");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = [day, REGION, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${SECRET}`);
  return timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex")) ? null : "SignatureDoesNotMatch";
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the requested object or range. */
function objectResponse(request: Request, { bytes, type, modifiedAt }: StoredObject): Response {
  const headers = {
    "content-type": type,
    etag: etagOf(bytes),
    "last-modified": new Date(modifiedAt).toUTCString(),
  };
  if (request.method === "HEAD")
    return new Response(null, { headers: { ...headers, "content-length": String(bytes.length) } });
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "");
  if (!range) return new Response(bytes, { headers });
  const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, bytes.length)];
  if (start >= end) return failure(416, "InvalidRange");
  const contentRange = `bytes ${start}-${end - 1}/${bytes.length}`;
  return new Response(bytes.slice(start, end), {
    status: 206,
    headers: { ...headers, "content-range": contentRange },
  });
}

/** Cached hashes of objects, because hashing a large object takes longer than sending a part of it. */
const etags = new WeakMap<Uint8Array, string>();

function etagOf(bytes: Uint8Array): string {
  const etag = etags.get(bytes) ?? `"${createHash("md5").update(bytes).digest("hex")}"`;
  etags.set(bytes, etag);
  return etag;
}

function xml(body: string, status = 200): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, {
    status,
    headers: { "content-type": "application/xml" },
  });
}

function failure(status: number, code: string): Response {
  return xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);
}
