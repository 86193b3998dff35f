import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import type { TableColumn } from "../../ui/table/data-table.tsx";
import { formatCount, formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment } from "../../ui/text/time.tsx";
import { statusLevel } from "./outcomes.ts";

export type RequestRow = Output<"requests.list">["data"][number];

const NOTHING = (
  <span data-nothing className="text-muted">
    –
  </span>
);

export function useRequestColumns(): readonly TableColumn<RequestRow>[] {
  return [...useSubjectColumns(), ...useFigureColumns()];
}

/** Returns the columns for the time, outcome, subject and sender of a request. */
function useSubjectColumns(): readonly TableColumn<RequestRow>[] {
  const { t } = useTranslation("requests");
  return [
    {
      id: "at",
      header: t("column.at"),
      cell: ({ id, at }) => (
        <TextLink to="/requests/$id" params={{ id }}>
          <Moment at={at} />
        </TextLink>
      ),
    },
    { id: "status", phone: "first", header: t("column.status"), cell: (row) => <StatusCell row={row} /> },
    {
      id: "model",
      phone: "second",
      header: t("column.model"),
      cell: ({ model, askedModel }) => <Short text={model ?? askedModel} />,
    },
    {
      id: "key",
      phone: "second",
      header: t("column.key"),
      cell: ({ keyName, keyId }) => <Short text={keyName ?? keyId} />,
    },
    {
      id: "organization",
      header: t("column.organization"),
      isOptional: true,
      cell: ({ organizationId }) => organizationId ?? NOTHING,
    },
    { id: "channel", header: t("column.channel"), cell: ({ channel }) => <Short text={channel} /> },
    { id: "route", header: t("column.route"), isOptional: true, cell: ({ route }) => route ?? NOTHING },
  ];
}

/** Returns the columns for the figures of a request. */
function useFigureColumns(): readonly TableColumn<RequestRow>[] {
  const { t } = useTranslation("requests");
  return [
    {
      id: "usage",
      phone: "second",
      header: t("column.usage"),
      isNumber: true,
      cell: (row) => (
        <span className="whitespace-nowrap">
          <RequestUsage {...row} />
        </span>
      ),
    },
    {
      id: "attempts",
      header: t("column.attempts"),
      isNumber: true,
      isOptional: true,
      cell: ({ attempts }) => attempts,
    },
    {
      id: "duration",
      phone: "second",
      header: t("column.duration"),
      isNumber: true,
      cell: ({ durationMs }) =>
        durationMs === null ? (
          NOTHING
        ) : (
          <span className="whitespace-nowrap">{formatDuration(durationMs)}</span>
        ),
    },
    {
      id: "amount",
      phone: "first",
      header: t("column.amount"),
      isNumber: true,
      cell: (row) => <Amount row={row} />,
    },
    {
      id: "id",
      header: t("column.id"),
      isOptional: true,
      cell: ({ requestId }) => <Id value={requestId} isShort />,
    },
  ];
}

/** Shows a text on one line. A text that is too long is cut. */
function Short({ text }: { text: string | null }) {
  if (text === null) return NOTHING;
  return (
    <span title={text} className="block max-w-38 truncate 3xl:max-w-72">
      {text}
    </span>
  );
}

function StatusCell({ row: { status, code } }: { row: RequestRow }) {
  return (
    <span className="flex flex-col items-start gap-0.5">
      <Status level={statusLevel(status)}>{status}</Status>
      {code !== null && (
        <code className="max-w-32 truncate font-mono 3xl:max-w-64 text-xs text-muted">{code}</code>
      )}
    </span>
  );
}

/** Shows the number of pictures or tokens in words. */
export function RequestUsage({ images, tokens }: Pick<RequestRow, "images" | "tokens">) {
  const { t } = useTranslation("requests");
  if (images > 0) return t("unit.images", { count: images });
  return tokens > 0 ? t("unit.tokens", { count: tokens, shown: formatCount(tokens) }) : NOTHING;
}

function Amount({ row: { amount, currency } }: { row: RequestRow }) {
  if (amount === null || currency === null) return NOTHING;
  return <Money amount={amount} currency={currency} isShort />;
}
