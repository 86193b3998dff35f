import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import type { Key } from "./key-view.tsx";
import { keySnippets } from "./snippets.ts";

/** Shows a key's secret with example calls. The secret cannot be shown again. */
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

/** Returns a model for the code of example calls: one that the key can call now, or else the placeholder `MODEL`. */
export function useSampleModel({ id }: Pick<Key, "id">): { model: string; kind: "text" | "image" } {
  const { data } = useOperationQuery("keys.example", { id });
  return { model: data?.model ?? "MODEL", kind: data?.kind ?? "text" };
}
