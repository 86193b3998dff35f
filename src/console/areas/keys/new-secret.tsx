import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useModelOptions } from "../../api/options.ts";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import type { Key } from "./key-view.tsx";
import { keySnippets } from "./snippets.ts";

/** A key's secret, shown this once, with example calls. */
export function NewSecret({ made, onClose }: { made: Output<"keys.create">; onClose(): void }) {
  const { t } = useTranslation("keys");
  const { model, kind } = useSampleModel(made.key);
  return (
    <SecretOnce
      title={t("secret.title")}
      secret={made.secret}
      snippets={keySnippets(made.secret, kind, model)}
      onClose={onClose}
    />
  );
}

/** Returns a model that a key may call, for example calls: a text model where there is one. */
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
