import { every, type BackgroundWork } from "../lib/waiting.ts";

const POLL_MS = 500;

/** Returns the version of a configuration file's content. Equal versions mean equal content. */
export async function fileVersion(path: string): Promise<string> {
  const text = await Bun.file(path)
    .text()
    .catch(() => null);
  return versionOf(text);
}

/** The version of a file that does not exist or cannot be read. */
export const ABSENT = "absent";

export function versionOf(text: string | null): string {
  return text === null ? ABSENT : Bun.hash(text).toString(36);
}

/**
 * Calls `onChange` when two checks in a row find the same changed content; a single check may read a file that an
 * editor is still writing. Compares the content, because container volumes replace a link and do not change the times
 * of files.
 */
export function watchFile(
  path: string,
  version: string,
  onChange: () => Promise<void>,
  onProblem: (error: unknown) => void,
): BackgroundWork {
  let handled = version;
  let pending = version;
  return every(
    POLL_MS,
    async () => {
      const found = await fileVersion(path);
      const isStable = found === pending;
      pending = found;
      if (!isStable || found === handled) return;
      handled = found;
      await onChange();
    },
    onProblem,
  );
}
