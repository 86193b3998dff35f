import { existsSync } from "node:fs";
import { join } from "node:path";

/** A wall clock for child processes, whose monotonic clock is unchanged (faketime manual page). */
export interface FakeClock {
  /** Environment variables for a process with this clock. */
  env: Record<string, string>;
  /** Sets the offset from the real clock in seconds. The initial offset is added. */
  jump(seconds: number): Promise<void>;
}

/** Returns the library that replaces the clock, or the reason why it is missing. */
export function findFaketime(): { library: string } | { missing: string } {
  const library = LIBRARIES.find(existsSync);
  return library === undefined ? { missing: "libfaketime is not installed" } : { library };
}

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
];

/** Starts a clock with an offset in seconds from the real clock. A file in `directory` stores the offset. */
export async function startFakeClock(
  library: string,
  directory: string,
  startSeconds = 0,
): Promise<FakeClock> {
  const path = join(directory, crypto.randomUUID());
  const write = async (seconds: number): Promise<void> => {
    const offset = startSeconds + seconds;
    await Bun.write(path, `${offset < 0 ? "-" : "+"}${Math.abs(offset)}\n`);
  };
  await write(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    jump: write,
  };
}
