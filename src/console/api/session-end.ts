/** Name of the window's event for an ended session. A call that finds no session dispatches this event. */
export const SESSION_ENDED = "sessionended";

let renewal: PromiseWithResolvers<void> | null = null;

/**
 * Asks the member to sign in, in a dialog over the page. Resolves when there is a session again. All calls that wait
 * share one dialog.
 */
function renewedSession(): Promise<void> {
  renewal ??= Promise.withResolvers<void>();
  window.dispatchEvent(new Event(SESSION_ENDED));
  return renewal.promise;
}

/** Ends the wait of the calls that found no session, so that they are repeated. Call it when there is a session. */
export function endRenewal(): void {
  renewal?.resolve();
  renewal = null;
}

/**
 * Sends a request. If the session has ended, asks the member to sign in and sends the request again. With `isRenewable`
 * false, returns the 401 instead, because the call that checks for a session needs it.
 */
export async function fetchInSession(send: () => Promise<Response>, isRenewable = true): Promise<Response> {
  const response = await send();
  if (response.status !== 401 || !isRenewable) return response;
  await renewedSession();
  return await send();
}
