import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { CodeSnippet } from "../../ui/text/code-snippet.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { ReadingState } from "../../ui/page/reading-state.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { useReading } from "../../api/queries.ts";
import { keySnippets } from "./snippets.ts";
import { KeyActs } from "./key-actions.tsx";
import { KeyBounds } from "./key-bounds.tsx";
import { KeyBudgets } from "./key-budgets.tsx";
import { KeyUsage } from "./key-usage.tsx";
import { KeyState, type Key } from "./key-view.tsx";
import { useSampleModel } from "./sample-model.ts";

export default function KeyPage() {
  const { t } = useTranslation("keys");
  const { id = "" } = useParams({ strict: false });
  const key = useReading("keys.get", { id });
  return (
    <Page
      title={key.data?.name ?? t("title")}
      about={key.data && <KeyState view={key.data} />}
      actions={key.data && <KeyActs view={key.data} />}
      back={{ to: "/keys", label: t("title") }}
    >
      <ReadingState query={key}>{(view) => <KeyParts view={view} />}</ReadingState>
    </Page>
  );
}

function KeyParts({ view }: { view: Key }) {
  const { t } = useTranslation("keys");
  const search = { key: view.id, organization: view.organizationId };
  return (
    <div className="grid gap-6 lg:grid-cols-3">
      <div className="flex min-w-0 flex-col gap-6 lg:col-span-2">
        <KeyUsage id={view.id} />
        <CallWithIt view={view} />
      </div>
      <div className="flex min-w-0 flex-col gap-6">
        <KeyBounds view={view} />
        <KeyBudgets view={view} />
        <nav aria-label={view.name} className="flex flex-col items-start gap-2">
          <TextLink to="/requests" search={search}>
            {t("detail.requests")}
          </TextLink>
          <TextLink to="/money/ledger" search={search}>
            {t("detail.ledger")}
          </TextLink>
          <TextLink to="/settings/audit" search={{ subject: view.id }}>
            {t("detail.audit")}
          </TextLink>
        </nav>
      </div>
    </div>
  );
}

function CallWithIt({ view }: { view: Key }) {
  const { t } = useTranslation("keys");
  const { model, kind } = useSampleModel(view);
  const secret = `${view.prefix}…`;
  return (
    <Card title={t("call.title")} about={t("call.hint", { secret })}>
      <CodeSnippet label={t("call.title")} snippets={keySnippets(secret, kind, model)} />
    </Card>
  );
}
