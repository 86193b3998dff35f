import { useNavigate } from "@tanstack/react-router";
import { Download, ImageOff, Link2, ScrollText } from "lucide-react";
import { useState } from "react";
import { GridListItem } from "react-aria-components/GridList";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { IconButton } from "../../ui/forms/button.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useCopyText } from "../../ui/text/copy.ts";
import { download } from "../../ui/text/download.ts";
import { formatBytes } from "../../ui/text/format.ts";
import { Time } from "../../ui/text/time.tsx";
import { fileNameOf, ownPath } from "./picture-links.ts";

type Picture = Output<"pictures.list">["data"][number];

/** Shows one delivered picture, facts about it (without the prompt) and a link to its request. */
export function PictureCard({ picture }: { picture: Picture }) {
  const { t } = useTranslation("images");
  const { id, url, model, at, width, height, format, bytes } = picture;
  const size = `${width}×${height}`;
  return (
    <GridListItem
      id={id}
      textValue={t("picture", { model, size })}
      className="group flex size-full flex-col overflow-hidden rounded-lg border border-line bg-raised"
    >
      <Picture url={ownPath(url)} name={t("picture", { model, size })} />
      <div className="flex min-w-0 flex-col px-2.5 pt-2 text-xs">
        <span className="flex justify-between gap-2">
          <span className="truncate font-medium">{model}</span>
          <span className="shrink-0 text-muted">
            <Time at={at} />
          </span>
        </span>
        <span className="truncate text-muted">{[size, format, formatBytes(bytes)].join(" · ")}</span>
      </div>
      <Actions picture={picture} />
    </GridListItem>
  );
}

function Picture({ url, name }: { url: string; name: string }) {
  const { t } = useTranslation("images");
  const [isGone, setGone] = useState(false);
  return (
    <div className="relative min-h-0 flex-1 bg-sunken">
      {isGone ? (
        <span className="absolute inset-0 flex flex-col items-center justify-center gap-1 text-xs text-muted">
          <ImageOff size={16} aria-hidden /> {t("picture.gone")}
        </span>
      ) : (
        <img
          src={url}
          alt={name}
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => setGone(true)}
          className="absolute inset-0 size-full object-contain"
        />
      )}
    </div>
  );
}

function Actions({ picture: { url, ledgerId } }: { picture: Picture }) {
  const { t } = useTranslation("images");
  const navigate = useNavigate();
  const copyText = useCopyText();
  const copy = async () => {
    if (await copyText(new URL(url, location.href).href)) showToast(t("picture.linkCopied"));
  };
  return (
    <div className="flex justify-end p-1">
      <IconButton
        icon={ScrollText}
        label={t("picture.request")}
        onPress={() => void navigate({ to: "/requests/$id", params: { id: ledgerId } })}
      />
      <IconButton icon={Link2} label={t("picture.copyLink")} onPress={() => void copy().catch(showProblem)} />
      <IconButton
        icon={Download}
        label={t("picture.download")}
        onPress={() => download(fileNameOf(url), ownPath(url))}
      />
    </div>
  );
}
