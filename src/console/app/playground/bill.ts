import { useQuery } from "@tanstack/react-query";
import { call } from "../lib/api.ts";

const POLL_MS = 500;
const MOST_POLLS = 30;

/** What a request was charged, once the ledger has it; null while there is nothing to ask for. */
export function useBill(requestId: string | null) {
  return useQuery({
    queryKey: ["requests.get", requestId, "bill"],
    enabled: requestId !== null,
    staleTime: Infinity,
    retry: MOST_POLLS,
    retryDelay: POLL_MS,
    queryFn: async ({ signal }) => {
      const { net, ledger } = await call("requests.get", { id: requestId ?? "" }, signal);
      const currency = ledger[0]?.currency;
      // The request may be known before its charge is posted.
      if (net === null || currency === undefined) throw new Error("not charged yet");
      return { amount: net, currency };
    },
  });
}
