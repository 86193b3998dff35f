import { useTranslation } from "react-i18next";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import type { Output } from "../../api/call.ts";
import { keySnippets } from "./snippets.ts";
import { useSampleModel } from "./sample-model.ts";

/** A key's secret, shown this once and ready to be called with. */
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
