import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** The version of this program, from its package manifest. */
export const VERSION: string = manifest.version;

/** The commit from which a release was built, or else the commit of the checkout; `unknown` when there is neither. */
export const COMMIT: string =
  (typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : checkedOutCommit()) ?? "unknown";

/** The commit of a build. `deploy/program.ts` writes it into the build. */
declare const BUILD_COMMIT: string | undefined;

/** Reads the commit from Git's files, because Git may not be installed on this machine. */
function checkedOutCommit(): string | undefined {
  const folder = join(import.meta.dir, "../../.git");
  try {
    const head = readFileSync(join(folder, "HEAD"), "utf8").trim();
    const [, reference] = /^ref: (refs\/[\w./-]+)$/.exec(head) ?? [];
    if (reference === undefined) return head;
    const path = join(folder, reference);
    if (existsSync(path)) return readFileSync(path, "utf8").trim();
    const packed = readFileSync(join(folder, "packed-refs"), "utf8").split("\n");
    return packed.find((line) => line.endsWith(` ${reference}`))?.split(" ")[0];
  } catch {
    return undefined;
  }
}
