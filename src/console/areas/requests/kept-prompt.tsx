import { Eye } from "lucide-react";
import { useTranslation } from "react-i18next";
import { replyText, turnsOf } from "./kept-turns.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Problem } from "../../ui/forms/form-problem.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Time } from "../../ui/text/time.tsx";

/** The prompt and the reply of a request whose organization keeps them. A button reads them, which is audited. */
export function KeptPrompt({ id, organizationId }: { id: string; organizationId: string }) {
  const { t } = useTranslation("requests");
  const organization = useOperationQuery("organizations.get", { id: organizationId });
  const { data, error, isPending, mutate } = useOperationMutation("prompts.get", []);
  if ((organization.data?.settings.promptLogDays ?? null) === null) return null;
  return (
    <Card title={t("prompt.title")} about={t("prompt.about")}>
      <div className="flex flex-col items-start gap-4">
        {error && <Problem>{error.message}</Problem>}
        {data ? (
          <>
            <Conversation prompt={data.prompt} />
            {data.reply !== "" && (
              <Part label={t("prompt.reply")} text={replyText(data.reply) ?? data.reply} />
            )}
            <p className="text-muted">
              {t("prompt.until")} <Time at={data.expiresAt} isAbsolute />
            </p>
          </>
        ) : (
          <Button icon={Eye} isPending={isPending} onPress={() => mutate({ id })}>
            {t("prompt.show")}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** The turns of a conversation one below the other; a prompt that is none, or was cut, as it is. */
function Conversation({ prompt }: { prompt: string }) {
  const { t } = useTranslation("requests");
  const turns = turnsOf(prompt);
  if (turns === null) return <Part label={t("prompt.prompt")} text={prompt} />;
  return turns.map(({ role, text }, index) => <Part key={index} label={role} text={text} />);
}

function Part({ label, text }: { label: string; text: string }) {
  return (
    <figure className="flex w-full min-w-0 flex-col gap-1.5">
      <figcaption className="font-medium">{label}</figcaption>
      <pre
        tabIndex={0}
        aria-label={label}
        className="max-h-80 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </figure>
  );
}
