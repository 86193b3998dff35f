import { Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import type { Snippet } from "../../ui/text/code-snippet.tsx";
import { Time } from "../../ui/text/time.tsx";
import { TokenDialog } from "./token-dialog.tsx";

type Token = Output<"tokens.list">["data"][number];

/** Lists the member's tokens for administration by programs. */
export function TokensCard() {
  const { t } = useTranslation("account");
  const tokens = useOperationQuery("tokens.list", {});
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const create = (
    <Button icon={Plus} onPress={() => setCreating(true)}>
      {t("tokens.create")}
    </Button>
  );
  return (
    <Card title={t("tokens")} about={t("tokens.about")} actions={create}>
      <QueryState query={tokens}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>{t("tokens.none")}</EmptyState>
          ) : (
            <ul className="divide-y divide-line">
              {data.map((token) => (
                <TokenRow key={token.id} token={token} />
              ))}
            </ul>
          )
        }
      </QueryState>
      <TokenDialog isOpen={isCreating} onClose={() => setCreating(false)} onCreated={setSecret} />
      <SecretOnce
        title={t("tokens.created")}
        secret={secret}
        snippets={secret === null ? [] : [curlSnippet(secret)]}
        onClose={() => setSecret(null)}
      />
    </Card>
  );
}

function TokenRow({ token }: { token: Token }) {
  const { t } = useTranslation("account");
  const { t: words } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const remove = useOperationMutation("tokens.remove", ["tokens"]);
  const { id, name, role, prefix, expiresAt, lastUsedAt } = token;
  return (
    <li className="flex items-center gap-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="flex flex-wrap gap-x-3 text-xs text-muted">
          <span className="font-mono">{prefix}…</span>
          <span>{words(`role.${role}`)}</span>
          <span>
            {t("tokens.expires")} <Time at={expiresAt} />
          </span>
          <span>
            {lastUsedAt === null ? (
              t("tokens.unused")
            ) : (
              <>
                {t("tokens.used")} <Time at={lastUsedAt} />
              </>
            )}
          </span>
        </p>
      </div>
      <Button kind="quiet" onPress={() => setAsking(true)}>
        {words("remove")}
      </Button>
      <ConfirmDialog
        title={t("tokens.remove")}
        consequences={t("tokens.remove.text", { name })}
        confirmLabel={words("remove")}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutateAsync({ id })}
      />
    </li>
  );
}

function curlSnippet(secret: string): Snippet {
  return {
    label: "curl",
    language: "bash",
    code: `curl ${location.origin}/admin/v1/keys -H "Authorization: Bearer ${secret}"`,
  };
}
