import { decodeAddressPart } from "./address-part.ts";

/** The address and credentials of a bucket of S3-compatible storage. */
export interface S3Address {
  bucket: string;
  /** Prefix of all object names. It is empty or ends with a slash. */
  prefix: string;
  endpoint?: string;
  region?: string;
  virtualHostedStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
}

const EXAMPLE = "s3://id:secret@bucket/prefix";
const PARAMETERS: ReadonlySet<string> = new Set(["endpoint", "region", "style"]);

/**
 * Reads `s3://id:secret@bucket/prefix?endpoint=https://…&region=…&style=path|virtual`; prefix and parameters are
 * optional. Throws a `RangeError` that contains no part of the address: a piece of a secret that is not escaped may be
 * read as the host or the path.
 */
export function readS3Address(address: string): S3Address {
  const url = URL.parse(address);
  if (url?.protocol !== "s3:" || !url.hostname) throw new RangeError(`must be an address such as ${EXAMPLE}`);
  if (!url.username || !url.password)
    throw new RangeError(`must name the access key and its secret, as in ${EXAMPLE}`);
  if (url.searchParams.keys().some((name) => !PARAMETERS.has(name)))
    throw new RangeError(`has an unknown parameter; there are ${[...PARAMETERS].join(", ")}`);
  const endpoint = url.searchParams.get("endpoint") ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new RangeError("must have an http or https address as its endpoint");
  const style = url.searchParams.get("style") ?? "path";
  if (style !== "path" && style !== "virtual")
    throw new RangeError('must have "path" or "virtual" as its style');
  const prefix = decodeAddressPart(url.pathname).replaceAll(/^\/+|(?<!\/)\/+$/g, "");
  return {
    bucket: url.hostname,
    prefix: prefix ? `${prefix}/` : "",
    endpoint,
    region: url.searchParams.get("region") ?? undefined,
    virtualHostedStyle: style === "virtual",
    accessKeyId: decodeAddressPart(url.username),
    secretAccessKey: decodeAddressPart(url.password),
  };
}

/** Storage, bucket and prefix without secrets: `s3://bucket/prefix/` or `https://storage.example/bucket/prefix/`. */
export function s3Location({ endpoint, bucket, prefix }: S3Address): string {
  const url = endpoint === undefined ? null : new URL(endpoint);
  const storage = url ? `${url.origin}${url.pathname.replace(/\/$/, "")}` : "s3:/";
  return `${storage}/${bucket}/${prefix}`;
}
