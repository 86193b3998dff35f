import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { ChoiceSelect } from "../../ui/forms/choice-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { RouteTabs } from "../../ui/page/route-tabs.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { usePlaygroundModels, type PlaygroundModel } from "./models.ts";

interface PlaygroundFrameProps {
  type: PlaygroundModel["type"] | "text";
  /** Called with the id of a key and its callable models of the type `type`. There is at least one model. */
  children(keyId: string, models: readonly PlaygroundModel[]): ReactNode;
}

const MAX_KEYS = 200;

/** The frame of the playground's pages: tabs, and the choice of the key to which all requests are charged. */
export function PlaygroundFrame(props: PlaygroundFrameProps) {
  const { t } = useTranslation("playground");
  const tabs = [
    { to: "/playground", label: t("tab.image") },
    { to: "/playground/chat", label: t("tab.chat") },
    { to: "/playground/messages", label: t("tab.messages") },
  ] as const;
  const frame = { title: t("title"), about: t("about"), tabs: <RouteTabs label={t("title")} tabs={tabs} /> };
  return <KeyBench {...props} frame={frame} />;
}

function KeyBench({
  frame,
  type,
  children,
}: PlaygroundFrameProps & { frame: { title: string; about: string; tabs: ReactNode } }) {
  const { t } = useTranslation("playground");
  const { filters, change } = useFilters();
  const { id: organizationId } = useOrganization();
  const keys = useOperationQuery("keys.list", {
    state: "active",
    limit: MAX_KEYS,
    ...(organizationId !== null && { organizationId }),
  });
  const usable = keys.data?.data ?? [];
  const keyId = (usable.find(({ id }) => id === filters["key"]) ?? usable[0])?.id ?? null;
  const models = usePlaygroundModels(keyId);
  const choice = usable.length > 0 && (
    <ChoiceSelect
      label={t("key")}
      options={usable.map(({ id, name, prefix }) => ({ id, label: name, detail: `${prefix}…` }))}
      value={keyId ?? ""}
      onChange={(key) => change({ key })}
    />
  );
  return (
    <Page {...frame} actions={choice}>
      <QueryState query={keys} skeleton={<BenchSkeleton />}>
        {() =>
          keyId === null ? (
            <EmptyState icon={KeyRound} action={<ButtonLink to="/keys">{t("noKey.action")}</ButtonLink>}>
              {t("noKey")}
            </EmptyState>
          ) : (
            <QueryState query={models} skeleton={<BenchSkeleton />}>
              {(all) => {
                const offered = all.filter((model) => isOfType(model, type));
                if (offered.length > 0) return children(keyId, offered);
                return <EmptyState icon={KeyRound}>{t("noModel")}</EmptyState>;
              }}
            </QueryState>
          )
        }
      </QueryState>
    </Page>
  );
}

function isOfType({ type }: PlaygroundModel, wanted: PlaygroundFrameProps["type"]): boolean {
  return wanted === "text" ? type === "chat" || type === "messages" : type === wanted;
}

function BenchSkeleton() {
  return (
    <div className="grid gap-6 lg:grid-cols-[21rem_minmax(0,1fr)] xl:grid-cols-[26rem_minmax(0,1fr)]">
      <Skeleton className="h-[34rem]" />
      <Skeleton className="h-[34rem]" />
    </div>
  );
}
