import { Eye } from "lucide-react";
import { useTranslation } from "react-i18next";
import type { TFunction } from "i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Problem } from "../../ui/forms/form-problem.tsx";
import { Card } from "../../ui/page/card.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { Time } from "../../ui/text/time.tsx";
import { SaidItem } from "../playground/transcript.tsx";
import { ANSWERING, promptToTry, replyText, turnsOf } from "./kept-turns.ts";

type Request = Output<"requests.get">["request"];

/**
 * Shows the prompt and the reply of a request, if its organization stores them. Both texts are read when the user
 * presses a button; the audit log records each reading.
 */
export function KeptPrompt({ request, organizationId }: { request: Request; organizationId: string }) {
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
            <Conversation prompt={data.prompt} reply={data.reply} />
            <p className="text-muted">
              {t("prompt.until")} <Time at={data.expiresAt} isAbsolute />
            </p>
            <TryAgain prompt={data.prompt} request={request} />
          </>
        ) : (
          <Button icon={Eye} isPending={isPending} onPress={() => mutate({ id: request.id })}>
            {t("prompt.show")}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** Opens the playground with the form filled in. Nothing is sent until the user presses the button there. */
function TryAgain({ prompt, request: { model, keyId, route } }: { prompt: string; request: Request }) {
  const { t } = useTranslation("requests");
  const opened = promptToTry(prompt);
  if (opened === null || model === null) return null;
  const text = route === "messages" ? "/playground/messages" : "/playground/chat";
  return (
    <ButtonLink
      to={turnsOf(prompt) === null ? "/playground" : text}
      search={{ model, ...(keyId !== null && { key: keyId }) }}
      state={{ opened }}
    >
      {t("prompt.try")}
    </ButtonLink>
  );
}

/**
 * Shows the turns of a conversation and its reply. A prompt that was cut, or is not a conversation, is shown as text.
 */
function Conversation({ prompt, reply }: { prompt: string; reply: string }) {
  const { t } = useTranslation("requests");
  const turns = turnsOf(prompt) ?? [{ role: "user", text: prompt }];
  const answered = reply === "" ? [] : [{ role: "assistant", text: replyText(reply) ?? reply }];
  return (
    <ol
      tabIndex={0}
      aria-label={t("prompt.title")}
      className="flex max-h-[65dvh] w-full flex-col gap-4 overflow-y-auto"
    >
      {[...turns, ...answered].map(({ role, text }, index) => (
        <SaidItem
          key={index}
          speaker={speakerOf(t, role)}
          role={ANSWERING.has(role) ? "assistant" : "user"}
          text={text}
        />
      ))}
    </ol>
  );
}

/**
 * Returns the translated name if the role is the user's, the model's or that of the instructions. Any other role, such
 * as `tool`, keeps the protocol's word.
 */
function speakerOf(t: TFunction<"requests">, role: string): string {
  if (role === "user") return t("prompt.prompt");
  if (ANSWERING.has(role) && !role.includes("_")) return t("prompt.reply");
  return role === "system" || role === "developer" ? t("prompt.system") : role;
}
