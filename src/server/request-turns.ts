/** They take 3 to 30 ms. */
const MAX_REQUESTS = 256;

/**
 * Bounds the requests that begin in one turn of the event loop. A client may send thousands at once on one connection,
 * and the runtime would begin all that are answered without waiting before it looks at any other connection.
 */
export class RequestTurns {
  #begun = 0;

  /**
   * Call before each request. Returns what a request in excess must await; a connection on which another one follows it
   * is then closed by the runtime, which takes no request while one waits.
   */
  next(): Promise<void> | undefined {
    this.#begun += 1;
    // Not at each first request of a turn, because a callback costs more than this count.
    if (this.#begun === MAX_REQUESTS / 2) setImmediate(() => (this.#begun = 0));
    return this.#begun > MAX_REQUESTS ? nextTurn() : undefined;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
