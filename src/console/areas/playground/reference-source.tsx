import type { LucideIcon } from "lucide-react";
import { useEffect, useRef } from "react";
import { DropZone } from "react-aria-components/DropZone";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { Text } from "react-aria-components/Text";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import type { Reference } from "./image-call.ts";
import { newLocalId } from "./local-id.ts";

interface ReferenceSourceProps {
  icon: LucideIcon;
  onAdd(references: readonly Reference[]): void;
}

/** Accepts pictures that the user drops here, chooses, or pastes anywhere in the page. */
export function ReferenceSource({ icon, onAdd }: ReferenceSourceProps) {
  const { t } = useTranslation("playground");
  const addFiles = (files: readonly File[]) => {
    const pictures = files.filter(({ type }) => type === "" || type.startsWith("image/"));
    if (pictures.length > 0) onAdd(pictures.map((file) => newReference(file, file.name)));
  };
  usePastedFiles(addFiles);
  return (
    <DropZone
      onDrop={({ items }) => {
        const files = items.flatMap((item) => (item.kind === "file" ? [item.getFile()] : []));
        void Promise.all(files).then(addFiles);
      }}
      className="flex flex-wrap items-center justify-center gap-x-3 gap-y-2 rounded-lg border border-dashed border-line-strong px-3 py-4 text-muted data-drop-target:border-accent data-drop-target:bg-accent-soft"
    >
      <Text slot="label">{t("references.drop")}</Text>
      <FileTrigger
        acceptedFileTypes={["image/*", ".heic", ".avif", ".tiff"]}
        allowsMultiple
        onSelect={(files) => addFiles([...(files ?? [])])}
      >
        <Button icon={icon}>{t("references.choose")}</Button>
      </FileTrigger>
    </DropZone>
  );
}

export function newReference(blob: Blob, name: string): Reference {
  return { id: newLocalId(), name: name || "picture", blob, mask: null };
}

function usePastedFiles(onFiles: (files: readonly File[]) => void): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const take = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      latest.current(files);
    };
    document.addEventListener("paste", take);
    return () => document.removeEventListener("paste", take);
  }, []);
}
