import { expect, test } from "bun:test";
import type { Model } from "../domain/model.ts";
import { PatternMap } from "../lib/pattern-map.ts";
import { welcome } from "./welcome.ts";

const FIRST = {
  administrator: { name: "admin", password: "a-password" },
  key: { secret: "gk_secret", prefix: "gk_secre" },
} as Parameters<typeof welcome>[1];

test.each([
  [["gpt-image", "sandbox-a", "chat"], "images/generations", "sandbox-a"],
  [["chat", "gpt-image"], "images/generations", "gpt-image"],
  [["embedding", "chat", "messages"], "chat/completions", "chat"],
  [["embedding"], "images/generations", "MODEL"],
])("of %p the first start shows a call of %s with %s", (ids, path, model) => {
  const typeOf = (id: string) => (["chat", "messages", "embedding"].includes(id) ? id : "image");
  const models = new PatternMap(new Map(ids.map((id) => [id, { id, type: typeOf(id) } as Model])));
  const settings = { models, server: { publicUrl: null } } as unknown as Parameters<typeof welcome>[2];
  const said = welcome("http://127.0.0.1:8080", FIRST, settings);
  expect(said).toContain(`  curl http://127.0.0.1:8080/v1/${path} \\\n`);
  const [, body = ""] = /-d '(.*)'/.exec(said) ?? [];
  expect(JSON.parse(body)).toMatchObject({ model });
});
