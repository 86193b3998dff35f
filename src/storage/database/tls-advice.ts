import { accessSync, constants } from "node:fs";

/**
 * Returns what the operator can do about a connection to PostgreSQL that TLS prevented, or null for any other failure.
 * `url` is the address of the server. Codes of certificates are those of OpenSSL's `X509_V_ERR_…`, without the prefix.
 */
export function tlsAdvice(error: unknown, url: string): string | null {
  const authorities = new URL(url).searchParams.get("sslrootcert");
  if (authorities !== null && !isReadable(authorities))
    return `sslrootcert names ${authorities}, which cannot be read: correct it in DATABASE_URL`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "name the host in DATABASE_URL as its certificate does, or set sslmode=verify-ca, which accepts another name";
  if (code === "ERR_POSTGRES_TLS_NOT_AVAILABLE")
    return "set up TLS on the server, or set sslmode=disable in DATABASE_URL where the network is trusted";
  if (/^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_)/.test(code))
    return "name the authority of the server's certificate in NODE_EXTRA_CA_CERTS, or by sslrootcert in DATABASE_URL; sslmode=no-verify accepts any certificate";
  return null;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
