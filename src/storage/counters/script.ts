/** A script that the server runs as one atomic step. */
interface Script {
  source: string;
  /** SHA-1 of the source, by which `EVALSHA` calls the script. */
  sha: string;
}

/** Computes the name of a script as the server does: the SHA-1 of its source. */
export function script(source: string): Script {
  return { source, sha: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}
