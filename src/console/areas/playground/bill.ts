import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";

const POLL_MS = 500;
const MAX_POLLS = 30;

/** What a request was charged, by its request id, once the ledger has it. */
export function useBill(requestId: string | null) {
  return useQuery({
    queryKey: ["ledger.list", requestId, "bill"],
    enabled: requestId !== null,
    staleTime: Infinity,
    retry: MAX_POLLS,
    retryDelay: POLL_MS,
    queryFn: async ({ signal }) => {
      const { data } = await call("ledger.list", { requestId: requestId ?? "", limit: 10 }, signal);
      const charge = data.find(({ kind }) => kind === "charge");
      if (!charge) throw new Error("not charged yet");
      return { amount: charge.amount, currency: charge.currency };
    },
  });
}
