import { hasScope } from "../../domain/api-key.ts";
import { isPattern } from "../../lib/pattern-map.ts";
import type { AdminContext } from "../context.ts";
import { explainRoute } from "../routes/explain-route.ts";
import { getKey } from "./keys.ts";

/** A model that a first call with the key could use now. `model` is null when there is no such model. */
interface ExampleCall {
  model: string | null;
  kind: "text" | "image";
}

/** Maximum number of models that are tried. */
const MAX_TRIED = 50;
const MONTH_MS = 31 * 24 * 60 * 60_000;

/**
 * Finds a model that the key may call and that has a price and a target in service. Prefers models that the key has
 * used lately, then text models, then image models. Throws 404 for an unknown key.
 */
export async function exampleCall(context: AdminContext, id: string): Promise<ExampleCall> {
  const { store, catalogue, clock, running } = context;
  const key = await getKey(context, id);
  const now = clock.now();
  const range = { from: now - MONTH_MS, to: now, span: "day" as const, keys: [id] };
  const used = (await store.usage.spending(range, ["model"]))
    .toSorted((one, other) => other.requests - one.requests)
    .map(({ model }) => model);
  const declared = [...catalogue.models.declared];
  const ofText = declared.filter(([, { type }]) => type === "chat" || type === "messages");
  const ofPictures = declared.filter(([, { type }]) => type === "image");
  const scopes = new Set(key.scopes);
  const health = running?.ejections() ?? [];
  let tried = 0;
  for (const model of new Set([...used, ...[...ofText, ...ofPictures].map(([name]) => name)])) {
    const known = catalogue.models.get(model);
    if (!known || known.type === "embedding" || isPattern(model)) continue;
    const scope = known.type === "image" ? "ai:image" : "ai:llm";
    if (!hasScope({ scopes }, scope)) continue;
    if (++tried > MAX_TRIED) break;
    const question = { organization: key.organizationId, key: id, model, health };
    const { refusal, targets } = await explainRoute(context, question);
    if (refusal === null && targets.some(({ share }) => share > 0))
      return { model, kind: known.type === "image" ? "image" : "text" };
  }
  const isOfImages = key.scopes.every((own) => own === "ai:image");
  return { model: null, kind: isOfImages ? "image" : "text" };
}
