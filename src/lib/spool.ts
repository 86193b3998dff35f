import { detachBuffer } from "./detach-buffer.ts";
import { SpoolFile, type SpoolContext, type FilePool } from "./spool/file.ts";
import { nameSpoolFile, newSpoolTag } from "./spool/name.ts";

export { SpoolFile } from "./spool/file.ts";
export { spoolPathOf } from "./spool/name.ts";
export { FilePool } from "./spool/file.ts";
export { sweepSpool } from "./spool/name.ts";

/** Counts the bytes that a spool writes, and may refuse bytes. */
export interface SpoolAccount {
  /** Throws to refuse bytes. The file that would contain the bytes then fails. */
  add(byteLength: number): void;
  /** From now on accepts all bytes, but still counts them. */
  stopRefusing(): void;
  /** Called when the spool no longer has its files; may be called again. Bytes that are added later are not counted. */
  release(): void;
}

/**
 * The temporary files of one request. Disposing of the spool deletes all of them, even while a file is being written:
 * `await using spool = createSpool(directory)`.
 */
export interface Spool extends AsyncDisposable {
  /**
   * Returns a new empty file. The file and a missing directory are created when the first bytes are written to disk.
   */
  create(): SpoolFile;
  /** From now on, the spool's account refuses nothing: a response that the vendor charges for must not be lost. */
  stopRefusing(): void;
  /** Disposes of the spool. Call it when nobody reads its files any more, because the file pool may reuse them. */
  retire(): Promise<void>;
}

/** Creates a spool. With a `filePool`, the spool overwrites files of earlier spools in the same directory. */
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
