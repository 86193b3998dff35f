import type { ApiKey } from "../../domain/api-key.ts";

/**
 * Recently used keys, by hash, in bounded memory. Two generations approximate the order of use: a key used since the
 * last change of generation survives the next one, and a hit costs one lookup.
 */
interface KeyCache {
  get(hash: string): ApiKey | undefined;
  put(hash: string, key: ApiKey): void;
  /** Replaces a key that is cached; does nothing otherwise. */
  refresh(hash: string, key: ApiKey): void;
  /** Replaces every key by what `change` returns for it. */
  update(change: (key: ApiKey) => ApiKey): void;
  clear(): void;
}

/** Keeps at most `capacity` keys, at least half of which are the most recently used. */
export function keyCache(capacity: number): KeyCache {
  const generation = Math.max(1, Math.floor(capacity / 2));
  let recent = new Map<string, ApiKey>();
  let older = new Map<string, ApiKey>();
  const put = (hash: string, key: ApiKey) => {
    if (recent.size >= generation && !recent.has(hash)) {
      older = recent;
      recent = new Map();
    }
    recent.set(hash, key);
  };
  return {
    get(hash) {
      const key = recent.get(hash);
      if (key) return key;
      const aged = older.get(hash);
      if (aged) put(hash, aged);
      return aged;
    },
    put,
    refresh(hash, key) {
      if (older.has(hash)) older.set(hash, key);
      if (recent.has(hash)) recent.set(hash, key);
    },
    update(change) {
      for (const keys of [recent, older]) {
        for (const [hash, key] of keys) {
          const next = change(key);
          if (next !== key) keys.set(hash, next);
        }
      }
    },
    clear() {
      recent = new Map();
      older = new Map();
    },
  };
}
