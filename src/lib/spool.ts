import { detachBuffer } from "./detach-buffer.ts";
import { SpoolFile, type SpoolContext, type FilePool } from "./spool/file.ts";
import { nameSpoolFile, newSpoolTag } from "./spool/name.ts";

export { SpoolFile } from "./spool/file.ts";
export { spoolPathOf } from "./spool/name.ts";
export { FilePool } from "./spool/file.ts";
export { sweepSpool } from "./spool/name.ts";

/** Counts what a spool writes, and may refuse it. */
export interface SpoolAccount {
  /** Throws to refuse bytes; the file that would contain them fails. */
  add(byteLength: number): void;
  /** Accepts everything from now on, but still counts it. */
  stopRefusing(): void;
  /** Called when the files are gone; may be called again. Bytes that are added later do not count. */
  release(): void;
}

/**
 * Temporary files of one request. Disposing the spool removes all of them, finished or not, even while a file is being
 * written: `await using spool = createSpool(directory)`.
 */
export interface Spool extends AsyncDisposable {
  /** Creates an empty file, and the directory when it is missing. */
  create(): SpoolFile;
  /** Makes the spool's account refuse nothing from now on: a response that the vendor charges for must not be lost. */
  stopRefusing(): void;
  /** Disposes of the spool when nobody reads its files any more, so that the file pool may reuse them. */
  retire(): Promise<void>;
}

/**
 * Creates a spool. With a `filePool`, the spool overwrites files of earlier spools of the same directory if there are
 * any.
 */
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
