import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Input, Output } from "../../api/call.ts";
import { operationQuery } from "../../api/queries.ts";

type PreviewName = "prices.preview" | "priceCorrections.preview";

const PAUSE_MS = 400;

/** What a change would do, as soon as typing pauses; nothing is read while the input is null. */
export function usePricePreview<Name extends PreviewName>(
  name: Name,
  input: Input<Name> | null,
): UseQueryResult<Output<Name>> {
  const text = input === null ? null : JSON.stringify(input);
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const wanted = settled === null ? ({} as Input<Name>) : (JSON.parse(settled) as Input<Name>);
  return useQuery({
    ...operationQuery(name, wanted),
    enabled: settled !== null,
    retry: false,
    placeholderData: settled === null ? undefined : keepPreviousData,
  }) as UseQueryResult<Output<Name>>;
}
