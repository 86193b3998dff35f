import { keepPreviousData, skipToken, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, type Input, type Output } from "../../api/call.ts";

type PreviewName = "prices.preview" | "priceCorrections.preview";

const PAUSE_MS = 400;

/** Reads the effects of a change when the user stops typing for a moment. Reads nothing while the input is null. */
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
  return useQuery({
    queryKey: [name, settled],
    queryFn: settled === null ? skipToken : ({ signal }) => call<Name>(name, JSON.parse(settled), signal),
    retry: false,
    placeholderData: settled === null ? undefined : keepPreviousData,
  });
}
