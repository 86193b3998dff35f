import { useTranslation } from "react-i18next";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import type { ModelRow } from "./model-state.tsx";

/** What a model can do. */
export function Capabilities({ model: { image, text, embedding } }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const { t: shell } = useTranslation();
  const listed = (items: readonly string[]) => (items.length === 0 ? null : items.join(", "));
  if (image)
    return (
      <Details
        entries={[
          [t("cap.tiers"), listed(image.tiers)],
          [t("cap.ratios"), listed(image.ratios)],
          [t("cap.qualities"), listed(image.qualities)],
          [t("cap.formats"), listed(image.formats)],
          [t("cap.backgrounds"), listed(image.backgrounds)],
          [t("cap.maxReferences"), formatCount(image.maxReferences)],
          [t("cap.maxImages"), formatCount(image.maxImages)],
          [t("cap.masks"), shell(image.hasMasks ? "yes" : "no")],
          [t("cap.family"), image.family],
        ]}
      />
    );
  if (text)
    return (
      <Details
        entries={[
          [t("cap.input"), listed(text.modalities.input)],
          [t("cap.output"), listed(text.modalities.output)],
          [t("cap.maxOutputTokens"), t("cap.tokens", { shown: formatCount(text.maxOutputTokens) })],
          [t("cap.tools"), shell(text.hasTools ? "yes" : "no")],
          [t("cap.reasoning"), text.reasoning],
          [t("cap.features"), listed(text.allowedFeatures ?? [])],
        ]}
      />
    );
  return <Details entries={[[t("cap.dimensions"), embedding && formatCount(embedding.dimensions)]]} />;
}
