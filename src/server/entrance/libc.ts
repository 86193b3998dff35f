import { dlopen } from "bun:ffi";

/** Returns functions of the C library for sockets and descriptors; null where the library cannot be loaded. */
export function openLibc() {
  if (process.platform !== "linux") return null;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        close: { args: ["i32"], returns: "i32" },
        dup: { args: ["i32"], returns: "i32" },
        dup2: { args: ["i32", "i32"], returns: "i32" },
        fcntl: { args: ["i32", "i32"], returns: "i32" },
        getpeername: { args: ["i32", "ptr", "ptr"], returns: "i32" },
        getrlimit: { args: ["i32", "ptr"], returns: "i32" },
        getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
        getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
        setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
        shutdown: { args: ["i32", "i32"], returns: "i32" },
      }).symbols;
    } catch {
      // The next name is tried, because this system has another C library.
    }
  }
  return null;
}

export type Libc = NonNullable<ReturnType<typeof openLibc>>;
