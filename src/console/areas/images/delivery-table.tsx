import { useTranslation } from "react-i18next";

type Delivered = "links" | "base64" | "both";
const REQUESTED = ["absent", "url", "b64_json"] as const;

/** The delivery for each `response_format` and each value of the organization's setting. */
const RULES: Readonly<
  Record<"on" | "off" | "unset", Readonly<Record<(typeof REQUESTED)[number], Delivered>>>
> = {
  on: { absent: "links", url: "links", b64_json: "links" },
  off: { absent: "both", url: "links", b64_json: "base64" },
  unset: { absent: "links", url: "links", b64_json: "base64" },
};

/** Shows what callers get with the setting that the form has now. */
export function DeliveryTable({ force }: { force: boolean | null }) {
  const { t } = useTranslation("images");
  const rules = RULES[force === null ? "unset" : force ? "on" : "off"];
  return (
    <table className="h-fit w-full self-start rounded-lg border border-line text-left">
      <caption className="pb-2 text-left text-muted">{t("effect")}</caption>
      <thead className="bg-sunken text-xs text-muted">
        <tr>
          <th scope="col" className="px-3 py-2 font-medium">
            {t("effect.requested")}
          </th>
          <th scope="col" className="px-3 py-2 font-medium">
            {t("effect.delivered")}
          </th>
        </tr>
      </thead>
      <tbody>
        {REQUESTED.map((requested) => (
          <tr key={requested} className="border-t border-line">
            <td className="px-3 py-2">
              {requested === "absent" ? (
                t("effect.absent")
              ) : (
                <code className="font-mono text-xs">{requested}</code>
              )}
            </td>
            <td className="px-3 py-2">{t(`effect.${rules[requested]}`)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
