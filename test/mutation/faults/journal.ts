import type { Fault } from "../fault.ts";

const JOURNAL = "src/storage/journal/journal.ts";
const SEGMENTS = "src/storage/journal/segments.ts";
const LINE = "src/storage/journal/record-line.ts";
const REFCOUNTS = "src/storage/journal/segment-refcounts.ts";
const SHIPPER = "src/storage/journal/shipper.ts";
const POSTING = "src/storage/journal/posting.ts";
const THREAD = "src/storage/thread/called-thread.ts";
const RECOVERY = "src/storage/journal/recovery.ts";
const FOLDER = "src/storage/journal/journal-folder.ts";
const OWN = "src/storage/journal/own-journal.ts";
const LOST = "src/storage/journal/lost-charges.ts";
const KEPT = "src/storage/journal/kept-segments.ts";
const MARKS = "src/storage/tables/journal-marks.ts";
const WRITER = "src/storage/journal/ledger-writer.ts";

const shipper = ["src/storage/journal/shipper.test.ts"];
const journal = ["src/storage/journal/journal.test.ts"];
const refcounts = ["src/storage/journal/segment-refcounts.test.ts"];
const storage = ["test/contracts/storage-journal.test.ts"];
const removal = ["test/contracts/journal-removal.test.ts"];
const writer = ["test/contracts/ledger-writer.test.ts"];
const posting = ["test/contracts/posting.test.ts"];
const folders = ["test/e2e/restart-journals.test.ts"];

