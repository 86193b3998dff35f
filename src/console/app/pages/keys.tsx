import { useTranslation } from "react-i18next";
import { useReading } from "../lib/queries.ts";

export default function KeysPage() {
  const { t } = useTranslation();
  const keys = useReading("keys.list", {});
  if (keys.isPending) return <p>{t("loading")}</p>;
  if (keys.isError) return <p>{keys.error.message}</p>;
  return (
    <ul>
      {keys.data.data.map((key) => (
        <li key={key.id}>{key.name}</li>
      ))}
    </ul>
  );
}
