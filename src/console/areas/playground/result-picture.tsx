import { Download, ExternalLink, ImageOff, Link2, Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "../../ui/forms/button.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useCopyText } from "../../ui/text/copy.ts";
import { download } from "../../ui/text/download.ts";
import { fileNameOf } from "../images/picture-links.ts";
import type { Reference } from "./image-call.ts";
import { newReference } from "./reference-source.tsx";

interface ResultPictureProps {
  /** A path of this origin, or a `data:` URL. */
  url: string;
  name: string;
  onEdit(reference: Reference): void;
}

/** Shows a picture of a result and its actions. */
export function ResultPicture({ url, name, onEdit }: ResultPictureProps) {
  const { t } = useTranslation("playground");
  const [isGone, setGone] = useState(false);
  if (isGone) {
    return (
      <div className="flex aspect-square flex-col items-center justify-center gap-2 rounded-lg border border-line bg-sunken p-4 text-center text-muted">
        <ImageOff size={20} aria-hidden />
        {t("picture.gone")}
      </div>
    );
  }
  const edit = async () => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(t("picture.gone"));
    onEdit(newReference(await response.blob(), fileNameOf(url)));
  };
  const copyText = useCopyText();
  const copy = async () => {
    if (await copyText(new URL(url, location.href).href)) showToast(t("picture.linkCopied"));
  };
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-sunken">
      <img
        src={url}
        alt={name}
        onError={() => setGone(true)}
        className="max-h-[70dvh] w-full object-contain"
      />
      <figcaption className="flex justify-end gap-1 border-t border-line bg-surface p-1">
        <IconButton icon={Pencil} label={t("picture.edit")} onPress={() => void edit().catch(showProblem)} />
        <IconButton
          icon={Link2}
          label={t("picture.copyLink")}
          onPress={() => void copy().catch(showProblem)}
        />
        <IconButton
          icon={Download}
          label={t("picture.download")}
          onPress={() => download(fileNameOf(url), url)}
        />
        <IconButton
          icon={ExternalLink}
          label={t("picture.open")}
          onPress={() => window.open(url, "_blank", "noopener")}
        />
      </figcaption>
    </figure>
  );
}