/** From an accepted charge to the ledger, whatever ends in between. */
export const JOURNAL_FAULTS: readonly Fault[] = [
  {
    name: "the journal is never synced to the disk",
    file: JOURNAL,
    find: "this.#inBackground(() => syncData(this.#file));",
    replace: "this.#inBackground(() => Promise.resolve());",
    tests: journal,
  },
  {
    name: "a full segment is not synced to the disk",
    file: JOURNAL,
    find: "await syncData(previous);",
    replace: "",
    tests: journal,
  },
  {
    name: "a record waits for the disk until the journal is closed",
    file: JOURNAL,
    find: "this.#cancelSync ??= after(SYNC_PAUSE_MS, () => this.#startSync());",
    replace: "",
    tests: journal,
  },
  {
    name: "a record that was written in part is kept",
    file: JOURNAL,
    find: "if (fstatSync(this.#file).size > this.#offset) ftruncateSync(this.#file, this.#offset);",
    replace: "",
    tests: journal,
  },
  {
    name: "a damaged line is a record",
    file: LINE,
    find: " || Number.parseInt(prefix, 16) !== Bun.hash.crc32(json)",
    replace: "",
    tests: journal,
  },
  {
    name: "a checkpoint is ignored at recovery",
    file: SEGMENTS,
    find: "  yield* open.values();",
    replace: "",
    tests: journal,
  },
  {
    name: "a checkpoint is charged beside its charge",
    file: SEGMENTS,
    find: "      open.delete(record.entry.id);",
    replace: "",
    tests: journal,
  },
  {
    name: "the first checkpoint of a request counts, not the last",
    file: SEGMENTS,
    find: "        open.set(record.entry.id, record);",
    replace: "        if (!open.has(record.entry.id)) open.set(record.entry.id, record);",
    tests: journal,
  },
  {
    name: "damage ends the reading of a segment",
    file: SEGMENTS,
    find: "else if (to > from) onDamaged(start + from);",
    replace: "else return onDamaged(start + from);",
    tests: journal,
  },
  {
    name: "a segment with damage is cut off",
    file: SEGMENTS,
    find: "    if (!isDamaged) truncateSync(path, end);",
    replace: "    truncateSync(path, end);",
    tests: [...journal, ...folders],
  },
  {
    name: "the journal of a living process is taken over",
    file: FOLDER,
    find: `lock.run("BEGIN EXCLUSIVE");`,
    replace: `lock.run("BEGIN");`,
    tests: journal,
  },
  {
    name: "the quarantine deletes",
    file: FOLDER,
    find: "renameSync(join(path, name), existsSync(target) ? `${target}.${Bun.randomUUIDv7()}` : target);",
    replace: "unlinkSync(existsSync(target) ? target : join(path, name));",
    tests: folders,
  },
  {
    name: "a quarantined file replaces another",
    file: FOLDER,
    find: "existsSync(target) ? `${target}.${Bun.randomUUIDv7()}` : target",
    replace: "existsSync(target) ? target : target",
    tests: journal,
  },
  {
    name: "a folder that is no journal is removed",
    file: FOLDER,
    find: "const others = names.filter((name) => !isSegmentName(name) && !LOCK_FILE.test(name));",
    replace:
      "const others = names.filter((name) => !isSegmentName(name) && !LOCK_FILE.test(name) && name === null);",
    tests: [...journal, ...folders],
  },
  {
    name: "a segment is deleted with charges that wait",
    file: REFCOUNTS,
    find: "([segment, count]) => count === 0 && segment < current",
    replace: "([segment]) => segment < current",
    tests: refcounts,
  },
  {
    name: "a segment is deleted with the checkpoint of a running request",
    file: REFCOUNTS,
    find: "      add(segment, 1);",
    replace: `      if (type === "charge") add(segment, 1);`,
    tests: refcounts,
  },
  {
    name: "the segment that is written is deleted",
    file: REFCOUNTS,
    find: "count === 0 && segment < current",
    replace: "count === 0 && segment <= current",
    tests: refcounts,
  },
  {
    name: "a segment is put aside before its charges are persisted",
    file: SHIPPER,
    find: "    if (this.#settled.length > 0) await persist();\n",
    replace: "    queueMicrotask(() => void persist());\n",
    tests: removal,
  },
  {
    name: "charges are forgotten when they could not be posted",
    file: SHIPPER,
    find: "const [batch] = this.#queue;",
    replace: "const batch = this.#queue.shift();",
    tests: storage,
  },
  {
    name: "a charge that comes while its batch is posted is forgotten",
    file: SHIPPER,
    find: "    if (this.#queue.length === 1) this.#queue.push(new Batch());\n",
    replace: "",
    tests: shipper,
  },
  {
    name: "a charge that no disk took is forgotten when others are posted",
    file: SHIPPER,
    find: "this.#kept.splice(0, batch.length);",
    replace: "this.#kept.length = 0;",
    tests: shipper,
  },
  {
    name: "of the charges that no disk took one is posted",
    file: SHIPPER,
    find: "for (const entry of batch) lines.write(",
    replace: "for (const entry of batch.slice(0, 1)) lines.write(",
    tests: shipper,
  },
  {
    name: "what a round journals begins another round",
    file: SHIPPER,
    find: "    this.#round ??= Promise.resolve()\n      .then(() => this.#work())\n",
    replace: "    this.#round ??= this.#work()\n",
    tests: shipper,
  },
  {
    name: "positions in a journal are counted in characters",
    file: JOURNAL,
    find: "this.#offset += line.length;",
    replace: "this.#offset += line.toString().length;",
    tests: storage,
  },
  {
    name: "a batch is posted for no process",
    file: WRITER,
    find: "thread.call({ processId, lines, batch })",
    replace: "thread.call({ processId: processId.slice(0, 0), lines, batch })",
    tests: writer,
  },
  {
    name: "a taken over journal is posted for the running process",
    file: RECOVERY,
    find: "await postAll(options.writer, processId, entriesOf(records))",
    replace: "await postAll(options.writer, options.processId, entriesOf(records))",
    tests: removal,
  },
  {
    name: "a taken over journal is posted again with each batch",
    file: POSTING,
    find: "    lines.clear();\n",
    replace: "",
    tests: storage,
  },
  {
    name: "charges that do not fit into memory are forgotten",
    file: SHIPPER,
    find: "      this.#unread = { segment, offset };\n      return;",
    replace: "      return;",
    tests: storage,
  },
  {
    name: "a charge that the disk refuses is lost",
    file: SHIPPER,
    find: "    this.#kept.push(entry);",
    replace: "",
    tests: storage,
  },
  {
    name: "an entry that the database refuses is dropped",
    file: POSTING,
    find: "  for (const entry of entries) appendFileSync(posting.refusedPath, `${toColumn(entry)}\\n`, { mode: 0o600 });",
    replace: "",
    tests: posting,
  },
  {
    name: "one refused entry drops its batch",
    file: POSTING,
    find: "for (const entry of entries) added += await postEntries(posting, processId, [entry]);",
    replace: "",
    tests: posting,
  },
  {
    name: "entries are put aside during an outage",
    file: POSTING,
    find: "if (!isRefusal(error)) throw error;",
    replace: "",
    tests: posting,
  },
  {
    name: "a batch counts as posted when its thread has ended",
    file: THREAD,
    find: "for (const { reject } of this.#waiting.values()) reject(new DependencyError(`${name} has ended`));",
    replace: "for (const { resolve } of this.#waiting.values()) resolve(undefined as Result);",
    tests: writer,
  },
  {
    name: "a thread that hangs is awaited for ever",
    file: THREAD,
    find: "return await withDeadline(patienceMs, promise, hung);",
    replace: "return await promise;",
    tests: writer,
  },
  {
    name: "a taken over journal is deleted before its charges are persisted",
    file: RECOVERY,
    find: "  await options.persist();\n",
    replace: "",
    tests: removal,
  },
  {
    name: "the leases of a process that ended stay held",
    file: RECOVERY,
    find: "  await options.leases.release(processId);\n",
    replace: "",
    tests: storage,
  },
  {
    name: "a charge of a recovered checkpoint is not marked as partial",
    file: RECOVERY,
    find: `{ ...entry, flags: [...entry.flags, "partial"] }`,
    replace: "entry",
    tests: storage,
  },
  {
    name: "a last batch of a taken over journal is not posted",
    file: POSTING,
    find: "  await post();\n  return total;",
    replace: "  return total;",
    tests: storage,
  },
  {
    name: "leases are not returned at a graceful stop",
    file: OWN,
    find: "    await leases.release(processId);",
    replace: "",
    tests: removal,
  },
  {
    name: "a journal with charges that wait is removed at a graceful stop",
    file: OWN,
    find: "  if (!shipper.isSettled()) return folder.release();\n",
    replace: "",
    tests: storage,
  },
  {
    name: "a running process posts nothing again when the database has gone back in time",
    file: LOST,
    find: "posted === undefined || posted < lastBatch",
    replace: "posted === undefined",
    tests: shipper,
  },
  {
    name: "only what was put aside is posted again when the database has gone back in time",
    file: LOST,
    find: "[...kept.list(processId), ...segmentFiles(folder)]",
    replace: "kept.list(processId)",
    tests: shipper,
  },
  {
    name: "what was put aside is not posted again when the database has gone back in time",
    file: LOST,
    find: "[...kept.list(processId), ...segmentFiles(folder)]",
    replace: "segmentFiles(folder)",
    tests: shipper,
  },
  {
    name: "a batch is noted although the one before it is missing",
    file: MARKS,
    find: " AND posted >= ${batch - 1}",
    replace: "",
    tests: posting,
  },
  {
    name: "what an ended process had posted is not posted again when the database has gone back in time",
    file: RECOVERY,
    find: "(posted.get(processId) ?? 0) >= last",
    replace: "last > 0",
    tests: removal,
  },
  {
    name: "what an ended process held stays held when the database has gone back in time",
    file: OWN,
    find: "    await marks.raise(processId, last);\n",
    replace: "",
    tests: removal,
  },
  {
    name: "posted charges go to whichever ledger there is",
    file: KEPT,
    find: "join(root, KEPT, ledgerId)",
    replace: `join(root, KEPT, ledgerId.replace(/.*/s, "any"))`,
    tests: removal,
  },
  {
    name: "segments that the database has lost are removed after a while",
    file: KEPT,
    find: "        if (!isPosted(segment)) continue;\n",
    replace: "",
    tests: removal,
  },
  {
    name: "a record begins where the segment before ended",
    file: JOURNAL,
    find: "      if (this.#offset >= this.#segmentBytes) this.rotate();\n      start = this.#offset;\n",
    replace: "      start = this.#offset;\n      if (this.#offset >= this.#segmentBytes) this.rotate();\n",
    tests: journal,
  },
  {
    name: "a closed journal takes records",
    file: JOURNAL,
    find: '    if (this.#closing) throw new Error("the journal is closed");\n',
    replace: "",
    tests: journal,
  },
  {
    name: "what probed a full disk stays, and later cuts records off",
    file: JOURNAL,
    find: "      ftruncateSync(this.#file, this.#offset);\n      this.#outage.available();",
    replace: "      this.#outage.available();",
    tests: journal,
  },
  {
    name: "a disk that cannot be synced admits requests",
    file: JOURNAL,
    find: 'could not be synced to disk", error);\n      this.#fail(error);',
    replace: 'could not be synced to disk", error);',
    tests: journal,
  },
  {
    name: "a charge that is journaled again replaces its checkpoint twice",
    file: REFCOUNTS,
    find: "      else if (before !== undefined) checkpoints.delete(entry.id);\n",
    replace: "",
    tests: refcounts,
  },
  {
    name: "a last flush waits for the pause after a failure",
    file: SHIPPER,
    find: "      this.#nextTryAt = 0;\n",
    replace: "",
    tests: shipper,
  },
  {
    name: "a posted batch is not noted",
    file: POSTING,
    find: "if (batch !== undefined) await posting.marks.raise",
    replace: "if (batch === undefined) await posting.marks.raise",
    tests: posting,
  },
  {
    name: "a journal is removed although its leases are held",
    file: OWN,
    find: "  if (!isReturned) return folder.release();\n",
    replace: "  void isReturned;\n",
    tests: removal,
  },
  {
    name: "a process that ended after the database went back loses what it had posted",
    file: RECOVERY,
    find: "posted < last ? aside : []",
    replace: "posted < last ? aside.slice(aside.length) : []",
    tests: removal,
  },
  {
    name: "a journal that is taken over gets no batch of its own",
    file: RECOVERY,
    find: "Math.max(posted, last) + 1",
    replace: "posted + 0 * last",
    tests: removal,
  },
  {
    name: "a journal that could not be posted is never taken over again",
    file: RECOVERY,
    find: "for (const folder of folders) folder.release();",
    replace: "void folders;",
    tests: removal,
  },
  {
    name: "a journal that cannot be taken over holds up the others",
    file: RECOVERY,
    find: "            report(folder.processId, error);\n",
    replace: "            throw error;\n",
    tests: removal,
  },
  {
    name: "what a running process holds is returned by another",
    file: RECOVERY,
    find: "if (existsSync(join(root, processId)) || (posted",
    replace: "if ((posted",
    tests: removal,
  },
  {
    name: "the mark of a running process is removed with its last posted segment",
    file: RECOVERY,
    find: "emptied.filter((processId) => !existsSync(join(root, processId)))",
    replace: "emptied",
    tests: removal,
  },
];
