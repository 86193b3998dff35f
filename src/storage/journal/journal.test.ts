import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anEntry } from "../../../test/contracts/storage-harness.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";
import { openJournal, type FileJournal } from "./journal.ts";
import { adoptFolders, createFolder } from "./journal-folder.ts";
import { readLine, RecordLines } from "./record-line.ts";
import { listSegments, readSegment, replay, segmentFiles, segmentPath } from "./segments.ts";

const root = mkdtempSync(join(tmpdir(), "gateway-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function aRecord(id: string, type: JournalRecord["type"] = "charge", amount = 5n): JournalRecord {
  return { type, entry: anEntry(id, amount, { budgets: ["budget_a"] }) };
}

function newFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

async function withJournal(
  folder: string,
  work: (journal: FileJournal) => void | Promise<void>,
  segmentBytes?: number,
): Promise<string[]> {
  const problems: string[] = [];
  const onProblem = (message: string) => problems.push(message);
  const journal = openJournal({ folder, onAppend: () => {}, onProblem, segmentBytes });
  await work(journal);
  await journal.close();
  return problems;
}

const idsIn = (folder: string, damaged: [number, number][] = []) =>
  Array.from(
    replay(segmentFiles(folder), (segment, offset) => damaged.push([segment, offset])),
    (record) => record.entry.id,
  );

const unexpected = (processId: string, cause: unknown) => {
  throw new Error(`${processId} is unreadable`, { cause });
};

test("a record comes back exactly, whatever its text and length", () => {
  for (const model of [
    "plain",
    'quotes " and \n breaks',
    "汉字 🙂",
    "x".repeat(200_000),
    "字".repeat(60_000),
  ]) {
    const record = aRecord("req_1", "charge", 9_223_372_036_854_775_807n);
    record.entry.model = model;
    const line = new RecordLines().write(record);
    expect(line.at(-1)).toBe(10);
    expect(readLine(line.subarray(0, -1))).toEqual(record);
  }
});

test("a line with any one byte changed is not a record", () => {
  const line = new RecordLines().write(aRecord("req_1")).subarray(0, -1);
  for (let index = 0; index < line.length; index += 1) {
    const changed = Buffer.from(line);
    changed[index]! ^= 1;
    expect(readLine(changed)).toBeNull();
  }
});

test("records are read back in order over several segments", async () => {
  const folder = newFolder("order");
  const ids = Array.from({ length: 200 }, (_, index) => `req_${index}`);
  const problems = await withJournal(
    folder,
    (journal) => {
      for (const id of ids) journal.append(aRecord(id));
    },
    10_000,
  );
  expect(listSegments(folder).length).toBeGreaterThan(5);
  expect(idsIn(folder)).toEqual(ids);
  expect(problems).toEqual([]);
});

test("a record is told with the place that it begins at, also the first of a segment", async () => {
  const folder = newFolder("places");
  const places: [string, number, number][] = [];
  const journal = openJournal({
    folder,
    segmentBytes: 1_000,
    onProblem: () => {},
    onAppend: ({ entry }, segment, offset) => places.push([entry.id, segment, offset]),
  });
  for (let index = 0; index < 6; index += 1) journal.append(aRecord(`req_${index}`));
  await journal.close();
  expect(new Set(places.map(([, segment]) => segment)).size).toBeGreaterThan(2);
  for (const [id, segment, offset] of places) {
    const [first] = readSegment(segmentPath(folder, segment), offset, () => {});
    expect(first!.record.entry.id).toBe(id);
  }
});

test("a closed journal takes no record: its file may be another's by then", async () => {
  const folder = newFolder("closed");
  const journal = openJournal({ folder, onAppend: () => {}, onProblem: () => {} });
  journal.append(aRecord("req_before"));
  await journal.close();
  expect(() => journal.append(aRecord("req_after"))).toThrow("the journal is closed");
  expect([journal.isWritable(), idsIn(folder)]).toEqual([false, ["req_before"]]);
});

test("a torn tail is cut off, wherever it is torn", async () => {
  const folder = newFolder("torn");
  await withJournal(folder, (journal) => journal.append(aRecord("req_whole")));
  const path = segmentPath(folder, 1);
  const whole = readFileSync(path);
  for (let length = 1; length < whole.length; length += 7) {
    writeFileSync(path, whole);
    appendFileSync(path, whole.subarray(0, length));
    expect(idsIn(folder)).toEqual(["req_whole"]);
    expect(statSync(path).size).toBe(whole.length);
  }
});

test("a damaged line loses only itself and is reported with its position", async () => {
  const folder = newFolder("damaged");
  await withJournal(folder, (journal) => {
    for (const id of ["req_1", "req_2", "req_3"]) journal.append(aRecord(id));
  });
  const path = segmentPath(folder, 1);
  const bytes = readFileSync(path);
  const second = bytes.indexOf(10) + 1;
  bytes[second + 40]! ^= 1;
  writeFileSync(path, bytes);
  const damaged: [number, number][] = [];
  expect(idsIn(folder, damaged)).toEqual(["req_1", "req_3"]);
  expect(damaged).toEqual([[1, second]]);
});

test("a checkpoint stands only when no charge follows it, and only the last one", async () => {
  const folder = newFolder("checkpoints");
  await withJournal(folder, (journal) => {
    journal.append(aRecord("req_ended", "checkpoint", 1n));
    journal.append(aRecord("req_running", "checkpoint", 1n));
    journal.rotate();
    journal.append(aRecord("req_running", "checkpoint", 2n));
    journal.append(aRecord("req_ended", "charge", 3n));
  });
  const records = [...replay(segmentFiles(folder), () => {})];
  expect(records.map(({ type, entry }) => [type, entry.id, entry.amount])).toEqual([
    ["charge", "req_ended", 3n],
    ["checkpoint", "req_running", 2n],
  ]);
});

test("a folder has one owner, and another takes it over once it is released", () => {
  const folders = newFolder("folders");
  const owned = createFolder(folders, "proc_a");
  expect(adoptFolders(folders, "proc_b", unexpected)).toEqual([]);
  owned.release();
  const [adopted] = adoptFolders(folders, "proc_b", unexpected);
  expect(adopted).toMatchObject({ processId: "proc_a", path: owned.path });
  expect(adoptFolders(folders, "proc_c", unexpected)).toEqual([]);
  adopted!.remove();
  expect(adoptFolders(folders, "proc_c", unexpected)).toEqual([]);
});

test("a full disk refuses the record, keeps the others, and is used again once it has space", async () => {
  const disk = join(root, "disk");
  mkdirSync(disk);
  const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]);
  if (!mount.success) {
    console.log(`SKIPPED: a full disk: no tmpfs can be mounted here (${String(mount.stderr).trim()})`);
    return;
  }
  try {
    const acknowledged: string[] = [];
    await withJournal(disk, (journal) => {
      const append = (id: string) => {
        journal.append(aRecord(id));
        acknowledged.push(id);
      };
      const fill = (): void => {
        for (let index = 0; index < 100_000; index += 1) append(`req_${acknowledged.length}`);
      };
      expect(fill).toThrow(expect.objectContaining({ code: "ENOSPC" }));
      expect(journal.isWritable()).toBe(false);
      expect(() => journal.append(aRecord("req_refused"))).toThrow();
      // The last disk block has space for a few bytes, but not for a record.
      Bun.sleepSync(1_050);
      expect(journal.isWritable()).toBe(false);
      Bun.spawnSync(["mount", "-o", "remount,size=1m", disk]);
      Bun.sleepSync(1_050);
      expect(journal.isWritable()).toBe(true);
      expect(statSync(segmentPath(disk, 1)).size).toBe(journal.position().offset);
      append("req_after");
      expect(fill).toThrow();
      Bun.spawnSync(["mount", "-o", "remount,size=2m", disk]);
      // The charge belongs to a running request. It is appended before the next check of the free space.
      append("req_at_once");
      expect(statSync(segmentPath(disk, 1)).size).toBe(journal.position().offset);
    });
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(idsIn(disk)).toEqual(acknowledged);
  } finally {
    // Unmounts even if a failed test has left the journal open. Otherwise the folder could not be removed.
    Bun.spawnSync(["umount", "--lazy", disk]);
  }
});

