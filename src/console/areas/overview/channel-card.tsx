import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { formatCount, formatDuration, formatShare } from "../../ui/text/format.ts";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { ChannelState } from "../providers/channel-state.tsx";
import type { Overview } from "./overview.ts";

type Channel = Overview["channels"][number];

/** The state of each channel, and its figures of the last quarter of an hour. */
export function ChannelCard({ channels }: { channels: readonly Channel[] }) {
  const { t } = useTranslation("overview");
  const head = "px-4 py-2 text-xs font-medium whitespace-nowrap text-muted";
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
        <div
          tabIndex={0}
          role="group"
          aria-label={t("channels")}
          className="overflow-x-auto -outline-offset-2!"
        >
          <table className="w-full">
            <thead>
              <tr className="border-b border-line">
                <th scope="col" className={`${head} text-left`}>
                  {t("channel")}
                </th>
                <th scope="col" className={`${head} text-left`}>
                  {t("state")}
                </th>
                <th scope="col" className={`${head} text-right`}>
                  {t("requests")}
                </th>
                <th scope="col" className={`${head} text-right`}>
                  {t("errors")}
                </th>
                <th scope="col" className={`${head} text-right`}>
                  {t("p95")}
                </th>
              </tr>
            </thead>
            <tbody>
              {channels.map((channel) => (
                <ChannelRow key={channel.id} channel={channel} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function ChannelRow({ channel }: { channel: Channel }) {
  const { id, requests, errorRate, p95Ms } = channel;
  const cell = "px-4 py-2.5";
  return (
    <tr className="border-t border-line first:border-t-0">
      <td className={`${cell} font-medium`}>
        <TextLink to="/models/providers/$id" params={{ id }}>
          {id}
        </TextLink>
      </td>
      <td className={cell}>
        <ChannelState health={channel} />
      </td>
      <td className={`${cell} text-right`}>{formatCount(requests)}</td>
      <td className={`${cell} text-right`}>{errorRate === null ? "–" : formatShare(errorRate)}</td>
      <td className={`${cell} text-right whitespace-nowrap`}>
        {p95Ms === null ? "–" : formatDuration(p95Ms)}
      </td>
    </tr>
  );
}
