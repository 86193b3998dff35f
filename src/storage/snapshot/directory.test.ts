import { PatternMap } from "../../lib/pattern-map.ts";
import { expect, test } from "bun:test";
import { anOrganization } from "../../../test/contracts/storage-harness.ts";
import { adminContext } from "../../../test/support/admin-context.ts";
import { buildDirectory } from "./directory.ts";

test("an organization with all models but some may call those of a later configuration", async () => {
  const { catalogue } = await adminContext();
  const [model] = catalogue.models.declared.values();
  const later = {
    ...catalogue,
    models: new PatternMap(new Map([...catalogue.models.declared, ["later", model!]])),
  };
  const organizations = [{ ...anOrganization("acme", { models: { except: ["big-chat"] } }), version: 1 }];
  const stored = { organizations, prices: [], budgets: [] };
  const directory = buildDirectory(later, stored, () => {});
  const models = directory.organizations.get("acme")?.models;
  const may = (id: string) => models === "*" || models?.has(id);
  expect(["old-chat", "sandbox-chat", "sandbox-a", "later", "big-chat"].map(may)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});
