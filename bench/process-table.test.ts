import { expect, test } from "bun:test";
import { childrenOf, listeningSockets, parentIn, processesOn } from "./process-table.ts";

test("listening sockets of a port are found in the kernel's table", () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
`;
  expect(listeningSockets(table, 8080)).toEqual(["socket:[4711]"]);
  expect(listeningSockets(table, 80)).toEqual([]);
});

test("the parent is found behind a name with spaces and brackets", () => {
  expect(parentIn("42 (a ) 7 b) S 17 42 42 0 -1")).toBe(17);
});

test.if(process.platform === "linux")("a port leads to its process and that process's children", async () => {
  using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const child = Bun.spawn(["sleep", "30"]);
  try {
    expect(childrenOf(process.pid)).toContain(child.pid);
    expect(processesOn(server.port)).toEqual(expect.arrayContaining([process.pid, child.pid]));
  } finally {
    child.kill();
    await child.exited;
  }
});