/**
 * Makes every sync of an open file fail, by replacing its descriptor with the descriptor of a device without a disk.
 */
function breakSync(path: string): void {
  const isOfFile = (name: string): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      // The descriptor has been closed meanwhile.
      return false;
    }
  };
  const descriptor = Number(readdirSync("/proc/self/fd").find(isOfFile));
  closeSync(descriptor);
  const opened: number[] = [];
  while (opened.at(-1) !== descriptor && opened.length < 1000) opened.push(openSync("/dev/null", "w"));
  for (const other of opened) if (other !== descriptor) closeSync(other);
  expect(opened).toContain(descriptor);
}

test.each([
  ["on request", (journal: FileJournal) => journal.sync()],
  ["within 50 ms of a record", (journal: FileJournal) => journal.append(aRecord("req_1"))],
  ["when its segment is full", (journal: FileJournal) => journal.rotate()],
])(
  "a journal is synced to the disk %s, and a failure is reported",
  async (how, work) => {
    const folder = newFolder(`synced ${how}`);
    const problem = Promise.withResolvers<string>();
    const journal = openJournal({ folder, onAppend: () => {}, onProblem: problem.resolve });
    await journal.sync();
    breakSync(segmentPath(folder, 1));
    await work(journal);
    expect(await problem.promise).toBe("the journal could not be synced to disk");
    expect(journal.isWritable()).toBe(false);
    await journal.close();
  },
  5_000,
);

test("the quarantine keeps files of the same name apart", () => {
  const folders = newFolder("quarantined");
  for (const text of ["first", "second"]) {
    const folder = createFolder(folders, "proc_q");
    writeFileSync(join(folder.path, "odd"), text);
    expect(folder.remove()).toEqual(["odd"]);
  }
  const quarantine = join(folders, "quarantine", "proc_q");
  const kept = readdirSync(quarantine).map((name) => readFileSync(join(quarantine, name), "utf8"));
  expect(kept.sort()).toEqual(["first", "second"]);
});

test("an append costs microseconds", async () => {
  const times: number[] = [];
  await withJournal(newFolder("cost"), async (journal) => {
    const record = aRecord("req_0193e0a1b2c3d4e5f60718293a4b5c6d");
    for (let index = 0; index < 10_000; index += 1) {
      const start = performance.now();
      journal.append(record);
      times.push((performance.now() - start) * 1000);
    }
  });
  times.sort((one, other) => one - other);
  const [p50, p99] = [times[5000]!, times[9900]!];
  console.log(`journal append: p50 ${p50.toFixed(1)} µs, p99 ${p99.toFixed(1)} µs`);
  expect(p50).toBeLessThan(50);
});
