import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import { ComboBox } from "react-aria-components/ComboBox";
import { Input } from "react-aria-components/Input";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call.ts";
import { operationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { FIELD, INPUT } from "../../ui/forms/field-class.ts";
import { FieldFrame, useField } from "../../ui/forms/field-frame.tsx";
import type { NewModelValues } from "./new-model.ts";

/** Maximum number of names in the list. Other names are found by typing. */
const MAX_SHOWN = 100;
const ASKED_AGAIN_MS = 5 * 60_000;

/** A field in the surrounding form for the vendor's name of a model. Suggests the names that the vendor offers. */
export function VendorModelField({ label }: { label: string }) {
  const channel = useWatch<NewModelValues, "channel">({ name: "channel" });
  const { field, error, shared } = useField({ name: "upstreamModel" });
  return (
    <VendorModelBox {...shared} channel={channel} value={String(field.value ?? "")} onChange={field.onChange}>
      {(input, help) => (
        <FieldFrame label={label} help={help} error={error}>
          {input}
        </FieldFrame>
      )}
    </VendorModelBox>
  );
}

/** The same field with `value` and `onChange` in place of a form's field. */
export function VendorModelInput({
  label,
  placeholder,
  ...box
}: Pick<BoxProps, "channel" | "value" | "onChange"> & { label: string; placeholder: string }) {
  return (
    <VendorModelBox {...box} className={`${FIELD} w-72 max-w-full`} placeholder={placeholder}>
      {(input, help) => (
        <FieldFrame label={label} help={help} error={undefined}>
          {input}
        </FieldFrame>
      )}
    </VendorModelBox>
  );
}

interface BoxProps {
  channel: string | null;
  value: string;
  onChange(name: string): void;
  placeholder?: string;
  className: string;
  children(input: ReactNode, help: ReactNode): ReactNode;
}

/** A field whose value is typed or chosen from the vendor's list. The list is read when the user opens it. */
function VendorModelBox({ channel, value, onChange, placeholder, children, ...shared }: BoxProps) {
  const { t } = useTranslation("models");
  const [isOpen, setOpen] = useState(false);
  const withoutList = useVendorWithoutList(channel);
  const offered = useVendorModels(channel, isOpen);
  const typed = value.trim().toLowerCase();
  const found = (offered.data?.models ?? []).filter((name) => name.toLowerCase().includes(typed));
  const empty = offered.isFetching
    ? t("vendor.asking")
    : offered.data?.models
      ? t("vendor.noneFits")
      : offered.data
        ? operatorText(offered.data)
        : offered.error?.message;
  return (
    <ComboBox
      {...shared}
      items={found.slice(0, MAX_SHOWN).map((id) => ({ id }))}
      inputValue={value}
      onInputChange={onChange}
      onOpenChange={setOpen}
      allowsCustomValue
      allowsEmptyCollection
      menuTrigger="manual"
    >
      {children(
        <span className="relative block">
          <Input className={`${INPUT} pr-8 font-mono`} placeholder={placeholder} spellCheck="false" />
          {withoutList === null && (
            <Button
              isDisabled={channel === null}
              aria-label={t("vendor.list")}
              className="absolute inset-y-0 right-0 flex w-8 items-center justify-center text-muted data-disabled:opacity-40"
            >
              <ChevronDown size={14} aria-hidden />
            </Button>
          )}
        </span>,
        withoutList === null ? undefined : t("vendor.noList", { vendor: withoutList }),
      )}
      <Popover className="w-(--trigger-width) min-w-56 animate-appear rounded-lg bg-raised shadow-popover">
        <ListBox<{ id: string }>
          className="max-h-72 overflow-auto p-1 outline-none"
          renderEmptyState={() => <p className="px-2 py-3 text-muted">{empty}</p>}
        >
          {({ id }) => (
            <ListBoxItem
              textValue={id}
              className="cursor-pointer rounded-md px-2 py-1.5 font-mono text-xs outline-none data-focused:bg-hover"
            >
              {id}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** Returns the name of the channel's vendor if that vendor is known to have no list of models; otherwise null. */
function useVendorWithoutList(channel: string | null): string | null {
  const canList = useCan()("viewer", "installation") && channel !== null;
  const channels = useQuery({ ...operationQuery("channels.list", {}), enabled: canList });
  const vendors = useQuery({ ...operationQuery("providers.list", {}), enabled: canList });
  const provider = channels.data?.data.find(({ id }) => id === channel)?.provider;
  const vendor = vendors.data?.data.find(({ name }) => name === provider);
  return vendor && !vendor.listsModels ? vendor.title : null;
}

function useVendorModels(channel: string | null, isWanted: boolean) {
  return useQuery({
    queryKey: ["channels.models", channel],
    queryFn: () => call("channels.models", { id: channel ?? "" }),
    enabled: isWanted && channel !== null,
    staleTime: ASKED_AGAIN_MS,
    retry: false,
  });
}
