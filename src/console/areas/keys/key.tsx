import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { BudgetBar } from "../../ui/chart/budget-bar.tsx";
import { LIMITS } from "../../ui/forms/limits-field.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { CodeSnippet } from "../../ui/text/code-snippet.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { SpentOf } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import { KeyActions } from "./key-actions.tsx";
import { KeyUsage } from "./key-usage.tsx";
import { KeyState, useKeyWords, type Key } from "./key-view.tsx";
import { useSampleModel } from "./new-secret.tsx";
import { keySnippets } from "./snippets.ts";

export default function KeyPage() {
  const { t } = useTranslation("keys");
  const { id = "" } = useParams({ strict: false });
  const key = useOperationQuery("keys.get", { id });
  return (
    <Page
      title={key.data?.name ?? t("title")}
      about={key.data && <KeyState view={key.data} />}
      actions={key.data && <KeyActions view={key.data} />}
      back={{ to: "/keys", label: t("title") }}
    >
      <QueryState query={key}>{(view) => <KeyParts view={view} />}</QueryState>
    </Page>
  );
}

function KeyParts({ view }: { view: Key }) {
  const { t } = useTranslation("keys");
  const search = { key: view.id, organization: view.organizationId };
  return (
    <div className="grid gap-6 lg:grid-cols-2 xl:grid-cols-[2fr_1fr]">
      <div className="flex min-w-0 flex-col gap-6">
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

/** Shows a key's prefix, ids, restrictions and dates. */
function KeyBounds({ view }: { view: Key }) {
  const { t } = useTranslation(["keys", "shell"]);
  const words = useKeyWords();
  const organization = useOrganizationOptions().find(({ id }) => id === view.organizationId);
  const limits = LIMITS.flatMap((name): [string, string][] => {
    const own = view.limits[name];
    if (own === undefined) return [];
    return [[t(`shell:limit.${name}`), own === null ? t("limits.unlimited") : formatCount(own)]];
  });
  return (
    <Card title={t("detail.bounds")}>
      <Details
        entries={[
          [t("column.prefix"), <code className="font-mono text-xs">{view.prefix}…</code>],
          [t("detail.id"), <Id value={view.id} />],
          [t("column.organization"), organization?.label ?? view.organizationId],
          [t("column.scopes"), words.scopes(view.scopes)],
          [t("column.models"), view.models === "*" ? t("models.all") : view.models.join(", ")],
          [
            t("form.addresses"),
            view.addresses === null ? t("detail.addresses.any") : view.addresses.join(", "),
          ],
          ...limits,
          [t("column.expires"), view.expiresAt === null ? t("never") : <Time at={view.expiresAt} />],
          [t("column.created"), <Time at={view.createdAt} />],
        ]}
      />
    </Card>
  );
}

/** Shows the key's own budgets. The budgets of its organization apply as well. */
function KeyBudgets({ view }: { view: Key }) {
  const { t } = useTranslation(["keys", "money"]);
  const can = useCan();
  const budgets = useOperationQuery("budgets.list", { organizationId: view.organizationId, keyId: view.id });
  return (
    <Card
      title={t("column.budget")}
      actions={
        can("billing") && (
          <TextLink to="/money" search={{ new: "budget", organization: view.organizationId, key: view.id }}>
            {t("detail.budget.add")}
          </TextLink>
        )
      }
    >
      <QueryState query={budgets}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-muted">{t("detail.budget.none")}</p>
          ) : (
            <ul className="flex flex-col gap-4">
              {data.map((budget) => (
                <li key={budget.id} className="flex flex-col gap-2">
                  <p className="flex flex-wrap justify-between gap-2">
                    <SpentOf {...budget} />
                    <span className="text-muted">{t(`money:period.${budget.period}`)}</span>
                  </p>
                  <BudgetBar budget={budget} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryState>
    </Card>
  );
}
