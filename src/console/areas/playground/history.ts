import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSession } from "../../api/session.ts";
import type { Protocol, TextForm, Turn } from "./conversation.ts";
import type { ImageForm, Reference } from "./image-call.ts";
import type { PlaygroundRun } from "./image-run.ts";

interface EntryFacts {
  id: string;
  /** Unix milliseconds. */
  at: number;
  keyId: string;
}

export interface ImageEntry extends EntryFacts {
  kind: "image";
  form: ImageForm;
  references: readonly Reference[];
  /** The runs of the entry. When a run's state changes, a new list replaces this list. */
  runs: readonly PlaygroundRun[];
}

export interface TextEntry extends EntryFacts {
  kind: Protocol;
  form: TextForm;
  /** One conversation for each of the compared models. */
  talks: readonly { model: string; turns: readonly Turn[] }[];
}

/**
 * An earlier request, as this browser stores it. References are stored as files. Delivered pictures stay at the
 * gateway; only their links are stored here.
 */
export type HistoryEntry = ImageEntry | TextEntry;

const STORE = "entries";
const BY_TIME = "at";
/** Maximum number of entries. The oldest are removed. */
const MOST = 200;

/**
 * Returns the signed-in member's history, newest first, with functions that change it. The history never leaves the
 * browser.
 */
export function useHistory() {
  const { id: member } = useSession();
  const client = useQueryClient();
  const key = ["playground.history", member];
  const changed = () => client.invalidateQueries({ queryKey: key });
  const entries = useQuery({ queryKey: key, staleTime: Infinity, queryFn: () => readAll(member) });
  const save = useMutation({
    mutationFn: (entry: HistoryEntry) => change(member, (store) => store.put(entry)),
    onSuccess: changed,
  });
  const remove = useMutation({
    mutationFn: (id: string) => change(member, (store) => store.delete(id)),
    onSuccess: changed,
  });
  const clear = useMutation({
    mutationFn: () => change(member, (store) => store.clear()),
    onSuccess: changed,
  });
  return { entries: entries.data ?? [], save: save.mutate, remove: remove.mutate, clear: clear.mutate };
}

async function readAll(member: string): Promise<HistoryEntry[]> {
  const database = await open(member);
  try {
    const store = database.transaction(STORE).objectStore(STORE);
    const all = await ended<HistoryEntry[]>(store.index(BY_TIME).getAll());
    return all.reverse();
  } finally {
    database.close();
  }
}

async function change(member: string, write: (store: IDBObjectStore) => IDBRequest): Promise<void> {
  const database = await open(member);
  try {
    const transaction = database.transaction(STORE, "readwrite");
    const store = transaction.objectStore(STORE);
    await ended(write(store));
    const keys = await ended<IDBValidKey[]>(store.index(BY_TIME).getAllKeys());
    for (const key of keys.slice(0, Math.max(0, keys.length - MOST))) store.delete(key);
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("the history was not saved"));
    });
  } finally {
    database.close();
  }
}

async function open(member: string): Promise<IDBDatabase> {
  const request = indexedDB.open(`gateway-playground-${member}`, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex(BY_TIME, "at");
  };
  return await ended(request);
}

function ended<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's storage failed"));
  });
}
