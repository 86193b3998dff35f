/** Dispatched on the window when a call found that the session has ended. */
export const SESSION_ENDED = "sessionended";

let renewal: PromiseWithResolvers<void> | null = null;

/** Asks the member to sign in over the page; resolves once there is a session again. All calls share one question. */
function renewedSession(): Promise<void> {
  renewal ??= Promise.withResolvers<void>();
  window.dispatchEvent(new Event(SESSION_ENDED));
  return renewal.promise;
}

/** Call it when there is a session again: the calls that wait for it are repeated. */
export function endRenewal(): void {
  renewal?.resolve();
  renewal = null;
}

/**
 * Sends a request, and sends it again after the member has signed in where the session had ended. Without `isRenewable` the
 * refusal is returned, as for the question whether there is a session.
 */
export async function fetchInSession(send: () => Promise<Response>, isRenewable = true): Promise<Response> {
  const response = await send();
  if (response.status !== 401 || !isRenewable) return response;
  await renewedSession();
  return await send();
}
