import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { FilterSelect } from "../components/filter-select.tsx";
import { Page } from "../components/page.tsx";
import { Gallery } from "./images/gallery.tsx";
import { useKeyOptions, useModelOptions } from "../lib/options.ts";
import { useOrganization } from "../lib/organization.ts";
import { useFilters } from "../lib/search.ts";

export default function GalleryPage() {
  const { t } = useTranslation("images");
  const { id } = useOrganization();
  const { filters } = useFilters();
  const models = useModelOptions();
  const keys = useKeyOptions(id ?? undefined);
  const { model, key: keyId } = filters;
  return (
    <Page title={t("title")} about={t("gallery.about")} tabs={<AreaTabs area="images" />}>
      <section aria-label={t("gallery")} className="flex flex-col gap-4">
        <div className="flex flex-wrap gap-2">
          <FilterSelect name="model" label={t("model")} options={models} />
          <FilterSelect name="key" label={t("key")} options={keys} />
        </div>
        <Gallery
          filters={{
            ...(id !== null && { organizationId: id }),
            ...(model !== undefined && { model }),
            ...(keyId !== undefined && { keyId }),
          }}
        />
      </section>
    </Page>
  );
}
