/** So many requests take 3 to 30 ms. */
const MAX_REQUESTS = 256;

/**
 * Bounds the requests that begin in one turn of the event loop. A client may send thousands at once on one connection,
 * and the runtime would begin all that need no waiting before it serves any other connection.
 */
export class RequestTurns {
  #begun = 0;

  /**
   * Call it before each request. Returns a promise that an excess request must await. The runtime takes no further
   * request of a connection while one waits, and closes the connection when another one follows.
   */
  next(): Promise<void> | undefined {
    this.#begun += 1;
    // Not at the first request of each turn, because a callback costs more than this count.
    if (this.#begun === MAX_REQUESTS / 2) setImmediate(() => (this.#begun = 0));
    return this.#begun > MAX_REQUESTS ? nextTurn() : undefined;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
