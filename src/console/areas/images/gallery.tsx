import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Gallery } from "./picture-list.tsx";
import { useKeyOptions, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useFilters } from "../../address.ts";

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
