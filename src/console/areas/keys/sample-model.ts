import { useModelOptions } from "../../api/options.ts";
import type { Key } from "./key-view.tsx";

/** A model that a key may call, for a sample: one of text where there is one. */
export function useSampleModel({ models, scopes }: Pick<Key, "models" | "scopes">): {
  model: string;
  kind: "text" | "image";
} {
  const options = useModelOptions();
  const allowed = options.filter(({ id }) => models === "*" || models.includes(id));
  const isOfText = scopes.some((scope) => scope !== "ai:image");
  const isOfImages = scopes.some((scope) => scope !== "ai:llm");
  const image = isOfImages ? allowed.find(({ detail }) => detail === "image") : undefined;
  const text = isOfText ? allowed.find(({ detail }) => detail !== "image") : undefined;
  if (text) return { model: text.id, kind: "text" };
  return { model: image?.id ?? "MODEL", kind: isOfText && !image ? "text" : "image" };
}
