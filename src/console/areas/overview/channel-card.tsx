import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { formatCount, formatDuration, formatShare } from "../../ui/text/format.ts";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { ChannelState } from "../providers/channel-state.tsx";
import type { Overview } from "./overview.ts";

type Channel = Overview["channels"][number];

/** Shows the state of each channel and its figures for the last 15 minutes. */
export function ChannelCard({ channels }: { channels: readonly Channel[] }) {
  const { t } = useTranslation("overview");
  return (
    <Card
      title={t("channels")}
      about={t("channels.about")}
      isFlush
      actions={<TextLink to="/models/providers">{t("channels.all")}</TextLink>}
    >
      {channels.length === 0 ? (
        <EmptyState action={<ButtonLink to="/models/providers">{t("checklist.vendor")}</ButtonLink>}>
          {t("channels.none")}
        </EmptyState>
      ) : (
        <ul>
          {channels.map((channel) => (
            <ChannelRow key={channel.id} channel={channel} />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Shows one channel, in one line, or in two lines on a phone. */
function ChannelRow({ channel }: { channel: Channel }) {
  const { t } = useTranslation("overview");
  const { id, requests, errorRate, p95Ms } = channel;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-4 py-2.5 sm:grid sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_7rem_7rem_9rem]">
      <span className="min-w-0 flex-1 truncate font-medium">
        <TextLink to="/models/providers/$id" params={{ id }}>
          {id}
        </TextLink>
      </span>
      <ChannelState health={channel} />
      <Figures>
        <span>{t("channels.calls", { count: requests, shown: formatCount(requests) })}</span>
        <span>{errorRate !== null && t("channels.failed", { share: formatShare(errorRate) })}</span>
        <span>{p95Ms !== null && t("latency.p95", { duration: formatDuration(p95Ms) })}</span>
      </Figures>
    </li>
  );
}

/** Figures that are in the second line on a phone, and in the last columns otherwise. */
function Figures({ children }: { children: ReactNode }) {
  return (
    <span className="flex basis-full gap-x-3 text-xs text-muted sm:contents sm:*:text-right sm:*:text-sm">
      {children}
    </span>
  );
}
