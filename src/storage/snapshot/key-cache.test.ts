import { expect, test } from "bun:test";
import type { ApiKey } from "../../domain/api-key.ts";
import { keyCache } from "./snapshot-source.ts";

function aKey(id: string, budgets: string[] = []): ApiKey {
  return {
    id,
    organizationId: "org",
    name: id,
    prefix: "gk_",
    scopes: new Set(["ai:*"]),
    models: "*",
    addresses: null,
    limits: {},
    budgets,
    isDisabled: false,
    refuseIgnored: false,
    expiresAt: null,
  };
}

test("memory stays bounded, and keys in use survive", () => {
  const cache = keyCache(100);
  cache.put("used", aKey("used"));
  for (let index = 0; index < 10_000; index += 1) {
    cache.put(`hash-${index}`, aKey(`key-${index}`));
    expect(cache.get("used")?.id).toBe("used");
  }
  const kept = Array.from({ length: 10_000 }, (_, index) => cache.get(`hash-${index}`)).filter(Boolean);
  expect(kept.length).toBeLessThanOrEqual(100);
  expect(cache.get("hash-9999")?.id).toBe("key-9999");
});

test("a changed key replaces only a cached key, in either generation", () => {
  const cache = keyCache(2);
  cache.put("a", aKey("a"));
  cache.put("b", aKey("b"));
  cache.refresh("a", aKey("a", ["new"]));
  cache.refresh("c", aKey("c"));
  expect(cache.get("a")?.budgets).toEqual(["new"]);
  expect(cache.get("c")).toBeUndefined();
});

test("cached keys can be changed in place", () => {
  const cache = keyCache(10);
  cache.put("a", aKey("a"));
  cache.put("b", aKey("b"));
  cache.update((key) => (key.id === "a" ? aKey("a", ["x"]) : key));
  expect(cache.get("a")?.budgets).toEqual(["x"]);
  expect(cache.get("b")?.budgets).toEqual([]);
});
