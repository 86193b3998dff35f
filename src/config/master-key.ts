import { linkSync, readFileSync, rmSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { newMasterKey, readMasterKey, type MasterKey } from "../lib/seal.ts";
import type { FileSettings } from "./file-schema.ts";
import type { ReportProblem } from "./problems.ts";
import { resolveSecret, type SecretSource } from "./secret-reference.ts";

/** The master keys, which encrypt the secrets in the database. They are never stored in the database. */
export interface MasterKeys {
  /**
   * The key that encrypts new secrets; null if there was none when the settings were loaded. `currentKey` also finds a
   * key that was generated later.
   */
  current: MasterKey | null;
  /** The key that was used before the current key. It only decrypts. */
  previous: MasterKey | null;
  /** Path of the file that contains the generated key. A configured key takes precedence over the generated key. */
  path: string;
}

const WRONG = "must be 32 bytes in base64, such as `openssl rand -base64 32` prints";

/** Reads the configured keys. If none is configured, reads the key that was generated earlier. */
export async function readMasterKeys(
  { master_key, master_key_previous }: Pick<FileSettings, "master_key" | "master_key_previous">,
  secrets: SecretSource,
  dataDirectory: string,
  report: ReportProblem,
): Promise<MasterKeys> {
  const read = async (path: string, reference: FileSettings["master_key"]): Promise<MasterKey | null> => {
    if (reference === null) return null;
    const name = "env" in reference ? reference.env : path;
    const resolved = await resolveSecret(reference, secrets);
    const key = "secret" in resolved ? readMasterKey(resolved.secret) : null;
    if (!key) report(name, "problem" in resolved ? resolved.problem : WRONG);
    return key;
  };
  const path = join(dataDirectory, "master.key");
  return {
    current: master_key === null ? readKeyFile(path) : await read("master_key", master_key),
    previous: await read("master_key_previous", master_key_previous),
    path,
  };
}

/** Returns the master key. If there is none, generates one and writes it to a file that only its owner can read. */
export async function ensureMasterKey(keys: MasterKeys): Promise<MasterKey> {
  const known = currentKey(keys);
  if (known) return known;
  const { path } = keys;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${newMasterKey()}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  // Creating a link either succeeds completely or fails: only one of several processes succeeds, and none can read half
  // a key.
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = readKeyFile(path);
  if (!made) throw new Error(`the master key in ${path} cannot be read: it ${WRONG}`);
  return made;
}

/** Returns the keys that may decrypt, the current key first. */
export function openingKeys(keys: MasterKeys): MasterKey[] {
  return [currentKey(keys), keys.previous].filter((key) => key !== null);
}

/**
 * Returns the current key. If none was loaded, reads the file again, because another process may have generated a key
 * after the start. Returns null while there is no key.
 */
export function currentKey({ current, path }: MasterKeys): MasterKey | null {
  return current ?? readKeyFile(path);
}

/** Reads the key in the file. Returns null when the file cannot be read or contains no key. */
function readKeyFile(path: string): MasterKey | null {
  try {
    return readMasterKey(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
