import { detachBuffer } from "./detach-buffer.ts";
import { SpoolFile, type SpoolContext } from "./spool/file.ts";
import { nameSpoolFile, newSpoolTag } from "./spool/name.ts";
import type { FilePool } from "./spool/file-pool.ts";

export { SpoolFile } from "./spool/file.ts";
export { spoolPathOf } from "./spool/name.ts";
export { FilePool } from "./spool/file-pool.ts";
export { sweepSpool } from "./spool/sweep.ts";

/** Counts what a spool writes, and may refuse it. */
export interface SpoolAccount {
  /** Throws to refuse bytes; the file that would contain them fails. */
  add(byteLength: number): void;
  /** From now on everything is counted and nothing refused. */
  stopRefusing(): void;
  /** The files are gone. May be called again; what is added later does not count. */
  release(): void;
}

/**
 * Temporary files of one request. Disposing the spool removes all of them, finished or not, also when a writer is
 * still active: `await using spool = createSpool(directory)`.
 */
export interface Spool extends AsyncDisposable {
  /** Creates an empty file, and the directory when it is missing. */
  create(): SpoolFile;
  /** From now on the spool's account refuses nothing: a paid vendor's answer must not be lost. */
  stopRefusing(): void;
  /** Like disposing, when nobody reads the files any more: the file pool may reuse them. */
  retire(): Promise<void>;
}

/** With a `filePool`, files of earlier spools of the same directory are overwritten where there are any. */
export function createSpool(directory: string, filePool?: FilePool, account?: SpoolAccount): Spool {
  const files: SpoolFile[] = [];
  const context: SpoolContext = { directory, filePool, account, bufferPool: [] };
  const spoolTag = newSpoolTag();
  let isEnded = false;
  const end = async (endFile: (file: SpoolFile) => Promise<void>) => {
    isEnded = true;
    try {
      await Promise.all(files.splice(0).map(endFile));
    } finally {
      account?.release();
    }
    for (const buffer of context.bufferPool.splice(0)) detachBuffer(buffer);
  };
  let count = 0;
  return {
    create() {
      const file = new SpoolFile(context, nameSpoolFile(count, spoolTag));
      count += 1;
      files.push(file);
      if (isEnded) void file.remove();
      return file;
    },
    stopRefusing: () => account?.stopRefusing(),
    retire: () => end((file) => file.retire()),
    [Symbol.asyncDispose]: () => end((file) => file.remove()),
  };
}
