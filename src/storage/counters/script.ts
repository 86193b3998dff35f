/** A script the server runs as one step. */
interface Script {
  source: string;
  /** The name by which `EVALSHA` calls it. */
  sha: string;
}

/** Names a script as the server does, by the SHA-1 of its source. */
export function script(source: string): Script {
  return { source, sha: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}
